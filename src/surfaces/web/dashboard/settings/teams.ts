import { countMembers, createOwnedTeam } from "../../../../identity/members/members.ts";
import { createTeam, pageOfTeams } from "../../../../identity/teams/teams.ts";
import { html } from "../../../../kit/html.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { type FormError, formSpec } from "../../ui/form-spec.ts";
import { anchor, empty, section } from "../../ui/parts.ts";
import { time } from "../../ui/units.ts";
import { type ByOperator, by } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { list, pagesAfter } from "../shared/list.ts";
import { readParams } from "../shared/params.ts";
import { PARAMS, settingsFrame } from "./parts.ts";
import { PATH, PLAN, state, teamDetailPages } from "./team.ts";

/** Every team of the installation, and making one. */

const PAGE = 50;

const NEW_TEAM = formSpec({
  ...PLAN,
  own: {
    kind: "checkbox",
    label: "I am its owner",
    hint: "Without an owner nobody can connect devices; invite one from the team's page.",
  },
});

function teamsPage(call: ByOperator, error?: FormError) {
  const { core, query, href } = call;
  const { q, after } = readParams(PARAMS, query);
  const { rows, next } = pageOfTeams(core, q, PAGE, after);
  const now = core.clock.now();
  const body = html`${list(call, {
    path: PATH,
    params: { q },
    id: "teams",
    label: "Find teams",
    filters: [{ kind: "search", name: "q", label: "Name or id", value: q }],
    table: {
      caption: "Teams",
      columns: [
        { label: "Team", heading: true, grow: true, cell: (team) => anchor(href(`${PATH}/${team.id}`), team.name) },
        { label: "Subscription", cell: state },
        { label: "Tier", cell: (team) => team.tier },
        { label: "Seats", numeric: true, cell: (team) => team.seats },
        { label: "People", numeric: true, cell: (team) => countMembers(core, team.id) },
        { label: "Made", cell: (team) => time(team.createdAt, now) },
      ],
      rows,
      empty: empty({ title: "No such team", intro: "Search for part of a name, or make a team below." }),
    },
    pages: pagesAfter(after, next),
  })}
${section({
  title: "Make a team",
  framed: true,
  body: NEW_TEAM.draw(call, {
    action: PATH,
    values: { tier: "team", seats: 5, own: true },
    error,
    submit: "Make the team",
  }),
})}`;
  return settingsFrame(call, {
    title: "Teams",
    intro: "Each team's record is its own; what it may use depends on its tier.",
    body,
  });
}

export const teamPages = [
  page({ id: "settingsTeams", method: "GET", path: PATH, access: "operator" }, (call) => teamsPage(call)),
  page({ id: "settingsTeamCreate", method: "POST", path: PATH, access: "operator" }, (call) =>
    handleForm(
      call,
      NEW_TEAM,
      async ({ name, own, ...plan }) => {
        const { core, session } = call;
        const team = own
          ? await createOwnedTeam(core, name, plan, session.userId, by(call))
          : await createTeam(core, name, by(call), plan);
        return redirect(`${PATH}/${team.id}`, `The team “${team.name}” is made.`);
      },
      (error) => teamsPage(call, error),
    ),
  ),
  ...teamDetailPages,
];

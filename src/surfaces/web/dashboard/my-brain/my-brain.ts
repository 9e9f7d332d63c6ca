import { listReadTokens, type ReadTokenFacts, revokeReadToken } from "../../../../identity/read-tokens/read-tokens.ts";
import { listReads, readsToday } from "../../../../insight/ask/ask.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { typed } from "../../ui/form-spec.ts";
import { type Column, table } from "../../ui/list.ts";
import { badge, empty, pageHead, section } from "../../ui/parts.ts";
import { ago, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, type Person } from "../shared/call.ts";
import { revokeToken } from "../shared/forms.ts";
import { list } from "../shared/list.ts";
import { ID, readParams, rowNumber, selectFilter } from "../shared/params.ts";
import { scopeWords } from "./labels.ts";
import { readTokenPages } from "./token.ts";

/** A person's read tokens, and what they were used for. */

const READS_SHOWN = 25;
const ENDED_SHOWN = 50;

function myBrainPage(call: Person): Html {
  const { core, session, href } = call;
  const now = core.clock.now();
  const tokens = listReadTokens(core, session.userId);
  const live = tokens.filter(({ status }) => status === "active");
  const ended = tokens.filter(({ status }) => status !== "active");
  const main = html`${pageHead({
    title: "Read tokens",
    intro: "Personal read tokens let tools of yours ask your teams’ brains questions and get cited slices back.",
    actions: buttonLink("New read token", href("/my-brain/tokens/new"), { look: "primary" }),
  })}
${
  session.teams.length === 0 &&
  html`<div class="flash warn">You are in no team, so your tokens read nothing. Ask an owner or admin of a team for an invitation.</div>`
}
${section({
  title: "Active",
  intro: `They are yours, whatever team you look at. Each reads ${number(core.config.limitReadDaily)} times a day at most, counted from midnight UTC.`,
  body: table({
    caption: "Read tokens",
    columns: [
      ...tokenColumns(call, now),
      { label: "Today", numeric: true, cell: (token) => usedToday(call, token) },
      { label: "Expires", cell: ({ expiresAt }) => time(expiresAt, now) },
      { label: "Actions", hidden: true, cell: (token) => revokeToken(call, "/my-brain/tokens/revoke", token) },
    ],
    rows: live,
    empty: empty({
      title: ended.length === 0 ? "No read token yet" : "No read token that works",
      intro: "Make one for an assistant, a chat bot or a script that should know what your teams know.",
      actions: buttonLink("New read token", href("/my-brain/tokens/new")),
    }),
  }),
})}
${ended.length > 0 && endedTokens(call, ended, now)}
${tokens.length > 0 && reads(call, [...live, ...ended.slice(0, ENDED_SHOWN)], now)}`;
  return frame(call, { title: "Read tokens", main });
}

const tokenColumns = ({ session }: Person, now: number): Column<ReadTokenFacts>[] => [
  { label: "Name", heading: true, cell: ({ name }) => name },
  { label: "May read", grow: true, cell: ({ scope }) => scopeWords(scope, session.teams) },
  { label: "Last used", cell: ({ lastUsedAt }) => ago(lastUsedAt, now, "never") },
];

function usedToday({ core }: Person, { id }: ReadTokenFacts): Content {
  const cap = core.config.limitReadDaily;
  const used = readsToday(core, id);
  return html`${number(used)} of ${number(cap)}${used >= cap && html` ${badge("warn", "used up")}`}`;
}

function endedTokens(call: Person, ended: readonly ReadTokenFacts[], now: number): Html {
  const shown = ended.slice(0, ENDED_SHOWN);
  return html`<details><summary>${plural(ended.length, "token that no longer works", "tokens that no longer work")}</summary>
<div class="stack">${table({
    caption: "Read tokens that no longer work",
    columns: [
      ...tokenColumns(call, now),
      {
        label: "Ended",
        cell: ({ status, revokedAt, expiresAt }) =>
          html`${badge("neutral", status)} ${time(status === "revoked" ? revokedAt : expiresAt, now)}`,
      },
    ],
    rows: shown,
  })}${shown.length < ended.length && html`<p class="says">The newest ${shown.length} are shown.</p>`}</div></details>`;
}

function reads(call: Person, tokens: readonly ReadTokenFacts[], now: number): Html {
  const { core, session, query } = call;
  const { token: tokenId, before: beforeId } = readParams({ token: typed, before: rowNumber }, query);
  const chosen = tokens.find(({ id }) => id === tokenId);
  const page = listReads(core, session.userId, { tokenId: chosen?.id, beforeId, limit: READS_SHOWN });
  return section({
    id: "reads",
    title: "What was read",
    intro: "Every read is written down before it is answered. Secrets in a question are taken out first.",
    body: list(call, {
      path: "/my-brain",
      params: { token: chosen?.id },
      hash: "#reads",
      label: "Filter reads",
      filters: [
        selectFilter(
          { name: "token", label: "Token", value: chosen?.id ?? "" },
          "All tokens",
          tokens.map(({ id, name, status }) => ({
            value: id,
            label: status === "active" ? name : `${name} (${status})`,
          })),
        ),
      ],
      table: {
        caption: "Reads",
        columns: [
          { label: "When", heading: true, cell: ({ at }) => time(at, now) },
          { label: "Asked", grow: true, cell: ({ question }) => question },
          {
            label: "Slices",
            numeric: true,
            cell: ({ total, shown }) => (total === 0 ? "none" : `${number(shown)} of ${number(total)}`),
          },
          { label: "Token", cell: ({ tokenName }) => tokenName },
          { label: "From", cell: ({ ip }) => ip },
        ],
        rows: page.rows,
        empty: empty({
          title: beforeId === undefined ? "Nothing was read yet" : "Nothing older",
          intro:
            "Every question that a token of yours asks will stand here: when, what, how much it got, and from where.",
        }),
      },
      pages: { first: beforeId !== undefined, older: { before: page.older } },
    }),
  });
}

export const myBrainPages = [
  page({ id: "myBrain", method: "GET", path: "/my-brain", access: "person", own: true }, (call) => myBrainPage(call)),
  ...readTokenPages,
  page(
    { id: "revokeReadToken", method: "POST", path: "/my-brain/tokens/revoke", access: "person", own: true },
    async (call) => {
      const { core, session, form } = call;
      const revoked = await revokeReadToken(core, session.userId, readParams(ID, form).id, by(call));
      return redirect("/my-brain", revoked ? "The token is revoked." : "The token was revoked before.");
    },
  ),
];

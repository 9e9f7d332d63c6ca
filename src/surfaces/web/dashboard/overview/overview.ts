import { dateOfDay } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { empty, pageHead, stats } from "../../ui/parts.ts";
import { dayText } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import type { Member } from "../shared/call.ts";
import { attentionOf, attentionSection } from "./attention.ts";
import { charts } from "./charts.ts";
import { figures } from "./figures.ts";
import { begunBy, firstRun, isBegun } from "./first-run.ts";
import { latestSessions } from "./latest.ts";
import { periodOf, periodSwitch } from "./period.ts";
import { look } from "./seen.ts";

/** What the team's agents did, whether it gets better, and what needs somebody; every figure leads to where it comes from. */

async function overviewPage(call: Member): Promise<Html> {
  const { team } = call.session;
  const period = periodOf(call);
  const yieldNow = cooperative(call.core.clock);
  const seen = await look(call, period);
  await yieldNow();
  const begun = await begunBy(call);
  // Errors that were published without a session are worth seeing, too.
  const any = begun.record || begun.error === true;
  const attention = await attentionOf(call);
  const latest = begun.session && (await latestSessions(call));
  await yieldNow();
  const main = html`${pageHead({
    title: "Overview",
    intro: any
      ? period.isPast && `${dayText(dateOfDay(period.first))} to ${dayText(dateOfDay(period.last))}`
      : `${team.name} has no record yet. These steps begin one.`,
    actions: any && periodSwitch(call, period),
  })}
${!isBegun(begun) && firstRun(call, begun)}
${
  any &&
  html`<section class="section" aria-label="Figures">${stats(figures(call, period, seen, attention))}</section>
${charts(call, period, seen)}`
}
${(any || attention.count > 0) && attentionSection(call, attention)}
${latest}`;
  return frame(call, { title: "Overview", main });
}

/** The page of somebody whom no team has invited yet. */
async function noTeam(call: PageCall<"person">): Promise<Html> {
  const { session, href } = call;
  const attention = await attentionOf(call);
  const main = html`${pageHead({ title: "Overview" })}
${empty({
  title: "You are in no team yet",
  intro: "An owner or admin of a team can invite you by a link. What a team's agents did is shown to its people only.",
  actions: session.operator && buttonLink("To the settings", href("/settings")),
})}
${attention.count > 0 && attentionSection(call, attention)}`;
  return frame(call, { title: "Overview", main });
}

export const overviewPages = [
  page({ id: "overview", method: "GET", path: "/overview", access: "person", narrows: true }, (call) => {
    const { session } = call;
    if (session.team?.role === "own_only") return redirect("/sessions");
    return session.team ? overviewPage({ ...call, session: { ...session, team: session.team } }) : noTeam(call);
  }),
];

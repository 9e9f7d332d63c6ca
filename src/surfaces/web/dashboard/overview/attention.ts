import { DAY_MS, dayNumber } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import type { Concern, Concerns } from "../../../../platform/rooms/rooms.ts";
import { anchor, section } from "../../ui/parts.ts";
import { ago } from "../../ui/units.ts";
import { placesFor } from "../navigation.ts";
import type { Member } from "../shared/call.ts";

/** What somebody should look at: each place says what it has, and the most urgent of all stands first. */

/** Single happenings are shown for so many days, today included, as in the figures above. A condition that lasts is always shown. */
const RECENT_DAYS = 7;
const SHOWN = 10;
const SHOWN_OF_A_KIND = 4;

export interface Attention {
  readonly count: number;
  /** The places that have anything to say. */
  readonly all: readonly Concerns[];
  /** A few of each, most urgent first. */
  readonly list: readonly Concern[];
}

const ORDER: readonly Concern["kind"][] = ["bad", "warn", "info"];

export async function attentionOf(call: PageCall<"person">): Promise<Attention> {
  const since = (dayNumber(call.core.clock.now()) - RECENT_DAYS + 1) * DAY_MS;
  const all: Concerns[] = [];
  const yieldNow = cooperative(call.core.clock);
  for (const { watch } of placesFor(call, call.session)) {
    // A place that concerns a team is not asked for somebody who is in none.
    if (watch) all.push(...(await watch(call as Member, since, SHOWN_OF_A_KIND)));
    await yieldNow();
  }
  const said = all.filter(({ count }) => count > 0);
  // The first of each kind, then the second: no kind pushes out another.
  const ranked = said.flatMap(({ list }) => list.map((one, rank) => ({ one, rank }))).sort((a, b) => a.rank - b.rank);
  return {
    count: said.reduce((sum, { count }) => sum + count, 0),
    all: said,
    list: ranked
      .slice(0, SHOWN)
      .map(({ one }) => one)
      .sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind) || (b.at ?? 0) - (a.at ?? 0)),
  };
}

export function attentionSection({ core }: PageCall<"person">, { all, list }: Attention): Html {
  const now = core.clock.now();
  return section({
    id: "attention",
    title: "Needs attention",
    body:
      list.length === 0
        ? html`<p class="card says">Nothing at the moment: no open error, no failed session and no gap in the last 7 days.</p>`
        : html`<ul class="concerns">${list.map((one) => concern(one, now))}</ul>
<p class="says more">${all.map(({ says, href }, i) => html`${i > 0 && " · "}${anchor(href, says)}`)}</p>`,
  });
}

const concern = ({ kind, what, title, about, href, at }: Concern, now: number): Html =>
  html`<li class="${kind}"><span class="concern-kind">${what}</span><span class="concern-title" dir="auto"><a href="${href}">${title}</a>${about && html` <small class="muted"><bdi>${about}</bdi></small>`}</span>${ago(at, now, "")}</li>\n`;

import { type Html, html } from "../../../../kit/html.ts";
import type { PackEntry } from "../../../../share/packs/packs.ts";
import { badge } from "../../ui/badge.ts";
import { table } from "../../ui/table.ts";

/** What pages about packs share. */

const FACTORS: Readonly<Record<PackEntry["why"][number]["factor"], string>> = {
  verified_publisher: "Verified publisher",
  age: "Age",
  installs: "Installs",
  recurrences_removed: "Recurrences removed",
  freshness: "Freshness",
};

/** What makes up a rank. */
export function whyTable(why: PackEntry["why"], rank: number): Html {
  return table({
    caption: "What the rank is made of",
    columns: [
      { label: "Factor", heading: true },
      { label: "What was found", grow: true },
      { label: "Points", numeric: true },
      { label: "At most", numeric: true },
    ],
    rows: [
      ...why.map(({ factor, says, points, most }) => [FACTORS[factor], says, points, most]),
      [html`<strong>Rank</strong>`, "The points together.", html`<strong>${rank}</strong>`, 100],
    ],
    empty: "",
  });
}

interface Shown extends Pick<PackEntry, "featured"> {
  readonly withheld: string | null;
  readonly removed: { readonly reason: string } | null;
}

export const stateBadges = ({ removed, withheld, featured }: Shown): Html =>
  removed
    ? badge("bad", "removed")
    : html`${withheld === null ? badge("good", "published") : badge("bad", "not handed out")}${featured && html` ${badge("info", "featured")}`}`;

export const tagList = (tags: readonly string[]): Html =>
  html`${tags.map((tag, i) => html`${i > 0 && " "}<code>${tag}</code>`)}`;

import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { PackEntry } from "../../../../share/packs/packs.ts";
import { table } from "../../ui/list.ts";
import { badge } from "../../ui/parts.ts";

/** What pages about packs share. */

const FACTORS: Readonly<Record<PackEntry["why"][number]["factor"], string>> = {
  verified_publisher: "Verified publisher",
  age: "Age",
  installs: "Installs",
  recurrences_removed: "Recurrences removed",
  freshness: "Freshness",
};

interface WhyRow extends Record<"name" | "points", Content>, Pick<PackEntry["why"][number], "says" | "most"> {}

const strong = (text: Content) => html`<strong>${text}</strong>`;

/** What makes up a rank. */
export function whyTable(why: PackEntry["why"], rank: number): Html {
  return table({
    caption: "What the rank is made of",
    columns: [
      { label: "Factor", heading: true, cell: ({ name }) => name },
      { label: "What was found", grow: true, cell: ({ says: intro }) => intro },
      { label: "Points", numeric: true, cell: ({ points }) => points },
      { label: "At most", numeric: true, cell: ({ most }) => most },
    ],
    rows: [
      ...why.map((factor): WhyRow => ({ ...factor, name: FACTORS[factor.factor] })),
      { name: strong("Rank"), says: "The points together.", points: strong(rank), most: 100 },
    ],
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

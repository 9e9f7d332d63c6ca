import type { Attribution, NamedShare } from "../../../../insight/causes/causes.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { table } from "../../ui/list.ts";
import { anchor, section } from "../../ui/parts.ts";
import { number, plural } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { link, type Query } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** Whose work defects were, against how much work there was. */

const SHOWN = 8;
/** Of fewer sessions a rate says little. */
const FEW_SESSIONS = 20;

/** @param kept what stays in the addresses that names lead to */
export function attributionSection(call: Member, { models, agents, defects }: Attribution, kept: Query): Content {
  if (defects === 0) return false;
  return section({
    id: "causes",
    title: "Caused by",
    help: html`<p>Entries that a session caused, for each 100 sessions of the same model or agent. Evidence that makes it sure or probable counts, and what people said; “Possibly caused by” never does. An entry with several causes counts once for each.</p><p>Of fewer than ${FEW_SESSIONS} sessions a rate says little: it is marked with ≈.</p>`,
    body: html`<div class="stack">${shareTable("Model", models, ({ name }) => name !== null && name !== "" && `${link(call, "/errors", { ...kept, state: "all", model: name })}#entries`)}${shareTable("Agent", agents, () => false)}</div>`,
  });
}

function shareTable(label: string, shares: readonly NamedShare[], hrefOf: (share: NamedShare) => string | false): Html {
  const ranked = shares.toSorted((a, b) => rateOf(b) - rateOf(a));
  return html`${table({
    caption: `Entries caused by each ${label.toLowerCase()}`,
    narrow: "scroll",
    columns: [
      { label, heading: true, grow: true, cell: (share) => nameCell(share, hrefOf(share)) },
      { label: "Entries", numeric: true, cell: ({ defects }) => defects },
      { label: "Sessions", numeric: true, cell: ({ sessions }) => sessions },
      { label: "Per 100", numeric: true, cell: rateCell },
    ],
    rows: ranked.slice(0, SHOWN),
    empty: html`<p class="says">Commits only: no session made them.</p>`,
  })}${shares.length > SHOWN && html`<p class="says">${plural(shares.length - SHOWN, `more ${label.toLowerCase()}`)}.</p>`}`;
}

const nameCell = ({ name }: NamedShare, href: string | false): Content => {
  if (name === null || name === "") return html`<span class="muted">not said</span>`;
  return href === false ? short(name, 60) : anchor(href, short(name, 60));
};

const rateOf = ({ defects, sessions }: NamedShare): number => (sessions === 0 ? 0 : (100 * defects) / sessions);

function rateCell(share: NamedShare): Content {
  if (share.sessions === 0) return "–";
  const rate = rateOf(share);
  const text = number(rate >= 10 ? Math.round(rate) : Number(rate.toFixed(1)));
  if (share.sessions >= FEW_SESSIONS) return html`<strong>${text}</strong>`;
  return html`<span class="muted" title="Of ${plural(share.sessions, "session")} only">≈ ${text}</span>`;
}

import type { Attribution, NamedShare, SessionShare } from "../../../../insight/causes/causes.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { table } from "../../ui/list.ts";
import { anchor, columns, section } from "../../ui/parts.ts";
import { number } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { short } from "../shared/text.ts";

/** Whose work defects were, as far as that is known well enough to be counted. */

const SHOWN = 10;

export function attributionSection(call: Member, { sessions, models, agents, defects }: Attribution): Content {
  if (defects === 0) return false;
  return section({
    id: "causes",
    title: "Caused by",
    intro:
      "Counted is what evidence makes sure or probable, and what people said. “Possibly caused by” is never counted. An entry with several causes counts once for each.",
    body: html`${sessionTable(call, sessions)}${
      (models.length > 0 || agents.length > 0) && columns(shareTable("Model", models), shareTable("Agent", agents))
    }`,
  });
}

const more = (all: number, what: string) =>
  all > SHOWN && html`<p class="says">${number(all - SHOWN)} more ${what} with fewer entries.</p>`;

function sessionTable(call: Member, sessions: readonly SessionShare[]): Html {
  return html`${table({
    caption: "Entries caused by sessions",
    columns: [
      {
        label: "Session",
        heading: true,
        grow: true,
        cell: (share) => anchor(call.href(`/sessions/${share.sessionNumber}`), short(share.sessionId, 80)),
      },
      { label: "Agent", cell: (share) => short(share.agent ?? "–", 60) },
      { label: "Model", cell: (share) => short(share.model ?? "–", 60) },
      { label: "Entries", numeric: true, cell: (share) => share.defects },
    ],
    rows: sessions.slice(0, SHOWN),
    empty: html`<p class="says">Commits only: no session made them.</p>`,
  })}${more(sessions.length, "sessions")}`;
}

function shareTable(label: string, shares: readonly NamedShare[]): Html {
  return html`${table({
    caption: `Entries caused by each ${label.toLowerCase()}`,
    narrow: "scroll",
    columns: [
      {
        label,
        heading: true,
        grow: true,
        cell: ({ name }) =>
          name === null || name === "" ? html`<span class="muted">not said</span>` : short(name, 120),
      },
      { label: "Entries", numeric: true, cell: ({ defects }) => defects },
    ],
    rows: shares.slice(0, SHOWN),
  })}${more(shares.length, `${label.toLowerCase()}s`)}`;
}

import { type Content, type Html, html } from "../../../../kit/html.ts";
import {
  comparePolicies,
  listPolicies,
  type PolicyEntry,
  type PolicyVersion,
} from "../../../../record/policy/policy.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { pager } from "../../ui/list.ts";
import { badge, section, timeline } from "../../ui/parts.ts";
import { isAdmin } from "../shared/call.ts";
import { changeWords } from "./labels.ts";
import type { Member } from "./view.ts";

const HISTORY_ROWS = 10;

/** The policies the team had, and bringing one back. */
export function policyHistory(call: Member, current: PolicyVersion, now: number): Html {
  const { core, session, href } = call;
  const before = call.query.get("history") ?? undefined;
  const page = listPolicies(core, session.team.id, before, HISTORY_ROWS);
  const at = (cursor: string | undefined) => cursor && `${href("/policy")}?history=${cursor}#history`;
  return section({
    id: "history",
    title: "History",
    intro: "Every policy the team had, newest first. None is ever lost.",
    body: html`${
      page.rows.length === 0
        ? html`<p class="says">Nothing was changed yet. The first change will stand here, with who made it.</p>`
        : html`<div class="card">${timeline(
            page.rows.map((entry) => ({
              at: entry.createdAt,
              kind: entry.id === current.id ? "good" : "neutral",
              title: html`<bdi>${entry.createdBy ?? "somebody"}</bdi>${entry.id === current.id && html` ${badge("good", "in force")}`}`,
              body: entryBody(call, entry, current),
            })),
            now,
          )}</div>`
    }${pager({ newer: at(page.newer), older: at(page.older) })}${
      page.older === undefined &&
      current.id !== 0 &&
      html`<div class="stack"><p class="says">Before the first change Reckon’s default was in force.</p>${isAdmin(call) && restoreButton(call, DEFAULT_ID, "Return to the default", "Put Reckon’s default in force again? Agents then record content without secrets, nothing is watched in particular and approvals are not required.", current)}</div>`
    }`,
  });
}

const DEFAULT_ID = 0;

function entryBody(call: Member, entry: PolicyEntry, current: PolicyVersion): Html {
  const words = changeWords(entry.change);
  const wouldChange = changeWords(comparePolicies(current.policy, entry.policy));
  return html`${words.length === 0 ? html`<p>The same as before it.</p>` : words.map((word) => html`<p>${word}</p>`)}
${
  isAdmin(call) &&
  wouldChange.length > 0 &&
  restoreButton(
    call,
    entry.id,
    "Restore",
    html`Put this policy in force again? ${wouldChange.map((one) => html`${one} `)}`,
    current,
  )
}`;
}

function restoreButton(call: Member, id: number, label: string, question: Content, current: PolicyVersion) {
  return confirmButton(call, {
    action: "/policy/restore",
    hidden: { id: String(id), based_on: String(current.id) },
    label,
    question,
    confirm: "Restore it",
    look: "plain",
    small: true,
  });
}

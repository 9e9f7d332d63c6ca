import { type Content, type Html, html } from "../../../../kit/html.ts";
import { COMMAND_LINE } from "../../../../platform/audit/audit.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import type { Policy, PolicyVersion } from "../../../../record/policy/policy.ts";
import { codeBlock, facts } from "../../ui/parts.ts";
import { plural, time } from "../../ui/units.ts";
import { MODES } from "./labels.ts";

export type Member = PageCall<"member" | "admin">;

/** A policy in words. @param name tells its lists from those of another policy on the page */
export function policyFacts({ captureMode, watchlist = [], actions }: Policy, name: string): Html {
  const { requireApprovals, ...other } = actions ?? { requireApprovals: false };
  return facts([
    { label: "Agents record", value: html`<strong>${MODES[captureMode].name}.</strong> ${MODES[captureMode].means}` },
    { label: "This server keeps", value: MODES[captureMode].keeps },
    {
      label: "Approvals",
      value: requireApprovals ? "Required: agents ask a person before they act." : "Not required.",
    },
    {
      label: "Watchlist",
      value:
        watchlist.length === 0
          ? "Empty: no file is watched in particular."
          : html`<div class="stack"><p>${plural(watchlist.length, "glob")}; edits of such files always need a record.</p>
${codeBlock(watchlist.join("\n"), { label: `Watched files, ${name}`, tall: true })}</div>`,
    },
    {
      label: "Other actions",
      value:
        Object.keys(other).length > 0 &&
        codeBlock(JSON.stringify(other, null, 2), { label: `Other actions, ${name}`, tall: true }),
    },
  ]);
}

/** Who put a version in force, within a sentence. */
export const byWhom = ({ createdBy }: PolicyVersion) =>
  createdBy === COMMAND_LINE.label ? "the command line" : (createdBy ?? "somebody");

/** Who put a version in force, and when. */
export const signed = (version: PolicyVersion, now: number): Content =>
  version.id === 0
    ? "Reckon’s default; this team never set one."
    : html`Put in force by ${byWhom(version)}, ${time(version.createdAt, now)}.`;

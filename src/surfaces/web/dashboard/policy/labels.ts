import { type Content, html } from "../../../../kit/html.ts";
import type { CaptureMode, PolicyChange } from "../../../../record/policy/policy.ts";
import { plural } from "../../ui/units.ts";

/** What a policy says, in words. */

interface ModeWords {
  readonly name: string;
  /** What agents then record. */
  readonly means: string;
  /** What the server keeps in this mode, whatever an agent sends. */
  readonly keeps: string;
}

export const MODES: Readonly<Record<CaptureMode, ModeWords>> = {
  off: {
    name: "Off",
    means: "Agents record nothing. There will be no trail to look up later.",
    keeps:
      "Nothing that an agent sends all the same: of telemetry and brains only which numbers came, so that the record goes on without a gap.",
  },
  metadata: {
    name: "Metadata",
    means: "Times, models, token counts, file paths and outcomes. No prompts, no code, no output.",
    keeps:
      "Ids, times, types, names of tools and models, counts, paths, lines, branches, commits, exit codes and digests. Of brain files path, size and digest. All text is left out before anything is stored.",
  },
  redacted: {
    name: "Redacted",
    means: "Prompts, edits and output too, after the agent has taken secrets out.",
    keeps: "What agents send. Secrets that Reckon recognises are replaced before anything is stored.",
  },
  full: {
    name: "Full",
    means: "Everything as it was. Reckon still replaces the secrets it recognises before it stores anything.",
    keeps: "What agents send. Secrets that Reckon recognises are replaced before anything is stored.",
  },
};

/** How long a list of watchlist entries is spelled out. */
const MAX_SPELLED = 8;

const globs = (list: readonly string[]): Content => [
  list.slice(0, MAX_SPELLED).map((glob, i) => html`${i > 0 && ", "}<code>${glob}</code>`),
  list.length > MAX_SPELLED && ` and ${plural(list.length - MAX_SPELLED, "more", "more")}`,
];

/** What a change of policy did, a sentence each; empty when nothing differs. */
export function changeWords({ captureMode, requireApprovals, added, removed, actions }: PolicyChange): Content[] {
  const words: Content[] = [];
  if (captureMode)
    words.push(
      html`Capture from <strong>${MODES[captureMode.from].name}</strong> to <strong>${MODES[captureMode.to].name}</strong>.`,
    );
  if (requireApprovals) words.push(requireApprovals.to ? "Approvals required." : "Approvals no longer required.");
  if (added.length > 0) words.push(html`Watched from then on: ${globs(added)}.`);
  if (removed.length > 0) words.push(html`No longer watched: ${globs(removed)}.`);
  if (actions.length > 0) words.push(html`Other actions changed: ${globs(actions)}.`);
  return words;
}

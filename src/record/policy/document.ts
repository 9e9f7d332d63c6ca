import * as v from "valibot";
import { duplicateKey, findMember, members, parseJson } from "../../kit/json.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { describeIssue } from "../../platform/http/validation-message.ts";
import { judgeWatchlistEntry, MAX_GLOB_CHARS, MAX_GLOBS } from "./watchlist.ts";

const Glob = v.pipe(
  v.string(),
  v.minLength(1, "must not be empty"),
  v.maxLength(MAX_GLOB_CHARS, `must have at most ${MAX_GLOB_CHARS} characters`),
);

export const PolicyDocument = v.object({
  captureMode: v.pipe(
    v.picklist(["off", "metadata", "redacted", "full"]),
    v.description("off: record nothing; metadata: no content; redacted: content without secrets; full: everything."),
  ),
  watchlist: v.optional(
    v.pipe(
      v.array(Glob),
      v.maxLength(MAX_GLOBS, `must have at most ${MAX_GLOBS} entries`),
      v.description("Repository path globs whose edits always need a record."),
    ),
  ),
  actions: v.optional(v.looseObject({ requireApprovals: v.boolean() })),
});

export type Policy = v.InferOutput<typeof PolicyDocument>;
export type CaptureMode = Policy["captureMode"];

/** In the order of how much is recorded. */
export const CAPTURE_MODES: readonly CaptureMode[] = PolicyDocument.entries.captureMode.pipe[0].options;

export const DEFAULT_POLICY: Policy = { captureMode: "redacted", watchlist: [], actions: { requireApprovals: false } };

/** Reads a policy that a person wrote. @throws Error saying which member does not fit */
export function parsePolicy(text: string): Policy {
  const value = parseJson(text);
  if (value === undefined) fail(invalid, "the policy is not valid JSON");
  const top = members(text);
  const repeated = duplicateKey(top) ?? duplicateKey(members(text, findMember(top, "actions")?.start));
  if (repeated !== undefined) fail(invalid, `the policy names "${repeated}" twice`);
  const result = v.safeParse(v.strictObject(PolicyDocument.entries), value);
  if (!result.success) {
    const issue = result.issues[0];
    const path = v.getDotPath(issue);
    fail(invalid, `in the policy, ${path === null ? "the document" : `"${path}"`} ${describeIssue(issue)}`);
  }
  for (const [i, glob] of (result.output.watchlist ?? []).entries()) {
    const wrong = judgeWatchlistEntry(glob);
    if (wrong !== undefined) fail(invalid, `in the policy, "watchlist.${i}" ${wrong}`);
  }
  return { ...DEFAULT_POLICY, ...result.output };
}

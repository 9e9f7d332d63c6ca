import * as v from "valibot";
import type { Core } from "../core.ts";
import { rows } from "./rows.ts";

const Glob = v.pipe(
  v.string(),
  v.minLength(1, "must not be empty"),
  v.maxLength(512, "must have at most 512 characters"),
);

export const PolicyDocument = v.object({
  captureMode: v.pipe(
    v.picklist(["off", "metadata", "redacted", "full"]),
    v.description("off: record nothing; metadata: no content; redacted: content without secrets; full: everything."),
  ),
  watchlist: v.optional(
    v.pipe(
      v.array(Glob),
      v.maxLength(1_000, "must have at most 1000 entries"),
      v.description("Repository path globs whose edits always need a record."),
    ),
  ),
  actions: v.optional(v.looseObject({ requireApprovals: v.boolean() })),
});

export type Policy = v.InferOutput<typeof PolicyDocument>;

export const DEFAULT_POLICY: Policy = { captureMode: "redacted", watchlist: [], actions: { requireApprovals: false } };

/** The policy in force for a team. */
export function currentPolicy(core: Core, teamId: string): Policy {
  const stored = rows(core.store).current.get(teamId) as string | undefined;
  return stored === undefined ? DEFAULT_POLICY : (JSON.parse(stored) as Policy);
}

/** Reads a policy that a person wrote. @throws Error saying which member does not fit */
export function parsePolicy(text: string): Policy {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("the policy is not valid JSON");
  }
  const strict = v.strictObject(PolicyDocument.entries);
  const result = v.safeParse(strict, value);
  if (result.success) return { ...DEFAULT_POLICY, ...result.output };
  const issue = result.issues[0];
  throw new Error(
    `in the policy, "${v.getDotPath(issue) ?? "the document"}" does not fit: expected ${issue.expected ?? "another value"}, received ${issue.received}`,
  );
}

/** Puts a policy in force; the earlier ones stay as history. */
export async function setPolicy(core: Core, teamId: string, policy: Policy): Promise<void> {
  await core.store.write(() => rows(core.store).insert.run(teamId, JSON.stringify(policy), core.clock.now()));
}

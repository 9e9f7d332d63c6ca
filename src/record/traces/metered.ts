import type { Core } from "../../core.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Call, countedCalls } from "./calls.ts";
import { asObject } from "./rules.ts";
import { readCost, understandSession, understandSpan } from "./understood.ts";
import { readAttributeModel, type Usage } from "./usage.ts";
import { type MeteredSessionRow, type MeteredSpanRow, usageRows } from "./usage-rows.ts";

/** A model call of a session. */
export interface MeteredCall {
  readonly usage: Usage;
  /** What its span says that it cost; a cost without usage could be the sum of others and isn't read. */
  readonly costUsd: number | null;
  readonly model: string | null;
  /** Milliseconds since the epoch; null when the span tells no time. */
  readonly at: number | null;
}

/** What a session tells of its use of models: each counted call once, and its own account of the whole. */
export interface MeteredSession extends Omit<MeteredSessionRow, "document"> {
  readonly calls: readonly MeteredCall[];
  readonly usage: Usage | null;
  readonly costUsd: number | null;
}

const BATCH_SPANS = 100;

/** Reads a session with the usage its spans tell of, letting other requests in between. */
export async function readMetered(core: Core, id: number): Promise<MeteredSession | undefined> {
  const sql = usageRows(core.store);
  const row = sql.session.get(id);
  if (!row) return undefined;
  const yieldNow = cooperative(core.clock);
  const spans: Metered[] = [];
  for (let after = 0; ; ) {
    const found = sql.spans.all(id, after, BATCH_SPANS);
    for (const span of found) spans.push(readSpan(span));
    after = found.at(-1)?.id ?? after;
    if (found.length < BATCH_SPANS) break;
    await yieldNow();
  }
  const { document, ...facts } = row;
  const { usage, costUsd } = understandSession(asObject(JSON.parse(document)));
  return { ...facts, calls: countedCalls(spans), usage, costUsd };
}

type Metered = Call & Omit<MeteredCall, "usage">;

function readSpan({ document, startedAt, endedAt, ...span }: MeteredSpanRow): Metered {
  const at = startedAt ?? endedAt;
  if (document === null) return { ...span, operation: null, usage: null, costUsd: null, model: null, at };
  const read = asObject(JSON.parse(document));
  const { usage, operation, attributes } = understandSpan(read);
  const named = typeof read.model === "string" ? read.model : null;
  return {
    ...span,
    operation,
    usage,
    costUsd: readCost(read.costUsd),
    model: readAttributeModel(attributes) ?? named,
    at,
  };
}

/** What a device's session says of itself, for entries that name it. */
export function placeOfSession(
  core: Core,
  deviceId: string,
  externalId: string,
): { readonly model: string | null; readonly branch: string | null } | undefined {
  return usageRows(core.store).place.get(deviceId, externalId);
}

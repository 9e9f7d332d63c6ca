import { readId } from "../../formats/values.ts";
import { isClaudeCode, readClaudeCodeLog, readClaudeCodeSpan } from "./claude-code.ts";
import { isCodex, readCodexLog, readCodexSpan } from "./codex.ts";
import { readGeminiCliLog } from "./gemini-cli.ts";
import { readGenericSpan, sumsUp } from "./generic-spans.ts";
import { emailOf, type Happening, type Span, sessionOf } from "./happening.ts";
import { askedFirst, askedLast, asksAgent } from "./messages.ts";
import type { PlacedTraces } from "./place-traces.ts";
import type { LogRecord, SpanRecord } from "./records.ts";

/** What a log record tells of a session; undefined for one that tells nothing of it. */
export function tellLog(log: LogRecord): Happening | undefined {
  const happening = isClaudeCode(log)
    ? readClaudeCodeLog(log)
    : log.event.startsWith("codex.")
      ? readCodexLog(log)
      : log.event.startsWith("gemini_cli.")
        ? readGeminiCliLog(log)
        : undefined;
  return happening && { ...happening, userEmail: emailOf(log.attributes, log.resource) };
}

/** By what programs call a span of a tool. */
const ROLES = ["gen_ai.operation.name", "openinference.span.kind", "traceloop.span.kind", "langfuse.observation.type"];

const isTool = ({ attributes }: SpanRecord): boolean =>
  attributes["ai.toolCall.name"] !== undefined ||
  ROLES.some((name) => /^(?:execute_)?tool$/i.test(readId(attributes[name]) ?? ""));

const MAX_ABOVE = 64;

/** Gives whether a span stands below a tool, as far as the request tells: what it was asked, no person asked. */
export function belowTools(spans: readonly SpanRecord[]): (span: SpanRecord) => boolean {
  const tools = new Set(spans.filter(isTool).map(({ id }) => id));
  const parents = new Map(tools.size === 0 ? [] : spans.map(({ id, parentId }) => [id, parentId]));
  return ({ parentId }) => {
    let above = parentId;
    for (let steps = 0; above !== undefined && steps < MAX_ABOVE; steps++) {
      if (tools.has(above)) return true;
      above = parents.get(above);
    }
    return false;
  };
}

/** What Copilot CLI calls itself. The capture client has another name for it, and both report the same sessions. */
const COPILOT_CLI = "github-copilot";

/** The same of a span. @param traces where spans without a session's name belong @param isAsked whether a person may have asked it */
export function tellSpan(record: SpanRecord, traces: PlacedTraces, isAsked: boolean): Happening | undefined {
  const { attributes, resource, traceId, startedAt } = record;
  const own = sessionOf(attributes, resource);
  const named = own ?? traces.sessionOf(traceId);
  const about = { at: record.endedAt ?? startedAt, userEmail: emailOf(attributes, resource) };
  if (isClaudeCode(record)) {
    const span = readClaudeCodeSpan(record);
    const model = readId(attributes.model);
    return span && named !== undefined ? { ...about, session: named, agent: "claude-code", model, span } : undefined;
  }
  if (isCodex(record)) {
    const span = readCodexSpan(record);
    return span && named !== undefined ? { ...about, session: named, agent: "codex", span } : undefined;
  }
  const span = readGenericSpan(record);
  if (!span) return undefined;
  const service = readId(resource["service.name"]) ?? "unknown";
  const agent = service === COPILOT_CLI ? "copilot-cli" : service;
  const model = readId(span.attributes["gen_ai.response.model"]) ?? readId(span.attributes["gen_ai.request.model"]);
  const agentVersion = readId(resource["service.version"]);
  // Programs that know of no sessions have one for each trace.
  const isAlone = traces.isAlone(traceId) && (own === undefined || sumsUp(record) || traces.awaitsCalls(traceId));
  const session = isAlone ? traceId : (named ?? traceId);
  const words = isAsked ? { askedFirst: () => askedFirst(record), lastPrompt: () => lastPrompt(record, span) } : {};
  return { ...about, session, agent, agentVersion, model, ...words, span };
}

/** What a person said that led to the call. */
function lastPrompt(record: SpanRecord, { kind }: Span) {
  const { id, isDetails, startedAt, endedAt } = record;
  const last = kind === "llm" || isDetails || asksAgent(record) ? askedLast(record) : undefined;
  // Only the span itself tells when the call began.
  return last && { ...last, ...(isDetails ? { at: endedAt, spanId: id } : { at: startedAt }) };
}

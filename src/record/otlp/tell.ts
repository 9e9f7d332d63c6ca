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

/** The same of a span. @param traces where spans belong that name no session */
export function tellSpan(record: SpanRecord, traces: PlacedTraces): Happening | undefined {
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
  const agent = readId(resource["service.name"]) ?? "unknown";
  const model = readId(span.attributes["gen_ai.response.model"]) ?? readId(span.attributes["gen_ai.request.model"]);
  const agentVersion = readId(resource["service.version"]);
  // Programs that know of no sessions have one a trace.
  const isAlone = traces.isAlone(traceId) && (own === undefined || sumsUp(record) || traces.awaitsCalls(traceId));
  const session = isAlone ? traceId : (named ?? traceId);
  const words = { askedFirst: () => askedFirst(record), lastPrompt: () => lastPrompt(record, span) };
  return { ...about, session, agent, agentVersion, model, ...words, span };
}

/** What a person said to have a call made. */
function lastPrompt(record: SpanRecord, { kind }: Span) {
  const last = kind === "llm" || asksAgent(record) ? askedLast(record) : undefined;
  return last && { ...last, at: record.startedAt };
}

/** Traces of observability tools: OTLP/JSON (one session a trace) and langfuse exports (one session a file, scores as labels). */

import type { Span } from "../../src/capture/spans.ts";
import type { Tokens } from "../../src/formats/agents/transcript.ts";
import { asCount, asObject, asObjects, asText, type Fields, parseJson } from "../../src/formats/values.ts";

export interface TraceSession {
  readonly id: string;
  readonly agent: string;
  readonly model?: string | undefined;
  readonly startedAt?: string | undefined;
  readonly endedAt?: string | undefined;
  readonly branch?: string | undefined;
  readonly outcome: string;
  readonly prompts: readonly { readonly at?: string | undefined; readonly text: string }[];
  readonly files: readonly string[];
  readonly commits: readonly { readonly sha: string; readonly at?: string | undefined }[];
  readonly usage?: Tokens;
  readonly spans: readonly Span[];
}

interface TraceLabel {
  readonly sessionId: string;
  readonly name: string;
  readonly value: unknown;
  readonly comment?: string | undefined;
}

/** OTLP numbers its kinds; names are what a reader of a waterfall expects. */
const KINDS = ["unspecified", "internal", "server", "client", "producer", "consumer"];

/** The spans of an OTLP/JSON document, as they stand in it. */
export function otlpSpans(text: string): Fields[] {
  return asObjects(asObject(parseJson(text)).resourceSpans)
    .flatMap((resource) => asObjects(resource.scopeSpans))
    .flatMap((scope) => asObjects(scope.spans));
}

export function readOtlp(text: string): TraceSession[] {
  const traces = Map.groupBy(otlpSpans(text), (span) => asText(span.traceId) ?? "");
  return Array.from(traces, ([id, spans]) => {
    const read = spans.map(readOtlpSpan);
    const hasFailed = spans.some((span) => asObject(span.status).code === 2);
    return {
      id,
      agent: "otlp",
      outcome: hasFailed ? "error" : "completed",
      prompts: [],
      files: [],
      commits: [],
      spans: read,
    };
  });
}

function readOtlpSpan(span: Fields): Span {
  return {
    id: asText(span.spanId) ?? "",
    parentId: asText(span.parentSpanId),
    name: asText(span.name) ?? "",
    kind: KINDS[asCount(span.kind)] ?? "unspecified",
    startedAt: asText(span.startTimeUnixNano),
    endedAt: asText(span.endTimeUnixNano),
    attributes: Object.fromEntries(
      asObjects(span.attributes).map(({ key, value }) => [asText(key) ?? "", plainValue(asObject(value))]),
    ),
  };
}

/** The value out of its `{"intValue": "3"}` wrapping; 64-bit integers come as text. */
function plainValue(value: Fields): unknown {
  if (typeof value.intValue === "string") return Number(value.intValue);
  return Object.values(value)[0];
}

export function readLangfuse(text: string): { session: TraceSession; labels: TraceLabel[] } {
  const document = asObject(parseJson(text));
  const trace = asObject(document.trace);
  const id = asText(trace.id) ?? "";
  const observations = asObjects(document.observations);
  const spans = observations.map((span): Span => {
    const usage = asObject(span.usageDetails);
    return {
      id: asText(span.id) ?? "",
      parentId: asText(span.parentObservationId),
      name: asText(span.name) ?? "",
      kind: (asText(span.type) ?? "span").toLowerCase(),
      startedAt: asText(span.startTime),
      endedAt: asText(span.endTime),
      attributes: {
        "gen_ai.request.model": asText(span.model),
        "gen_ai.usage.input_tokens": asCount(usage.input),
        "gen_ai.usage.output_tokens": asCount(usage.output),
        input: span.input,
        output: span.output,
        metadata: span.metadata,
      },
    };
  });
  const hasFailed = observations.some((span) => span.level === "ERROR");
  const session = {
    id,
    agent: asText(trace.name) ?? "langfuse",
    startedAt: asText(trace.timestamp),
    outcome: hasFailed ? "error" : "completed",
    prompts: [],
    files: [],
    commits: [],
    spans,
  };
  const labels = asObjects(trace.scores).map((score) => ({
    sessionId: id,
    name: asText(score.name) ?? "",
    value: score.value,
    comment: asText(score.comment),
  }));
  return { session, labels };
}

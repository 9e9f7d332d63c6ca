/** The members of free-form records that hold metadata, as agents, providers and OpenTelemetry name them. */

export const IDS = [
  ...["id", "uuid", "sessionId", "session_id", "conversationId", "turnId", "promptId", "traceId", "trace_id"],
  ...["spanId", "span_id", "parentId", "parent_id", "parentSpanId", "parent_span_id", "parentUuid"],
  ...["messageId", "message_id", "requestId", "request_id", "callId", "call_id", "toolUseId", "tool_use_id"],
];

/** Members whose value is a name of a word or two. */
export const NAMES = [
  ...["type", "kind", "name", "role", "mode", "agent", "agentVersion", "version", "model", "modelVersion", "provider"],
  ...[
    "tool",
    "toolName",
    "tool_name",
    "outcome",
    "status",
    "stopReason",
    "stop_reason",
    "finishReason",
    "finish_reason",
  ],
];

export const INSTANTS = [
  ...["at", "ts", "time", "timestamp"],
  ...["startedAt", "startTime", "start_time", "startTimeUnixNano", "start_time_unix_nano"],
  ...["endedAt", "endTime", "end_time", "endTimeUnixNano", "end_time_unix_nano"],
];

export const NUMBERS = [
  ...["costUsd", "duration", "durationMs", "duration_ms", "exitCode", "exit_code", "success", "isError", "is_error"],
  ...["line", "lines", "startLine", "endLine", "oldLines", "newLines", "added", "removed"],
  ...["count", "chars", "bytes", "size", "length", "attempt"],
];

export const PATHS = ["path", "file", "filePath", "file_path"];

/** Tokens of a usage, or of a record that is one. */
export const COUNTS = [
  ...["input_tokens", "output_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "total_tokens"],
  ...["ephemeral_5m_input_tokens", "ephemeral_1h_input_tokens", "prompt_tokens", "completion_tokens"],
  ...["cached_tokens", "cached_input_tokens", "cache_write_tokens", "reasoning_tokens", "reasoning_output_tokens"],
  ...["inputTokens", "outputTokens", "totalTokens", "promptTokens", "completionTokens", "reasoningTokens"],
  ...["cacheReadInputTokens", "cacheWriteInputTokens", "cachedInputTokens", "cacheReadTokens", "cacheWriteTokens"],
  ...["promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount", "toolUsePromptTokenCount"],
  ...["thoughtsTokenCount", "totalTokenCount", "input", "output", "cached", "thoughts", "tool", "total"],
];

/** Objects within a usage that break a count down. */
export const COUNT_DETAILS = [
  ...["cache_creation", "input_tokens_details", "output_tokens_details"],
  ...["prompt_tokens_details", "completion_tokens_details", "inputTokenDetails", "outputTokenDetails"],
];

const TOKENS = [
  ...["input_tokens", "prompt_tokens", "output_tokens", "completion_tokens", "total_tokens"],
  ...["cache_read.input_tokens", "cache_read_input_tokens", "cache_read_tokens", "cached_input_tokens"],
  ...["input_tokens.cached", "cache_write.input_tokens", "cache_creation.input_tokens", "cache_write_input_tokens"],
  ...["cache_creation_input_tokens", "cache_write_tokens", "cache_creation_tokens", "input_tokens.cache_write"],
];

/** OpenTelemetry's semantic conventions for generative AI, and what agents put beside them. */
export const ATTRIBUTES = {
  names: [
    ...["gen_ai.operation.name", "gen_ai.system", "gen_ai.provider.name", "gen_ai.request.model"],
    ...["gen_ai.response.model", "gen_ai.tool.name", "gen_ai.tool.type", "gen_ai.agent.name", "error.type"],
  ],
  ids: [
    ...["gen_ai.response.id", "gen_ai.conversation.id", "gen_ai.tool.call.id", "gen_ai.agent.id", "session.id"],
    ...["requestId", "request_id"],
  ],
  counts: [
    ...TOKENS.map((name) => `gen_ai.usage.${name}`),
    ...["process.exit.code", "http.response.status_code", "exit_code", "exitCode", "duration_ms"],
  ],
};

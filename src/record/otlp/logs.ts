import { receiver } from "./receive.ts";

/** Takes log records: what agents say that happened. */
export const logs = receiver("logs", {
  id: "otlpLogs",
  summary: "Take log records by OTLP",
  example: {
    resourceLogs: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "codex_cli_rs" } }] },
        scopeLogs: [
          {
            logRecords: [
              {
                timeUnixNano: "1795390256968000000",
                attributes: [
                  { key: "event.name", value: { stringValue: "codex.sse_event" } },
                  { key: "event.kind", value: { stringValue: "response.completed" } },
                  { key: "conversation.id", value: { stringValue: "s-1" } },
                  { key: "model", value: { stringValue: "gpt-5.1-codex" } },
                  { key: "input_token_count", value: { intValue: "1200" } },
                  { key: "cached_token_count", value: { intValue: "1000" } },
                  { key: "output_token_count", value: { intValue: "80" } },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
});

import { receiver } from "./receive.ts";

/** Takes spans: model calls, tools and agents of any program that has the semantic conventions for generative AI. */
export const spans = receiver("traces", {
  id: "otlpTraces",
  summary: "Take spans by OTLP",
  example: {
    resourceSpans: [
      {
        resource: { attributes: [{ key: "service.name", value: { stringValue: "my-agent" } }] },
        scopeSpans: [
          {
            spans: [
              {
                traceId: "5b8efff798038103d269b633813fc60c",
                spanId: "eee19b7ec3c1b174",
                name: "chat gpt-5",
                startTimeUnixNano: "1795390256000000000",
                endTimeUnixNano: "1795390258000000000",
                attributes: [
                  { key: "gen_ai.operation.name", value: { stringValue: "chat" } },
                  { key: "gen_ai.conversation.id", value: { stringValue: "s-1" } },
                  { key: "gen_ai.request.model", value: { stringValue: "gpt-5" } },
                  { key: "gen_ai.usage.input_tokens", value: { intValue: "1200" } },
                  { key: "gen_ai.usage.output_tokens", value: { intValue: "80" } },
                ],
              },
            ],
          },
        ],
      },
    ],
  },
});

import { room } from "../../platform/rooms/rooms.ts";
import { logs } from "./logs.ts";
import { metrics } from "./metrics.ts";
import { received } from "./receive.ts";
import { forgetJob } from "./seen.ts";
import { spans } from "./spans.ts";

export const otlp = room({
  name: "otlp",
  tags: { OpenTelemetry: "What agents export by themselves, over OTLP/HTTP." },
  endpoints: [logs, spans, metrics],
  jobs: [forgetJob],
  metrics: [received],
});

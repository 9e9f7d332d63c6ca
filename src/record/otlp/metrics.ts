import { receiver } from "./receive.ts";

/** Takes metrics, of which nothing is kept: what agents send as such tells nothing that their log records and spans do not. */
export const metrics = receiver("metrics", {
  id: "otlpMetrics",
  summary: "Take metrics by OTLP, of which none is kept",
  example: { resourceMetrics: [] },
});

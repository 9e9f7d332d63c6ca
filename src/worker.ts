import { workOf } from "./platform/http/preparation.ts";
import { serve } from "./platform/workers/workers.ts";
import { readSnapshot } from "./record/brain/prepare.ts";
import { readNotes } from "./record/git-ai/git-ai.ts";
import { readOtlp } from "./record/otlp/otlp.ts";
import { unpack } from "./record/telemetry/packed.ts";
import { readTelemetry } from "./record/telemetry/read-batch.ts";
import { readTraces } from "./record/traces/prepare.ts";
import { pieces } from "./record/traces/read-pieces.ts";
import { lakeWorks } from "./share/lake/works.ts";

const OTLP = (["logs", "traces", "metrics"] as const).map((signal) => readOtlp(signal, pieces));

/** What a thread begins with: everything that threads can do. Whatever these import is loaded once a thread. */
serve({
  [readTelemetry.name]: workOf(readTelemetry),
  [readSnapshot.name]: workOf(readSnapshot),
  [readTraces.name]: workOf(readTraces),
  [readNotes.name]: workOf(readNotes),
  ...Object.fromEntries(OTLP.map((one) => [one.name, workOf(one)])),
  ...lakeWorks(unpack),
});

import { workOf } from "./platform/http/preparation.ts";
import { serve } from "./platform/workers/workers.ts";
import { readTelemetry } from "./record/telemetry/read-batch.ts";
import { readTraces } from "./record/traces/prepare.ts";

/** What a thread begins with: everything that threads can do. Whatever these import is loaded once a thread. */
serve({ [readTelemetry.name]: workOf(readTelemetry), [readTraces.name]: workOf(readTraces) });

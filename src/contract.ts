import { deviceCode } from "./identity/device-flow/device-code.ts";
import { deviceToken } from "./identity/device-flow/device-token.ts";
import { me } from "./identity/device-flow/me.ts";
import { metadata } from "./identity/device-flow/metadata.ts";
import { disconnect } from "./identity/devices/disconnect.ts";
import { exchange } from "./identity/devices/exchange.ts";
import { rotate } from "./identity/devices/rotate.ts";
import { license } from "./identity/license/get-license.ts";
import { jwks, pubkey } from "./identity/license/pubkey.ts";
import { context } from "./insight/ask/get-context.ts";
import { listCausalLinks } from "./insight/causes/get-links.ts";
import { promptForLineEndpoint } from "./insight/causes/get-prompt-for-line.ts";
import { correlateLinks } from "./insight/causes/post-correlate.ts";
import { createCausalLink } from "./insight/causes/post-link.ts";
import { briefing } from "./insight/defects/get-briefing.ts";
import { metrics as brainMetrics } from "./insight/defects/get-metrics.ts";
import { spend } from "./insight/spend/get-spend.ts";
import { health } from "./platform/health/get-health.ts";
import type { Endpoint } from "./platform/http/endpoint.ts";
import { openapi } from "./platform/http/openapi-endpoint.ts";
import { ingest as brainIngest } from "./record/brain/ingest.ts";
import { search } from "./record/brain/search.ts";
import { ingest as pulseIngest } from "./record/pulses/ingest.ts";
import { heartbeat } from "./record/telemetry/heartbeat.ts";
import { ingest as telemetryIngest } from "./record/telemetry/ingest.ts";
import { ingest as tracesIngest } from "./record/traces/ingest.ts";
import { status as requestStatus } from "./share/feature-requests/get-status.ts";
import { ingest as requestIngest } from "./share/feature-requests/ingest.ts";
import { explore } from "./share/packs/get-explore.ts";
import { marketplace } from "./share/packs/marketplace-public.ts";
import { policy } from "./share/policy/get-policy.ts";
import { downloadLatest } from "./share/releases/download-latest.ts";

/** Every endpoint, in the order of the documents. The router, the OpenAPI document and the tests walk this list. */
export const CONTRACT: readonly Endpoint[] = [
  health,
  exchange,
  rotate,
  disconnect,
  deviceCode,
  deviceToken,
  me,
  metadata,
  license,
  pubkey,
  jwks,
  telemetryIngest,
  heartbeat,
  brainIngest,
  search,
  brainMetrics,
  briefing,
  pulseIngest,
  tracesIngest,
  correlateLinks,
  listCausalLinks,
  createCausalLink,
  promptForLineEndpoint,
  spend,
  policy,
  context,
  requestIngest,
  requestStatus,
  marketplace,
  explore,
  downloadLatest,
  openapi,
];

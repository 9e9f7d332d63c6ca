import { ingest as brainIngest } from "./brain/ingest.ts";
import { search } from "./brain/search.ts";
import { explore } from "./catalog/get-explore.ts";
import { marketplace } from "./catalog/marketplace-public.ts";
import { listCausalLinks } from "./causes/get-links.ts";
import { promptForLineEndpoint } from "./causes/get-prompt-for-line.ts";
import { correlateLinks } from "./causes/post-correlate.ts";
import { createCausalLink } from "./causes/post-link.ts";
import { disconnect } from "./connect/disconnect.ts";
import { exchange } from "./connect/exchange.ts";
import { rotate } from "./connect/rotate.ts";
import { briefing } from "./defects/get-briefing.ts";
import { metrics as brainMetrics } from "./defects/get-metrics.ts";
import { health } from "./health/get-health.ts";
import type { Endpoint } from "./http/endpoint.ts";
import { openapi } from "./http/openapi-endpoint.ts";
import { license } from "./license/get-license.ts";
import { jwks, pubkey } from "./license/pubkey.ts";
import { deviceCode } from "./login/device-code.ts";
import { deviceToken } from "./login/device-token.ts";
import { me } from "./login/me.ts";
import { metadata } from "./login/metadata.ts";
import { policy } from "./policy/get-policy.ts";
import { ingest as pulseIngest } from "./pulses/ingest.ts";
import { context } from "./reads/context.ts";
import { downloadLatest } from "./releases/download-latest.ts";
import { status as requestStatus } from "./requests/get-status.ts";
import { ingest as requestIngest } from "./requests/ingest.ts";
import { spend } from "./spend/get-spend.ts";
import { heartbeat } from "./telemetry/heartbeat.ts";
import { ingest as telemetryIngest } from "./telemetry/ingest.ts";
import { ingest as tracesIngest } from "./traces/ingest.ts";

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

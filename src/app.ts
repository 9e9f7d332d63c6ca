import type { Config } from "./config.ts";
import type { Core } from "./core.ts";
import { apiTokens } from "./identity/api-tokens/room.ts";
import { deviceFlow } from "./identity/device-flow/room.ts";
import { deviceLicense, devices } from "./identity/devices/room.ts";
import { directory } from "./identity/directory/room.ts";
import { license } from "./identity/license/room.ts";
import { members } from "./identity/members/room.ts";
import { oneTimeLinks } from "./identity/one-time-links/room.ts";
import { people } from "./identity/people/room.ts";
import { readTokens } from "./identity/read-tokens/room.ts";
import { savedViews } from "./identity/saved-views/room.ts";
import { scim } from "./identity/scim/room.ts";
import { secondFactor } from "./identity/second-factor/room.ts";
import { signIn } from "./identity/sign-in/room.ts";
import { sso } from "./identity/sso/room.ts";
import { teams } from "./identity/teams/room.ts";
import { webSessions } from "./identity/web-sessions/room.ts";
import { findSession, SESSION_LIFETIME_MS, touchSession } from "./identity/web-sessions/web-sessions.ts";
import { ask } from "./insight/ask/room.ts";
import { budgets } from "./insight/budgets/room.ts";
import { causes } from "./insight/causes/room.ts";
import { defects } from "./insight/defects/room.ts";
import { find } from "./insight/find/room.ts";
import { sessions } from "./insight/sessions/room.ts";
import { spend } from "./insight/spend/room.ts";
import { triage } from "./insight/triage/room.ts";
import { baseUrlOf } from "./kit/base-url.ts";
import { type Clock, SECOND_MS } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";
import type { Random } from "./kit/random.ts";
import { newestDelivery } from "./log/log.ts";
import { deliveryLog } from "./log/room.ts";
import { audit } from "./platform/audit/room.ts";
import { checkpointer } from "./platform/checkpointer/checkpointer.ts";
import { health } from "./platform/health/room.ts";
import type { Intercept, Observation } from "./platform/http/answer-endpoint.ts";
import { type Listener, listen } from "./platform/http/listen.ts";
import type { Described } from "./platform/http/openapi.ts";
import { describeEndpoints, openapi } from "./platform/http/openapi-endpoint.ts";
import { createApp, type ServeOptions } from "./platform/http/serve.ts";
import { startJobs } from "./platform/jobs/jobs.ts";
import { keys } from "./platform/keys/room.ts";
import { liveMetrics, runLive } from "./platform/live/live.ts";
import { listenForMetrics, observeRequest, requestMetrics } from "./platform/metrics/listener.ts";
import { processMetrics } from "./platform/metrics/process-figures.ts";
import { workerMetrics } from "./platform/metrics/worker-figures.ts";
import { catchUp, projectionMetrics, runProjections } from "./platform/projections/projections.ts";
import { compose, type Room, room } from "./platform/rooms/rooms.ts";
import { claimDirectory, type DirectoryLock, openStore } from "./platform/store/store.ts";
import { transparency } from "./platform/transparency/room.ts";
import { workers } from "./platform/workers/workers.ts";
import { brain } from "./record/brain/room.ts";
import { gitAi } from "./record/git-ai/room.ts";
import { otlp } from "./record/otlp/room.ts";
import { policy } from "./record/policy/room.ts";
import { pulses } from "./record/pulses/room.ts";
import { telemetry } from "./record/telemetry/room.ts";
import { traces } from "./record/traces/room.ts";
import { makeSearchReady } from "./redact/redact.ts";
import { alarms } from "./share/alarms/alarms.ts";
import { erasure } from "./share/erasure/room.ts";
import { recordExport } from "./share/export/room.ts";
import { featureRequests } from "./share/feature-requests/room.ts";
import { lake } from "./share/lake/room.ts";
import { maintenance } from "./share/maintenance/room.ts";
import { teamMoving } from "./share/moves/room.ts";
import { notifications } from "./share/notifications/room.ts";
import { packs } from "./share/packs/room.ts";
import { proofs } from "./share/proofs/room.ts";
import { readApi } from "./share/read-api/room.ts";
import { releases } from "./share/releases/room.ts";
import { remoteCommands } from "./surfaces/cli/room.ts";
import { mcp } from "./surfaces/mcp/mcp.ts";
import { dashboard, errorPage } from "./surfaces/web/dashboard/dashboard.ts";
import { site } from "./surfaces/web/site/site.ts";

/** Every room, in the order of the documents, of the navigation, and of what follows deliveries. */
export const ROOMS: readonly Room[] = [
  room({ name: "requests", metrics: requestMetrics }),
  room({ name: "process", metrics: processMetrics }),
  checkpointer,
  room({ name: "projections", metrics: projectionMetrics }),
  room({ name: "live", metrics: liveMetrics }),
  room({ name: "workers", metrics: workerMetrics, close: (core) => void workers(core).close() }),
  health,
  audit,
  signIn,
  webSessions,
  people,
  teams,
  members,
  oneTimeLinks,
  sso,
  directory,
  scim,
  secondFactor,
  devices,
  deviceFlow,
  deviceLicense,
  license,
  keys,
  transparency,
  deliveryLog,
  telemetry,
  brain,
  defects,
  triage,
  pulses,
  traces,
  otlp,
  gitAi,
  sessions,
  causes,
  spend,
  budgets,
  find,
  policy,
  savedViews,
  readTokens,
  apiTokens,
  ask,
  mcp,
  erasure,
  recordExport,
  teamMoving,
  lake,
  maintenance,
  notifications,
  alarms,
  readApi,
  remoteCommands,
  featureRequests,
  packs,
  releases,
  proofs,
  room({ name: "api", tags: { Meta: "The description of the API itself." }, endpoints: [openapi] }),
  site,
  ...dashboard,
];

/** Every endpoint. The router, the OpenAPI document and the tests walk this list. */
export const CONTRACT = ROOMS.flatMap(({ endpoints = [] }) => endpoints);
export const API: Described = {
  endpoints: CONTRACT,
  tags: Object.assign({}, ...ROOMS.map(({ tags }) => tags)),
};
const PROJECTIONS = ROOMS.flatMap(({ projections = [] }) => projections);

export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Check every reply against its declared schema. */
  readonly checkReplies?: boolean;
  readonly observe?: (what: Observation) => void;
  /**
   * Leave jobs and projections to the caller, who runs the ones that are needed: by default each runs at its interval, by the machine's
   * clock.
   */
  readonly withoutJobs?: boolean;
  /** Answers requests instead of their endpoints; see ServeOptions. */
  readonly interrupt?: Intercept;
  /** Told when the instance must stop by itself, with the reason. */
  readonly onFatal?: (reason: string) => void;
}

export interface Instance {
  readonly core: Core;
  /** Answers a request made in the process itself. */
  fetch(request: Request): Response | Promise<Response>;
  /** Brings all that is derived from deliveries up to date; it happens by itself a little later. */
  settle(): Promise<void>;
  /** Binds the socket. @returns the address it answers at */
  listen(): Promise<string>;
  /** Tells commands on the same directory where it answers; `listen` does. */
  announce(): void;
  /** Stops accepting, finishes what is in flight, checkpoints and closes. */
  close(): Promise<void>;
}

/**
 * Composes a running instance on a data directory.
 * @throws DataDirectoryInUse when another server has it; DataDirectoryError when it cannot be used
 */
export async function createInstance(parts: Parts): Promise<Instance> {
  const { clock, random, log } = parts;
  const lock = claimDirectory(parts.config.data);
  let core: Core & { config: Config };
  try {
    const store = openStore(parts.config.data, { locked: true, check: true, now: clock.now, log });
    core = { config: parts.config, clock, random, log, store, state: new Map() };
  } catch (error) {
    lock.release();
    throw error;
  }
  compose(core, ROOMS);
  describeEndpoints(core, API);
  const app = createApp(core, CONTRACT, serveOptions(core, parts));
  try {
    for (const { open } of ROOMS) await open?.(core, (reason) => parts.onFatal?.(reason));
  } catch (error) {
    finish(core, lock);
    throw error;
  }
  const byThemselves = <T>(all: readonly T[]): readonly T[] => (parts.withoutJobs ? [] : all);
  const stopJobs = startJobs(core, byThemselves(ROOMS.flatMap(({ jobs = [] }) => jobs)));
  const stopProjections = runProjections(core, byThemselves(PROJECTIONS), newestDelivery);
  const stopLive = runLive(core, newestDelivery);
  const announce = () => lock.announce(baseUrlOf({ ...core.config, baseUrl: null }), baseUrlOf(core.config));
  let listener: Listener | undefined;
  let closeMetrics: (() => Promise<void>) | undefined;
  return {
    core,
    fetch: (request) => app.fetch(request),
    async settle() {
      for (const projection of PROJECTIONS) await catchUp(core, projection);
    },
    async listen() {
      const { host, port, maxConnections } = core.config;
      listener = await listen(app, { host, port, maxConnections, log });
      core.config = Object.freeze({ ...core.config, port: listener.port });
      closeMetrics = await listenForMetrics(
        core,
        ROOMS.flatMap(({ metrics = [] }) => metrics),
      );
      announce();
      // Otherwise the first delivery, and all requests beside it, would wait for that.
      makeSearchReady();
      return baseUrlOf(core.config);
    },
    announce,
    async close() {
      // Streams of events would stay in flight for as long as anybody looks.
      stopLive();
      // Requests that wait for a projection end first, so that the others are waited for alone.
      const stopped = Promise.all([stopProjections(), stopJobs()]);
      await listener?.close();
      await closeMetrics?.();
      await stopped;
      finish(core, lock);
    },
  };
}

function serveOptions(core: Core, { checkReplies = false, interrupt, observe }: Parts): ServeOptions {
  return {
    pages: {
      list: ROOMS.flatMap(({ pages = [] }) => pages),
      findSession,
      touchSession,
      renderError: errorPage,
      signInPath: "/login",
      secondFactorPath: "/account/second-factor",
      sessionSeconds: SESSION_LIFETIME_MS / SECOND_MS,
    },
    baseUrl: () => baseUrlOf(core.config),
    checkReplies,
    ...(interrupt ? { interrupt } : {}),
    observe: (what) => {
      observeRequest(core, what);
      observe?.(what);
    },
  };
}

function finish(core: Core, lock: DirectoryLock): void {
  for (const { close } of ROOMS) close?.(core);
  try {
    core.store.checkpoint();
  } catch (error) {
    core.log.warn("last_checkpoint_failed", { cause: String(error) });
  }
  core.store.close();
  core.state.clear();
  lock.release();
}

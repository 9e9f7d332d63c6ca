import type { Config } from "./config.ts";
import { CONTRACT } from "./contract.ts";
import type { Core } from "./core.ts";
import { findSession, SESSION_LIFETIME_MS, touchSession, watchPrincipals } from "./identity/accounts/accounts.ts";
import { ensureSigningKey, hasSigningKey } from "./identity/license/license.ts";
import { evidenceProjection, linksProjection } from "./insight/causes/causes.ts";
import { entriesProjection } from "./insight/defects/defects.ts";
import { spendEntriesProjection, spendSessionsProjection } from "./insight/spend/spend.ts";
import { baseUrlOf } from "./kit/base-url.ts";
import { type Clock, SECOND_MS, watchClock } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";
import type { Random } from "./kit/random.ts";
import type { Intercept, Observation } from "./platform/http/answer-endpoint.ts";
import { type Listener, listen } from "./platform/http/listen.ts";
import { describeEndpoints } from "./platform/http/openapi-endpoint.ts";
import { createApp } from "./platform/http/serve.ts";
import { openMetrics } from "./platform/metrics/metrics.ts";
import { catchUp, type Projection, runProjections } from "./platform/projections/projections.ts";
import { claimDirectory, type DirectoryLock, openStore } from "./platform/store/store.ts";
import { removeLeftovers } from "./share/releases/releases.ts";
import { errorPage, PAGES } from "./surfaces/web/dashboard/dashboard.ts";
import { SITE_PAGES } from "./surfaces/web/site/site.ts";
import { startChecks } from "./upkeep.ts";

/** What follows deliveries while an instance runs, in the order in which each is brought up to date. */
const DERIVATIONS: readonly Projection[] = [
  entriesProjection,
  evidenceProjection,
  linksProjection,
  spendEntriesProjection,
  spendSessionsProjection,
];

export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Check every reply against its declared schema. */
  readonly checkReplies?: boolean;
  readonly observe?: (what: Observation) => void;
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
    core = { config: parts.config, clock, random, log, store };
  } catch (error) {
    lock.release();
    throw error;
  }
  removeLeftovers(core);
  watchPrincipals(core);
  describeEndpoints(core, CONTRACT);
  const metrics = openMetrics(core);
  const app = createApp(core, CONTRACT, {
    pages: {
      list: [...SITE_PAGES, ...PAGES],
      findSession,
      touchSession,
      renderError: errorPage,
      signInPath: "/login",
      sessionSeconds: SESSION_LIFETIME_MS / SECOND_MS,
    },
    baseUrl: () => baseUrlOf(core.config),
    checkReplies: parts.checkReplies ?? false,
    ...(parts.interrupt ? { interrupt: parts.interrupt } : {}),
    observe: (what) => {
      metrics.observe(what);
      parts.observe?.(what);
    },
  });
  const stopChecks = startChecks(core, (reason) => parts.onFatal?.(reason));
  const stopDerivations = runProjections(core, DERIVATIONS);
  const stopClock = watchClock(clock, (byMs) => log.warn("clock_jumped", { byMs }));
  try {
    await prepareKey(core);
  } catch (error) {
    stopChecks();
    stopClock();
    await stopDerivations();
    core.store.close();
    lock.release();
    throw error;
  }
  let listener: Listener | undefined;
  return {
    core,
    fetch: (request) => app.fetch(request),
    async settle() {
      for (const projection of DERIVATIONS) await catchUp(core, projection);
    },
    async listen() {
      const { host, port, maxConnections } = core.config;
      listener = await listen(app, { host, port, maxConnections, log });
      core.config = Object.freeze({ ...core.config, port: listener.port });
      await metrics.listen();
      lock.announce(`http://${host}:${listener.port}`, baseUrlOf(core.config));
      return baseUrlOf(core.config);
    },
    async close() {
      // Requests that wait for something derived end first, so that the others are waited for alone.
      const derived = stopDerivations();
      await listener?.close();
      await metrics.close();
      await derived;
      stopChecks();
      stopClock();
      finish(core, lock);
    },
  };
}

/**
 * A key that exists is loaded, and refused loudly, before the first request. A first start makes its key beside serving: making
 * one takes longer than starting, and only licences wait for it.
 */
async function prepareKey(core: Core): Promise<void> {
  if (core.config.signing === "off") return;
  if (hasSigningKey(core)) await ensureSigningKey(core);
  else
    ensureSigningKey(core).catch((error: unknown) => {
      // A server that was stopped before its first key was made has nothing to report: the next start makes one.
      if (core.store.db.open) core.log.error("signing_key_failed", { cause: String(error) });
    });
}

function finish(core: Core, lock: DirectoryLock): void {
  try {
    core.store.checkpoint();
  } catch (error) {
    core.log.warn("last_checkpoint_failed", { cause: String(error) });
  }
  core.store.close();
  lock.release();
}

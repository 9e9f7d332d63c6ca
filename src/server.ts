import { mkdirSync } from "node:fs";
import type { Server as NodeServer } from "node:http";
import { serve } from "h3";
import { findDevice } from "./accounts/accounts.ts";
import type { Config } from "./config.ts";
import { CONTRACT } from "./contract.ts";
import type { Core } from "./core.ts";
import { answerClientError } from "./http/client-error.ts";
import { describeEndpoints } from "./http/openapi-endpoint.ts";
import { createApp, type Observation } from "./http/serve.ts";
import { baseUrlOf } from "./kit/base-url.ts";
import { type Clock, watchClock } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";
import type { Random } from "./kit/random.ts";
import { ensureSigningKey, hasSigningKey } from "./license/license.ts";
import { openMetrics } from "./metrics.ts";
import { type DirectoryLock, lockDirectory, openStore } from "./store/store.ts";
import { startChecks } from "./upkeep.ts";

export interface Parts {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Log;
  /** Check every reply against its declared schema. */
  readonly checkReplies?: boolean;
  readonly observe?: (what: Observation) => void;
  /** Told when the instance must stop by itself, with the reason. */
  readonly onFatal?: (reason: string) => void;
}

export interface Instance {
  readonly core: Core;
  /** Answers a request made in the process itself. */
  fetch(request: Request): Response | Promise<Response>;
  /** Binds the socket. @returns the address it answers at */
  listen(): Promise<string>;
  /** Stops accepting, finishes what is in flight, checkpoints and closes. */
  close(): Promise<void>;
}

/** How long requests in flight may take once the server is told to stop. */
const DRAIN_MS = 8_000;

/**
 * Composes a running instance on a data directory.
 * @throws DataDirectoryInUse when another server has it; DataDirectoryError when it cannot be used
 */
export async function createInstance(parts: Parts): Promise<Instance> {
  const { clock, random, log } = parts;
  const lock = claim(parts.config.data);
  let core: Core & { config: Config };
  try {
    const store = openStore(parts.config.data, { locked: true, check: true, now: clock.now });
    core = { config: parts.config, clock, random, log, store };
  } catch (error) {
    lock.release();
    throw error;
  }
  describeEndpoints(core, CONTRACT);
  const metrics = openMetrics(core);
  const app = createApp(core, CONTRACT, {
    authenticators: { device: findDevice },
    baseUrl: () => baseUrlOf(core.config),
    checkReplies: parts.checkReplies ?? false,
    observe: (what) => {
      metrics.observe(what);
      parts.observe?.(what);
    },
  });
  const stopChecks = startChecks(core, (reason) => parts.onFatal?.(reason));
  const stopClock = watchClock(clock, (byMs) => log.warn("clock_jumped", { byMs }));
  try {
    await prepareKey(core);
  } catch (error) {
    stopChecks();
    stopClock();
    core.store.close();
    lock.release();
    throw error;
  }
  let server: NodeServer | undefined;
  return {
    core,
    fetch: (request) => app.fetch(request),
    async listen() {
      const listening = serve(app, {
        hostname: core.config.host,
        port: core.config.port,
        silent: true,
        gracefulShutdown: false,
        node: {
          headersTimeout: 5_000,
          requestTimeout: 30_000,
          keepAliveTimeout: 65_000,
          connectionsCheckingInterval: 1_000,
          maxHeaderSize: 16_384,
        },
      });
      server = listening.node?.server as NodeServer;
      server.maxConnections = core.config.maxConnections;
      server.on("clientError", answerClientError);
      await listening.ready();
      const { port } = server.address() as { port: number };
      core.config = Object.freeze({ ...core.config, port });
      await metrics.listen();
      const url = baseUrlOf(core.config);
      lock.announce(`http://${core.config.host}:${port}`);
      return url;
    },
    async close() {
      if (server) await drain(server);
      await metrics.close();
      stopChecks();
      stopClock();
      finish(core, lock);
    },
  };
}

function claim(directory: string): DirectoryLock {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  return lockDirectory(directory);
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

async function drain(server: NodeServer): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // close() waits for idle keep-alive sockets, which may stay for minutes: they are closed as they fall idle.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const late = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(late);
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

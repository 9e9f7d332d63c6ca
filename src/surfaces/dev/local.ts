import type { Core } from "../../core.ts";
import { createCliToken } from "../../identity/device-flow/device-flow.ts";
import { isoInstant } from "../../kit/clock.ts";
import { conflict, fail, invalid } from "../../kit/problem.ts";
import { seededRandom } from "../../kit/random.ts";
import { SYSTEM } from "../../platform/audit/audit.ts";
import type { Observation } from "../../platform/http/answer-endpoint.ts";
import { removeLeftovers } from "../../share/releases/releases.ts";
import { buildSeed } from "./build-seed.ts";
import { isWithinRange, LocalClock, RANGE } from "./clock.ts";
import { answerControl } from "./control.ts";
import { claimLocal, type Kept, keep, restoreSeed, writeKey } from "./directory.ts";
import { type Planned, PlannedFaults } from "./faults.ts";
import { captureBody, Journal, maskBody, maskHeaders, maskPath } from "./journal.ts";
import { resetRoute } from "./routes/reset.ts";
import type { Credentials } from "./seed.ts";
import type { InstanceHandle, LocalInstance, LocalOptions } from "./types.ts";
import { delay, onWire } from "./wire.ts";

/** How long a reset waits for requests in flight. */
const DRAIN_MS = 2_000;

/**
 * A local instance: the server's own code, with a front before it that records and may answer instead, and a database that goes back to its
 * seed. A reset opens a new instance on a copy of the seed, so nothing that the old one remembered can survive it.
 */
export class Local implements LocalInstance {
  readonly clock: LocalClock;
  readonly journal = new Journal();
  readonly faults: PlannedFaults;
  readonly options: LocalOptions;
  readonly kept: Kept;
  readonly deviceTokens = new Map<string, string>();
  #opened: InstanceHandle | undefined;
  #open = 0;
  #idle: (() => void) | undefined;
  #resetting: Promise<void> | undefined;
  /** The credentials with the present address, where that is another than when the instance was seeded. */
  #moved: Credentials | undefined;
  readonly #observed = new WeakMap<Request, Observation>();
  readonly #planned = new WeakMap<Request, Planned>();

  constructor(options: LocalOptions, clock: LocalClock, kept: Kept) {
    this.options = options;
    this.clock = clock;
    this.kept = kept;
    this.faults = new PlannedFaults(options.endpoints, options.config, clock.now);
  }

  get #instance(): InstanceHandle {
    if (!this.#opened) throw new Error("the local instance has not started");
    return this.#opened;
  }

  get core(): Core {
    return this.#instance.core;
  }

  get credentials(): Credentials {
    return this.#moved ?? this.kept.credentials;
  }

  /** Opens the server's code on the directory's database. */
  async start(): Promise<void> {
    const { seed, base, open } = this.options;
    this.deviceTokens.clear();
    this.deviceTokens.set(this.credentials.deviceId, this.credentials.deviceToken);
    this.#opened = await open({
      clock: this.clock,
      random: seed === undefined ? base.random : seededRandom(`${seed}\nrequests`),
      seeding: false,
      interrupt: (endpoint, drawn, request) => {
        const planned = this.faults.awaits(endpoint);
        if (planned) this.#planned.set(request, planned);
        return this.faults.take(endpoint, drawn);
      },
      observe: (what) => this.#observed.set(what.request, what),
    });
    this.#opened.announce();
    if (this.kept.credentials.baseUrl !== this.options.baseUrl) await this.#move();
  }

  /** Signs the CLI token again for an instance that answers at another address than when it was seeded: the token names it. */
  async #move(): Promise<void> {
    const { baseUrl } = this.options;
    const { credentials } = this.kept;
    const user = { id: credentials.userId, email: credentials.email };
    const { accessToken: cliToken } = await createCliToken(this.core, user, SYSTEM);
    this.#moved = { ...credentials, baseUrl, cliToken };
  }

  /** Answers a request: the control routes here, everything else by the server's code. */
  async fetch(request: Request): Promise<Response> {
    const response = await this.#handle(request);
    // The instance's time. Node would write the real one, by which a client would see the reply as expired, or its own clock as wrong.
    response.headers.set("date", new Date(this.clock.now()).toUTCString());
    return response;
  }

  async #handle(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    // A reset waits for all other requests, so it cannot be one of them.
    if (pathname.startsWith(resetRoute.path)) return answerControl(this, request, pathname);
    while (this.#resetting) await this.#resetting;
    this.#open++;
    try {
      const control = pathname === "/_dev" || pathname.startsWith("/_dev/");
      return await (control ? answerControl(this, request, pathname) : this.#answer(request, pathname));
    } finally {
      this.#open--;
      if (this.#open === 0) this.#idle?.();
    }
  }

  async ask(request: Request): Promise<Response> {
    return this.#instance.fetch(request);
  }

  async #answer(request: Request, pathname: string): Promise<Response> {
    const { clock } = this.options.base;
    const started = clock.monotonic();
    const at = isoInstant(this.clock.now());
    const body = captureBody(request);
    const response = await this.#instance.fetch(request);
    const what = this.#observed.get(request);
    const type = response.headers.get("content-type") ?? "";
    // Pages and their assets are not recorded: they would crowd out an agent's requests.
    if (!what && !/\bjson\b/.test(type)) return response;
    const readable = type === "" || /\bjson\b|^text\//.test(type);
    const text = readable ? await response.text() : "";
    const planned = this.#planned.get(request);
    const { delayMs, drop, truncate } = planned ?? {};
    if (planned && delayMs !== undefined) await delay(planned);
    this.journal.add({
      at,
      method: request.method,
      path: maskPath(pathname + new URL(request.url).search),
      operationId: what?.operation ?? null,
      status: response.status,
      fault: what?.fault ?? null,
      injected: planned !== undefined && planned.status !== null,
      wire: delayMs === undefined && !drop && truncate === undefined ? null : { delayMs, drop, truncate },
      ms: Math.round((clock.monotonic() - started) * 10) / 10,
      request: { headers: maskHeaders(request.headers), body: maskBody(await body()) },
      reply: { headers: maskHeaders(response.headers), body: readable ? maskBody(text) : `(${type})` },
    });
    if (what?.status === 200) this.#learn(what.operation, request.headers, text);
    const sent = readable ? resend(response, text) : response;
    return planned ? onWire(planned, request, sent) : sent;
  }

  /** Remembers device tokens that are given out, so that a control route can act for the device. */
  #learn(operation: string, headers: Headers, reply: string): void {
    if (operation === "connectExchange") {
      const { deviceId, deviceToken } = JSON.parse(reply) as { deviceId: string; deviceToken: string };
      this.deviceTokens.set(deviceId, deviceToken);
    }
    if (operation !== "connectRotate") return;
    const old = headers.get("authorization") ?? "";
    for (const [deviceId, token] of this.deviceTokens)
      if (old.endsWith(token))
        this.deviceTokens.set(deviceId, (JSON.parse(reply) as { deviceToken: string }).deviceToken);
  }

  async reset(): Promise<number> {
    const { monotonic } = this.options.base.clock;
    const started = monotonic();
    this.#resetting ??= this.#restore().finally(() => {
      this.#resetting = undefined;
    });
    await this.#resetting;
    return Math.round((monotonic() - started) * 10) / 10;
  }

  async #restore(): Promise<void> {
    if (this.#open > 0) {
      let late: NodeJS.Timeout | undefined;
      await new Promise<void>((resolve) => {
        this.#idle = resolve;
        late = setTimeout(resolve, DRAIN_MS);
      });
      clearTimeout(late);
      this.#idle = undefined;
    }
    await this.#instance.close();
    restoreSeed(this.options.directory, this.kept.signingPem);
    this.faults.clear();
    this.journal.clear();
    begin(this.clock, this.options, this.kept.startAt);
    await this.start();
    removeLeftovers(this.core, { atOnce: true });
  }

  async close(): Promise<void> {
    await this.#resetting;
    await this.#instance.close();
    keep(this.options.directory, { ...this.kept, clock: this.clock.state() });
  }
}

/** A reply whose body was read, made anew. Its length is set, as before. */
function resend(response: Response, text: string): Response {
  const headers = new Headers(response.headers);
  const { status, statusText } = response;
  if (text === "") return new Response(null, { status, statusText, headers });
  if (!headers.has("content-length")) headers.set("content-length", String(Buffer.byteLength(text)));
  return new Response(text, { status, statusText, headers });
}

/** Sets the clock to the start of the instance. */
function begin(clock: LocalClock, { frozen, base }: LocalOptions, startAt: number | null): void {
  clock.run();
  // Frozen before it is set; otherwise it would have run on a little.
  if (frozen) clock.freeze();
  clock.set(startAt ?? base.clock.now());
}

/**
 * Opens a local instance, seeding its directory when it is new.
 * @throws Error when the directory belongs to a real server
 */
export async function openLocal(options: LocalOptions): Promise<Local> {
  const { directory, base, seed, startAt } = options;
  if (startAt !== undefined && !isWithinRange(startAt)) fail(invalid, `The clock goes ${RANGE}: choose another start`);
  const clock = new LocalClock(base.clock);
  const earlier = claimLocal(directory);
  if (earlier && seed !== undefined && seed !== earlier.seed)
    fail(
      conflict,
      `${directory} was seeded ${earlier.seed === null ? "without a seed" : `with ${earlier.seed}`}; choose another`,
    );
  const kept = earlier ?? (await buildSeed(options, clock));
  const local = new Local(options, clock, kept);
  if (earlier) writeKey(directory, earlier.signingPem);
  if (earlier?.clock && options.startAt === undefined) clock.restore(earlier.clock);
  else begin(clock, options, options.startAt ?? kept.startAt);
  if (options.frozen) clock.freeze();
  await local.start();
  return local;
}

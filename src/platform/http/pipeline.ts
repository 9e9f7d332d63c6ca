import type { BlockList } from "node:net";
import type { H3Event } from "h3";
import type { Core } from "../../core.ts";
import { blocksOf, quotaKey } from "../../kit/address.ts";
import type { Buckets } from "../../kit/buckets.ts";
import type { Payer } from "../../kit/fair-queue.ts";
import { type Admission, addressSender, Intake } from "./admission.ts";
import { ClientGone } from "./body.ts";
import { bearerToken } from "./credential.ts";
import type { Limit } from "./endpoint.ts";
import type { Access, PageSpec } from "./page.ts";
import { respond } from "./render.ts";
import { addressOf, drawLimits, type LimitUse, requireSoundRequest } from "./request.ts";
import { requireServedVersion, VERSION_HEADER } from "./version.ts";

/** What all requests to a listener share. */
export interface Serving {
  readonly core: Core;
  /** The public address. */
  readonly baseUrl: () => string;
  readonly trusted: BlockList;
  readonly buckets: Buckets;
  readonly admission: Admission;
  /** What is declared of the page, or of its form, at a path; undefined where there is none. */
  readonly specOf?: (method: "GET" | "POST", path: string) => PageSpec<keyof Access> | undefined;
}

/** A request on its way to its reply. */
export class Exchange {
  readonly core: Core;
  readonly event: H3Event;
  readonly serving: Serving;
  /** Limits drawn on so far. */
  readonly drawn: LimitUse[] = [];
  readonly bearer: string | undefined;
  #intake: Intake | undefined;

  constructor(event: H3Event, serving: Serving) {
    this.event = event;
    this.serving = serving;
    this.core = serving.core;
    this.bearer = bearerToken(event.req.headers.get("authorization"));
  }

  /** The client's address, proxies seen through; most routes never ask for it. */
  readonly ip = (): string => addressOf(this.event, this.serving.trusted);

  readonly header = (name: string): string | null => this.event.req.headers.get(name);

  draw(limits: readonly Limit[], per: Limit["per"], key: string, cost?: number): void {
    drawLimits(this.core, limits, per, key, this.serving.buckets, this.drawn, cost);
  }

  /** Begins to take in a body, counted against its sender: the address, without a credential. */
  takeIn(sender: Payer | undefined): { readonly intake: Intake; readonly sender: Payer } {
    const payer = sender ?? addressSender(this.ip());
    this.#intake = new Intake(this.serving.admission, payer);
    return { intake: this.#intake, sender: payer };
  }

  /** Gives back what its body took. */
  leave(): void {
    this.#intake?.leave();
  }
}

/** The steps in which endpoints and pages differ. A step that returns no promise is not awaited. */
export interface Steps {
  readonly limits: readonly Limit[];
  /** Before anything is spent on the request. */
  admit(): void;
  /** Finds the caller by their credential, and judges whether the route is for them. @returns who pays; undefined for nobody */
  identify(): Payer | undefined | Promise<Payer | undefined>;
  /** Reads and validates what was sent. */
  receive(sender: Payer | undefined): Promise<void> | undefined;
  /** Does what was asked for, and renders the reply. */
  handle(): Promise<Response>;
  /** Renders what went wrong, whatever it is. */
  explain(error: unknown): Response;
  /** Told of the reply. */
  done?(response: Response): void;
}

/** Ends the way of a request early with a reply that was made for it. */
export class ShortCircuit extends Error {
  readonly response: Response;
  constructor(response: Response) {
    super("answered early");
    this.response = response;
  }
}

/** Answers a request, from the version pin to the reply. */
export async function answer(exchange: Exchange, steps: Steps): Promise<Response> {
  let response: Response;
  try {
    requireSoundRequest(exchange.event);
    requireServedVersion(exchange.header(VERSION_HEADER));
    steps.admit();
    drawByAddress(exchange, steps.limits);
    const found = steps.identify();
    // Waiting for what is there already would cost the busiest routes a turn of the event loop.
    const sender = found instanceof Promise ? await found : found;
    if (sender && steps.limits.length > 0) {
      exchange.draw(steps.limits, "team", sender.team);
      exchange.draw(steps.limits, "token", sender.credential);
    }
    const receiving = steps.receive(sender);
    if (receiving) await receiving;
    response = await steps.handle();
    if (response.ok) for (const { giveBack } of exchange.drawn) giveBack?.();
  } catch (error) {
    if (error instanceof ClientGone) return respond(499, null, []);
    response = error instanceof ShortCircuit ? error.response : steps.explain(error);
  } finally {
    exchange.leave();
  }
  steps.done?.(response);
  return response;
}

/** @throws Problem rateLimited */
function drawByAddress(exchange: Exchange, limits: readonly Limit[]): void {
  const has = (per: Limit["per"]) => limits.some((limit) => limit.per === per);
  if (has("ip")) exchange.draw(limits, "ip", quotaKey(exchange.ip()));
  for (const per of ["site", "provider"] as const)
    if (has(per)) exchange.draw(limits, per, blocksOf(exchange.ip())[per]);
}

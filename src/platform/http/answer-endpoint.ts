import { getQuery, getRouterParams } from "h3";
import * as v from "valibot";
import type { Payer } from "../../kit/fair-queue.ts";
import { Problem } from "../../kit/problem.ts";
import { type Arrival, readBody } from "./body.ts";
import { authenticate } from "./credential.ts";
import { type Call, type Endpoint, faultOf, type Limit, Reply } from "./endpoint.ts";
import { internal, storeUnavailable, tooSlow } from "./faults.ts";
import { isProtobuf } from "./media.ts";
import { type Exchange, ShortCircuit, type Steps } from "./pipeline.ts";
import { isPrepared, prepareBody } from "./prepare-body.ts";
import { ORDINARY_RATIO, validate } from "./read-json.ts";
import { bodyOf, type HeaderList, rateHeaders, respond, respondFault } from "./render.ts";
import { type LimitUse, logUnforeseen } from "./request.ts";

export interface EndpointOptions {
  /** Told of every answered request. */
  readonly observe?: (what: Observation) => void;
  /** Asked before an endpoint looks at a request: a reply to give instead, or undefined. May refuse. For local instances. */
  readonly interrupt?: Intercept;
  /** Check every success against its declared schema and answer 500 when it does not fit. For tests and local instances. */
  readonly checkReplies?: boolean;
}

/** @param drawn limits that the reply's rate-limit headers report; more may be added */
export type Intercept = (endpoint: Endpoint, drawn: LimitUse[], request: Request) => Reply<unknown> | undefined;

export interface Observation {
  readonly request: Request;
  readonly operation: string;
  readonly status: number;
  readonly fault?: string;
  readonly milliseconds: number;
}

/** Inflating costs the sender next to nothing: bytes beyond an ordinary ratio are counted. */
const INFLATION: Limit = {
  name: "inflation",
  quota: (config) => config.limitInflation,
  per: "token",
  headers: "limited",
};

/** The steps of a request to an endpoint. */
export class EndpointSteps implements Steps {
  readonly limits: readonly Limit[];
  readonly #exchange: Exchange;
  readonly #endpoint: Endpoint;
  readonly #options: EndpointOptions;
  readonly #started: number;
  #principal: unknown;
  #query: unknown;
  #body: unknown;
  #text = "";
  #fault: string | undefined;

  constructor(exchange: Exchange, endpoint: Endpoint, options: EndpointOptions) {
    this.#exchange = exchange;
    this.#endpoint = endpoint;
    this.#options = options;
    this.limits = endpoint.spec.limits;
    this.#started = exchange.core.clock.monotonic();
  }

  admit(): void {
    const { drawn, event } = this.#exchange;
    const reply = this.#options.interrupt?.(this.#endpoint, drawn, event.req);
    if (!reply) return;
    const { status, body, headers } = reply;
    throw new ShortCircuit(respond(status, body, [["cache-control", "no-store"], ...Object.entries(headers)]));
  }

  identify(): Payer | undefined | Promise<Payer | undefined> {
    const { auth } = this.#endpoint.spec;
    if (auth === "none") return undefined;
    const keep = (principal: unknown) => {
      this.#principal = principal;
      return principal ? auth.sender(principal) : undefined;
    };
    const { core, bearer, header } = this.#exchange;
    const own = auth.header === undefined ? null : header(auth.header);
    const found = authenticate(core, auth, own?.trim() || bearer);
    return found instanceof Promise ? found.then(keep) : keep(found);
  }

  receive(sender: Payer | undefined): Promise<void> | undefined {
    const { query, body } = this.#endpoint.spec;
    if (query) this.#query = validate(query, getQuery(this.#exchange.event), "query");
    return body ? this.#receiveBody(body, sender) : undefined;
  }

  async #receiveBody(spec: NonNullable<Endpoint["spec"]["body"]>, from: Payer | undefined): Promise<void> {
    const { core, event } = this.#exchange;
    const { intake, sender } = this.#exchange.takeIn(from);
    const onInflated = (wireBytes: number, bytes: number) => {
      const excess = bytes - ORDINARY_RATIO * wireBytes;
      if (excess > 0) this.#exchange.draw([INFLATION], "token", sender.credential, excess);
    };
    const arrival: Arrival = { intake, onInflated };
    if (isPrepared(spec)) {
      this.#body = await prepareBody(spec, { ...arrival, event, core, whoNow: () => this.#whoNow(), sender });
      return;
    }
    const { text, value } = await readBody(event, spec, spec.maxBytes(core.config), arrival);
    await this.#whoNow();
    this.#text = text;
    this.#body = validate(spec.schema, value, "body");
  }

  /** Checks the credential again: it may have been revoked while the body was coming in. */
  async #whoNow(): Promise<unknown> {
    await this.identify();
    return this.#principal;
  }

  async handle(): Promise<Response> {
    const { core, event, ip, header } = this.#exchange;
    const { spec, handle } = this.#endpoint;
    const params = spec.path.includes(":") ? getRouterParams(event, { decode: true }) : {};
    const call: Call = {
      core,
      principal: this.#principal,
      params,
      query: this.#query,
      body: this.#body,
      text: this.#text,
      ip,
      header,
    };
    const result = await handle(call as Call<never, never, never>);
    const okStatus = spec.okStatus ?? 200;
    const reply = result instanceof Reply ? result : new Reply(result, { status: okStatus });
    if (this.#options.checkReplies && reply.status === okStatus) v.parse(schemaOf(spec, reply), reply.body);
    // A reply's own header takes the place of its endpoint's.
    const headers: HeaderList = "cache-control" in reply.headers ? [] : [["cache-control", spec.cache ?? "no-store"]];
    headers.push(...this.#rateHeaders(false));
    for (const [name, text] of Object.entries(reply.headers)) headers.push([name, text]);
    // A streamed body is not begun for HEAD.
    const unread = event.req.method === "HEAD" && typeof reply.content !== "string";
    const content = reply.content === undefined || unread ? undefined : bodyOf(reply.content, core);
    return respond(reply.status, reply.body, headers, reply.media ?? spec.media, content);
  }

  explain(error: unknown): Response {
    const { bearer } = this.#exchange;
    const { row, details } = error instanceof Problem ? error : this.#unforeseen(error);
    const fault = faultOf(this.#endpoint, row);
    this.#fault = fault.name;
    const headers = this.#rateHeaders(fault.status === 429);
    if (row === tooSlow) headers.push(["connection", "close"]);
    const inProtobuf = isProtobuf(this.#exchange.header("content-type"));
    return respondFault(fault, details, { sentToken: bearer !== undefined, headers, inProtobuf });
  }

  /** What is left of the limits drawn on: on a refusal by one of them, and on every reply where the endpoint wants that. */
  #rateHeaders(isLimited: boolean): HeaderList {
    const { core, drawn } = this.#exchange;
    const isShown = isLimited || drawn.some(({ limit }) => limit.headers === "always");
    return isShown ? rateHeaders(drawn, this.limits, core.config) : [];
  }

  #unforeseen(error: unknown): Problem {
    const isStore = logUnforeseen(this.#exchange.core, error, this.#endpoint.spec.id);
    return new Problem(isStore ? storeUnavailable : internal);
  }

  done(response: Response): void {
    const { core, event } = this.#exchange;
    const operation = this.#endpoint.spec.id;
    const { status } = response;
    const fault = this.#fault;
    const milliseconds = core.clock.monotonic() - this.#started;
    this.#options.observe?.({ request: event.req, operation, status, milliseconds, ...(fault ? { fault } : {}) });
    if (core.log.enabled("debug"))
      core.log.debug("request", { operation, status, fault, ms: Math.round(milliseconds) });
  }
}

function schemaOf({ ok, renditions = [] }: Endpoint["spec"], { media }: Reply<unknown>) {
  return renditions.find((rendition) => rendition.media === media)?.schema ?? ok;
}

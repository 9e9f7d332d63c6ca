import type { BlockList } from "node:net";
import { getQuery, H3, type H3Event, type HTTPError } from "h3";
import * as v from "valibot";
import { proxyRanges } from "../../config.ts";
import type { Core } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { Buckets } from "../../kit/buckets.ts";
import { storeTrouble } from "../../kit/errors.ts";
import { fail, Problem, type ProblemDetails, unauthorized } from "../../kit/problem.ts";
import { Admission, addressSender, Intake, type Sender } from "./admission.ts";
import { ClientGone, readBody, validate } from "./body.ts";
import { type Call, type Endpoint, faultOf, type Limit, Reply } from "./endpoint.ts";
import { badRequest, type Fault, internal, methodNotAllowed, noSuchPath, storeUnavailable, tooSlow } from "./faults.ts";
import type { Page } from "./page.ts";
import type { CliPrincipal, DevicePrincipal, Principals, ReadPrincipal } from "./principal.ts";
import { type HeaderList, rateHeaders, respond, respondFault } from "./render.ts";
import { addressOf, causeText, drawLimits, type LimitUse, requireSoundRequest } from "./request.ts";
import { answerFormAddress, answerNoPage, answerPage, type PageOptions } from "./serve-page.ts";
import { requireServedVersion, VERSION_HEADER } from "./version.ts";

/** Finds whose a credential is; undefined when it is nobody's. Those of people are judged where they are found. */
export interface Authenticators {
  readonly device: (core: Core, token: string) => DevicePrincipal | undefined;
  readonly cli: (core: Core, token: string) => Promise<CliPrincipal | undefined>;
  readonly read: (core: Core, token: string) => ReadPrincipal | undefined;
}

export interface ServeOptions {
  readonly authenticators: Authenticators;
  /** The public address, for hints that name a URL. */
  readonly baseUrl: () => string;
  /** Told of every answered request. */
  readonly observe?: (what: Observation) => void;
  /** Pages for people, beside the endpoints. */
  readonly pages?: PageOptions & { readonly list: readonly Page[] };
  /** Asked before an endpoint looks at a request: a reply to give instead, or undefined. May refuse. For local instances. */
  readonly interrupt?: Intercept;
  /** Check every success against its declared schema and answer 500 when it does not fit. For tests and local instances. */
  readonly checkReplies?: boolean;
}

/** @param drawn limits that the reply's rate-limit headers tell of; more may be added */
export type Intercept = (endpoint: Endpoint, drawn: LimitUse[], request: Request) => Reply<unknown> | undefined;

/** Ends the way of a request early with a reply that was planned for it. */
class ShortCircuit extends Error {
  readonly response: Response;
  constructor({ status, body, headers }: Reply<unknown>) {
    super("interrupted");
    this.response = respond(status, body, [["cache-control", "no-store"], ...Object.entries(headers)]);
  }
}

export interface Observation {
  readonly request: Request;
  readonly operation: string;
  readonly status: number;
  readonly fault?: string;
  readonly milliseconds: number;
}

/** Builds the application that answers the endpoints given, and 404 or 405 to everything else. */
export function createApp(core: Core, endpoints: readonly Endpoint[], options: ServeOptions): H3 {
  const app = new H3({ silent: true, onError: (error, event) => onUnhandled(core, error, event) });
  const trusted = proxyRanges(core.config.trustedProxies);
  const buckets = new Buckets();
  const admission = new Admission();
  const byPath = Map.groupBy(endpoints, (one) => one.spec.path);
  const subPath = new URL(options.baseUrl()).pathname.replace(/\/$/, "");
  for (const [path, group] of byPath) {
    const methods = new Map(group.map((one) => [one.spec.method as string, one]));
    const allow = group.flatMap((one) => (one.spec.method === "GET" ? ["GET", "HEAD"] : [one.spec.method])).join(", ");
    const get = methods.get("GET");
    if (get) methods.set("HEAD", get);
    const answer = (event: H3Event) => {
      const found = methods.get(event.req.method);
      if (!found) return plainFault(event, methodNotAllowed, {}, [["allow", allow]]);
      return answerRequest(core, found, event, { options, trusted, buckets, admission });
    };
    app.all(path, answer);
    // A proxy may or may not strip the public sub-path; both reach the same endpoint.
    if (subPath) app.all(subPath + path, answer);
    if (subPath && group.some((one) => one.spec.wellKnown)) app.all(path + subPath, answer);
  }
  const { pages } = options;
  const serving = pages && { core, baseUrl: options.baseUrl, trusted, buckets, admission, pages };
  const hasPage = pageFinder(pages?.list ?? []);
  for (const [path, group] of Map.groupBy(pages?.list ?? [], (one) => one.spec.path)) {
    const methods = new Map(group.map((one) => [one.spec.method as string, one]));
    const get = methods.get("GET");
    if (get) methods.set("HEAD", get);
    const answer = (event: H3Event) => {
      const unserved = refuseVersion(event);
      if (unserved) return unserved;
      const found = methods.get(event.req.method);
      const looks = event.req.method === "GET" || event.req.method === "HEAD";
      if (!found && serving && looks && wantsPage(event, subPath)) return answerFormAddress(event, serving, hasPage);
      if (!found || !serving)
        return plainFault(event, methodNotAllowed, {}, [["allow", [...methods.keys()].join(", ")]]);
      return answerPage(event, found, serving);
    };
    app.all(path, answer);
    if (subPath) app.all(subPath + path, answer);
  }
  app.all("/**", (event) =>
    serving && !refuseVersion(event) && wantsPage(event, subPath)
      ? answerNoPage(event, serving, { status: 404, text: "There is nothing at this address." })
      : plainFault(event, noSuchPath, unknownPath(options.baseUrl())),
  );
  return app;
}

/** Whether a page can be opened at a path: tells by the patterns of the pages that are only looked at. */
function pageFinder(list: readonly Page[]): (path: string) => boolean {
  const patterns = list
    .filter(({ spec }) => spec.method === "GET")
    .map(({ spec }) => new RegExp(`^${spec.path.replace(/:\w+/g, "[^/]+")}$`));
  return (path) => patterns.some((pattern) => pattern.test(path));
}

/** Whether a person is looking: the API's part of the address space answers in JSON whoever asks. */
function wantsPage(event: H3Event, subPath: string): boolean {
  const path = new URL(event.req.url).pathname;
  const own = subPath && path.startsWith(`${subPath}/`) ? path.slice(subPath.length) : path;
  return !/^\/+api(\/|$)/.test(own) && /\btext\/html\b/.test(event.req.headers.get("accept") ?? "");
}

function unknownPath(baseUrl: string): ProblemDetails {
  const hint = `The API is described at ${baseUrl}/openapi.json`;
  return { message: `There is nothing at this path. ${hint}`, members: { hint } };
}

/** A refusal that belongs to no endpoint. */
function plainFault(event: H3Event, fault: Fault, details: ProblemDetails, headers: HeaderList = []): Response {
  return (
    refusalOf(() => requireSoundRequest(event)) ??
    refuseVersion(event) ??
    respondFault(fault, details, { sentToken: false, headers })
  );
}

/** The reply to a request that pins a version which is not served, whatever it asks for. */
const refuseVersion = (event: H3Event): Response | undefined =>
  refusalOf(() => requireServedVersion(event.req.headers.get(VERSION_HEADER)));

function refusalOf(demand: () => void): Response | undefined {
  try {
    demand();
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof Problem)) throw refusal;
    return respondFault({ shape: "canonical", ...refusal.row }, refusal.details, { sentToken: false });
  }
}

interface Serving {
  readonly options: ServeOptions;
  readonly trusted: BlockList;
  readonly buckets: Buckets;
  readonly admission: Admission;
}

/** Text of any ordinary kind inflates to less than this many times its compressed size. */
const ORDINARY_RATIO = 20;
/** Work that costs its sender next to nothing: counted by what comes out beyond the ordinary. */
const INFLATION: Limit = {
  name: "inflation",
  quota: (config) => config.limitInflation,
  per: "token",
  headers: "limited",
};

/** Whose share of the server's memory and time a request's body takes. */
function senderOf(principal: Principals[keyof Principals], ip: () => string): Sender {
  if (principal === undefined) return addressSender(ip());
  if ("deviceId" in principal) return { credential: principal.deviceId, team: principal.teamId };
  return { credential: principal.tokenId, team: principal.userId };
}

/** The way of a request, from the version pin to the rendered reply. */
async function answerRequest(core: Core, endpoint: Endpoint, event: H3Event, serving: Serving): Promise<Response> {
  const { spec } = endpoint;
  const started = core.clock.monotonic();
  const headers = event.req.headers;
  const drawn: LimitUse[] = [];
  const bearer = bearerToken(headers.get("authorization"));
  const { interrupt } = serving.options;
  let response: Response;
  let faultName: string | undefined;
  let intake: Intake | undefined;
  try {
    requireSoundRequest(event);
    requireServedVersion(headers.get(VERSION_HEADER));
    const instead = interrupt?.(endpoint, drawn, event.req);
    if (instead) throw new ShortCircuit(instead);
    // Most routes never ask for the address.
    const ip = () => addressOf(event, serving.trusted);
    if (spec.limits.some((limit) => limit.per === "ip"))
      drawLimits(core, spec.limits, "ip", quotaKey(ip()), serving.buckets, drawn);
    const found = authenticate(core, endpoint, bearer, serving.options.authenticators);
    // Waiting for what is there already would cost the busiest routes a turn of the event loop.
    const principal = found instanceof Promise ? await found : found;
    if (principal && spec.limits.length > 0) {
      if ("teamId" in principal) drawLimits(core, spec.limits, "team", principal.teamId, serving.buckets, drawn);
      else drawLimits(core, spec.limits, "token", principal.tokenId, serving.buckets, drawn);
    }
    const query = spec.query ? validate(spec.query, getQuery(event), "query") : undefined;
    let [text, value]: [string, unknown] = ["", undefined];
    if (spec.body) {
      const sender = senderOf(principal, ip);
      intake = new Intake(serving.admission, sender);
      const onInflated = (wireBytes: number, bytes: number) => {
        const excess = bytes - ORDINARY_RATIO * wireBytes;
        if (excess > 0) drawLimits(core, [INFLATION], "token", sender.credential, serving.buckets, drawn, excess);
      };
      ({ text, value } = await readBody(event, spec.body, spec.body.maxBytes(core.config), { intake, onInflated }));
    }
    const body = spec.body ? validate(spec.body.schema, value, "body") : undefined;
    const call: Call = { core, principal, bearer, query, body, text, ip, header: (name) => headers.get(name) };
    const result = await endpoint.handle(call as Call<never, never, never>);
    const reply = result instanceof Reply ? result : new Reply(result);
    if (serving.options.checkReplies && reply.status === 200) v.parse(schemaOf(spec, reply), reply.body);
    // What a reply says of itself goes before what its endpoint says of all.
    const out: HeaderList = "cache-control" in reply.headers ? [] : [["cache-control", spec.cache ?? "no-store"]];
    if (drawn.some(({ limit }) => limit.headers === "always")) out.push(...rateHeaders(drawn));
    for (const [name, text] of Object.entries(reply.headers)) out.push([name, text]);
    response = respond(reply.status, reply.body, out, reply.media ?? spec.media, reply.text);
  } catch (error) {
    if (error instanceof ClientGone) return respond(499, null, []);
    if (error instanceof ShortCircuit) response = error.response;
    else {
      const { row, details } = asProblem(core, error, endpoint);
      const fault = faultOf(endpoint, row);
      faultName = fault.name;
      response = respondFault(fault, details, {
        sentToken: bearer !== undefined,
        headers: fault.status === 429 ? rateHeaders(drawn) : row === tooSlow ? [["connection", "close"]] : [],
      });
    }
  } finally {
    intake?.leave();
  }
  const milliseconds = core.clock.monotonic() - started;
  serving.options.observe?.({
    request: event.req,
    operation: spec.id,
    status: response.status,
    milliseconds,
    ...(faultName ? { fault: faultName } : {}),
  });
  if (core.log.enabled("debug"))
    core.log.debug("request", {
      operation: spec.id,
      status: response.status,
      fault: faultName,
      ms: Math.round(milliseconds),
    });
  return response;
}

function schemaOf({ ok, renditions = [] }: Endpoint["spec"], { media }: Reply<unknown>) {
  return renditions.find((one) => one.media === media)?.schema ?? ok;
}

/** The credential of `Authorization: Bearer` (RFC 6750 section 2.1), or undefined when none was sent. */
function bearerToken(header: string | null): string | undefined {
  return header === null ? undefined : /^Bearer +(\S.*)$/i.exec(header)?.[1]?.trim();
}

function authenticate(
  core: Core,
  { spec }: Endpoint,
  bearer: string | undefined,
  authenticators: Authenticators,
): Principals[keyof Principals] | Promise<CliPrincipal> {
  if (spec.auth === "none") return undefined;
  const invalid = () => fail(unauthorized, bearer === undefined ? {} : "The bearer token is not valid.");
  if (spec.auth === "cli")
    return bearer === undefined ? invalid() : authenticators.cli(core, bearer).then((found) => found ?? invalid());
  if (spec.auth === "read") return (bearer === undefined ? undefined : authenticators.read(core, bearer)) ?? invalid();
  const principal = bearer === undefined ? undefined : authenticators.device(core, bearer);
  if (spec.auth === "deviceAnyState") return principal;
  if (!principal) return invalid();
  if (principal.revokedAt !== null)
    fail(unauthorized, "The device was disconnected; connect it again with a new code.");
  if (principal.tokenReplacedAt !== null) fail(unauthorized, "The bearer token was replaced by a newer one.");
  if (principal.tokenExpiresAt !== null && principal.tokenExpiresAt <= core.clock.now())
    fail(unauthorized, "The bearer token has expired.");
  return principal;
}

/** Turns whatever was thrown into a problem; what we did not foresee says nothing of its cause outside the log. */
function asProblem(core: Core, error: unknown, { spec }: Endpoint): Problem {
  if (error instanceof Problem) return error;
  const trouble = storeTrouble(error);
  if (trouble !== undefined) {
    core.log.error("store_unavailable", { operation: spec.id, cause: causeText(trouble) });
    return new Problem(storeUnavailable);
  }
  core.log.error("internal_error", { operation: spec.id, cause: causeText(error) });
  return new Problem(internal);
}

/** For what h3 itself refuses before a handler runs, a URL that cannot be read, and for what no handler caught. */
function onUnhandled(core: Core, error: HTTPError, _event: H3Event): Response {
  if (error.status < 500) return respondFault(badRequest, {}, { sentToken: false });
  const cause = error.cause ?? error;
  if (storeTrouble(cause) !== undefined) {
    core.log.error("store_unavailable", { cause: causeText(cause) });
    return respondFault({ ...storeUnavailable, shape: "canonical" }, {}, { sentToken: false });
  }
  core.log.error("internal_error", { cause: causeText(cause) });
  return respondFault({ ...internal, shape: "canonical" }, {}, { sentToken: false });
}

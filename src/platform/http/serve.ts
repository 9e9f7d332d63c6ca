import { H3, type H3Event } from "h3";
import { proxyRanges } from "../../config.ts";
import type { Core } from "../../core.ts";
import { Buckets } from "../../kit/buckets.ts";
import { Problem, type ProblemDetails } from "../../kit/problem.ts";
import { Admission } from "./admission.ts";
import { type EndpointOptions, EndpointSteps } from "./answer-endpoint.ts";
import { answerFormAddress, answerNoPage, PageSteps } from "./answer-page.ts";
import type { Endpoint } from "./endpoint.ts";
import {
  badRequest,
  type Fault,
  internal,
  methodNotAllowed,
  noSuchPath,
  type Shape,
  storeUnavailable,
} from "./faults.ts";
import type { Page, PageOptions } from "./page.ts";
import { answer, Exchange, type Serving } from "./pipeline.ts";
import { type HeaderList, respondFault } from "./render.ts";
import { logUnforeseen, requireSoundRequest } from "./request.ts";
import { requireServedVersion, VERSION_HEADER } from "./version.ts";
import { subPathOf } from "./visitor.ts";

export interface ServeOptions extends EndpointOptions {
  /** The public address, for hints that name a URL. */
  readonly baseUrl: () => string;
  /** Pages for people, beside the endpoints. */
  readonly pages?: PageOptions & { readonly list: readonly Page[] };
}

type Route = Endpoint | Page;

/** Builds the application that answers the endpoints and pages given, and 404 or 405 to everything else. */
export function createApp(core: Core, endpoints: readonly Endpoint[], options: ServeOptions): H3 {
  const { baseUrl, pages } = options;
  const trusted = proxyRanges(core.config.trustedProxies);
  const serving: Serving = {
    core,
    baseUrl,
    trusted,
    buckets: new Buckets(),
    admission: new Admission(core.config.workers),
    specOf: pageFinder(pages?.list ?? []),
  };
  const app = new H3({ silent: true, onError: (error) => answerUnhandled(core, error.status, error.cause ?? error) });
  const subPath = subPathOf(baseUrl());
  // A proxy may or may not strip the public sub-path; both reach the same route.
  const at = (path: string, reply: (event: H3Event) => Response | Promise<Response>) => {
    app.all(path, reply);
    if (subPath) app.all(subPath + path, reply);
  };
  for (const [path, group] of Map.groupBy(endpoints, ({ spec }) => spec.path)) {
    const methods = byMethod(group);
    const allow = group.flatMap(({ spec }) => (spec.method === "GET" ? ["GET", "HEAD"] : [spec.method])).join(", ");
    const reply = (event: H3Event) => {
      const endpoint = methods.get(event.req.method);
      if (!endpoint)
        return answerPlainly(event, { ...methodNotAllowed, shape: plainShape(group[0]) }, {}, [["allow", allow]]);
      const exchange = new Exchange(event, serving);
      return answer(exchange, new EndpointSteps(exchange, endpoint, options));
    };
    at(path, reply);
    for (const alias of new Set(group.map(({ spec }) => spec.alias))) if (alias) at(alias, reply);
    if (subPath && group.some(({ spec }) => spec.wellKnown)) app.all(path + subPath, reply);
  }
  const missing = (event: H3Event) => answerPlainly(event, noSuchPath, unknownPath(baseUrl()));
  for (const holder of new Set(
    endpoints.filter((one) => plainShape(one) === "scim").map(({ spec }) => holderOf(spec.path)),
  ))
    at(`${holder}/**`, (event) => answerPlainly(event, { ...noSuchPath, shape: "scim" }, {}));
  if (pages) addPages(at, subPath, serving, pages);
  app.all("/**", (event) =>
    pages && wantsPage(event, subPath) && !versionProblem(event)
      ? answerNoPage(new Exchange(event, serving), pages, { status: 404, text: "There is nothing at this address." })
      : missing(event),
  );
  return app;
}

function addPages(
  at: (path: string, reply: (event: H3Event) => Response | Promise<Response>) => void,
  subPath: string,
  serving: Serving,
  pages: PageOptions & { readonly list: readonly Page[] },
): void {
  const looked = new Set(pages.list.flatMap(({ spec }) => (spec.method === "GET" ? unnamed(spec.path) : [])));
  for (const [path, group] of Map.groupBy(pages.list, ({ spec }) => spec.path)) {
    const methods = byMethod(group);
    const holder = path.split("/").slice(0, -1);
    while (holder.length > 1 && !looked.has(unnamed(holder.join("/")))) holder.pop();
    at(path, (event) => {
      const page = methods.get(event.req.method);
      const exchange = new Exchange(event, serving);
      if (page) return answer(exchange, new PageSteps(exchange, page, pages));
      const looks = event.req.method === "GET" || event.req.method === "HEAD";
      if (looks && wantsPage(event, subPath) && !versionProblem(event))
        return answerFormAddress(exchange, pages, holder.length);
      return answerPlainly(event, methodNotAllowed, {}, [["allow", [...methods.keys()].join(", ")]]);
    });
  }
}

/** The shape of a refusal at an endpoint's path, or beside it, that is not the endpoint's own: a directory reads SCIM's errors alone. */
const plainShape = (one: Endpoint | undefined): Shape => (one?.spec.errorShape === "scim" ? "scim" : "canonical");

const holderOf = (path: string): string => path.slice(0, path.lastIndexOf("/"));

/** A declared path with its parameters' names removed. */
const unnamed = (path: string): string => path.replaceAll(/:\w+/g, ":");

/** The routes of one path; HEAD is answered as GET. */
function byMethod<R extends Route>(group: readonly R[]): ReadonlyMap<string, R> {
  const methods = new Map<string, R>(group.map((route) => [route.spec.method, route]));
  const get = methods.get("GET");
  return get ? methods.set("HEAD", get) : methods;
}

/** Finds the page declared at a path: one with exactly this path before those with parameters. */
function pageFinder(list: readonly Page[]): NonNullable<Serving["specOf"]> {
  const varied = list.filter(({ spec }) => spec.path.includes(":"));
  const exact = new Map(list.map(({ spec }) => [`${spec.method} ${spec.path}`, spec]));
  const patterns = varied.map(
    ({ spec }) => [spec, new RegExp(`^${spec.method} ${spec.path.replace(/:\w+/g, "[^/]+")}$`)] as const,
  );
  return (method, path) => {
    const name = `${method} ${path}`;
    return exact.get(name) ?? patterns.find(([, pattern]) => pattern.test(name))?.[0];
  };
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

/** A refusal that belongs to no route. */
function answerPlainly(event: H3Event, fault: Fault, details: ProblemDetails, headers: HeaderList = []): Response {
  const problem = problemOf(() => requireSoundRequest(event)) ?? versionProblem(event);
  if (!problem) return respondFault(fault, details, { sentToken: false, headers });
  return respondFault({ shape: "canonical", ...problem.row }, problem.details, { sentToken: false });
}

/** The problem of a request that pins a version which is not served, whatever it asks for. */
const versionProblem = (event: H3Event) => problemOf(() => requireServedVersion(event.req.headers.get(VERSION_HEADER)));

function problemOf(demand: () => void): Problem | undefined {
  try {
    demand();
    return undefined;
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
}

/** Answers what h3 refuses before a route is reached (a URL that cannot be read), and what no route caught. */
function answerUnhandled(core: Core, status: number, cause: unknown): Response {
  if (status < 500) return respondFault(badRequest, {}, { sentToken: false });
  const row = logUnforeseen(core, cause) ? storeUnavailable : internal;
  return respondFault({ ...row, shape: "canonical" }, {}, { sentToken: false });
}

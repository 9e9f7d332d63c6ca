import { STATUS_CODES } from "node:http";
import type { BlockList } from "node:net";
import { getRouterParams, type H3Event } from "h3";
import { FastResponse } from "srvx";
import type { Core } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import type { Buckets } from "../../kit/buckets.ts";
import { storeTrouble } from "../../kit/errors.ts";
import { Html } from "../../kit/html.ts";
import { fail, forbidden, Problem, problem } from "../../kit/problem.ts";
import { sentence } from "../../kit/strings.ts";
import { newToken } from "../../kit/tokens.ts";
import { type Admission, addressSender, Intake, SMALL_BODY_BYTES } from "./admission.ts";
import { ClientGone, readFormFields } from "./body.ts";
import {
  type CookieNames,
  cookieNames,
  csrfToken,
  isCsrfToken,
  isOwnOrigin,
  readCookies,
  setCookie,
} from "./cookies.ts";
import type { Access, Flash, Page, PageCall, PageError, PageReply } from "./page.ts";
import type { SessionPrincipal } from "./principal.ts";
import { COMMON, type HeaderList, rateHeaders, respond } from "./render.ts";
import { addressOf, causeText, drawLimits, type LimitUse, peerAddress, requireSoundRequest } from "./request.ts";

/** What pages need from outside: whose a session is, and how an error page looks. */
export interface PageOptions {
  readonly findSession: (core: Core, token: string) => SessionPrincipal | undefined;
  readonly touchSession: (core: Core, session: SessionPrincipal, ip: string) => Promise<void>;
  readonly renderError: (call: PageCall, error: PageError) => Html;
  /** Where somebody who is not signed in goes. */
  readonly signInPath: string;
  readonly sessionSeconds: number;
}

/** A form that its browser has moved on from. */
const staleForm = problem({
  name: "staleForm",
  status: 403,
  code: "stale_form",
  message: "This form is out of date: go back, reload the page and send it again.",
});
/** A form of a team that is not shown any more. */
const otherTeamsForm = problem({
  name: "otherTeamsForm",
  status: 409,
  code: "other_teams_form",
  message: "This form was for another team than you look at now. Nothing was done.",
});

interface Serving {
  readonly core: Core;
  readonly baseUrl: () => string;
  readonly trusted: BlockList;
  readonly buckets: Buckets;
  readonly admission: Admission;
  readonly pages: PageOptions;
}

const FORM_COOKIE_SECONDS = 24 * 60 * 60;
const FLASH_SECONDS = 60;

/** Nothing but what this site serves itself; no inline script or style, so that text taken for markup stays harmless. */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; " +
  "form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

const SECURITY: HeaderList = [
  ["content-security-policy", POLICY],
  ["x-frame-options", "DENY"],
  ["referrer-policy", "same-origin"],
  ["cross-origin-opener-policy", "same-origin"],
  ["cross-origin-resource-policy", "same-origin"],
  ["permissions-policy", "camera=(), geolocation=(), microphone=()"],
];

/** What of a request is known before anything is decided about it. */
interface Arrived {
  readonly names: CookieNames;
  readonly cookies: ReadonlyMap<string, string>;
  readonly token: string | undefined;
  readonly session: SessionPrincipal | undefined;
  /** The secret of this browser's forms, and whether it is new. */
  readonly secret: string;
  readonly fresh: boolean;
  readonly flash: Flash | undefined;
  /** Only the head of the reply is wanted. */
  readonly headOnly: boolean;
  /** The page has forms, which need the browser's secret as a cookie. */
  readonly forms: boolean;
}

/** @param whose false to not look up whose the session is */
function arrive(event: H3Event, { core, baseUrl, pages }: Serving, forms: boolean, whose = true): Arrived {
  const names = cookieNames(baseUrl());
  const cookies = readCookies(event.req.headers.get("cookie"));
  const token = whose ? cookies.get(names.session) : undefined;
  const session = token === undefined ? undefined : pages.findSession(core, token);
  const held = session ? token : cookies.get(names.form);
  return {
    names,
    cookies,
    token,
    session,
    secret: held ?? newToken("rks", core.random),
    fresh: held === undefined,
    flash: readFlash(cookies.get(names.flash)),
    headOnly: event.req.method === "HEAD",
    forms,
  };
}

function readFlash(cookie: string | undefined): Flash | undefined {
  const match = /^(done|warn|wrong)\.([\w-]{1,2000})$/.exec(cookie ?? "");
  return match
    ? { kind: match[1] as Flash["kind"], text: Buffer.from(match[2] as string, "base64url").toString("utf8") }
    : undefined;
}

const writeFlash = ({ kind, text }: Flash) => `${kind}.${Buffer.from(text.slice(0, 500)).toString("base64url")}`;

function callOf(event: H3Event, serving: Serving, arrived: Arrived): PageCall {
  const { core } = serving;
  const baseUrl = serving.baseUrl();
  const subPath = new URL(baseUrl).pathname.replace(/\/$/, "");
  const url = new URL(event.req.url);
  const isBelow = subPath !== "" && `${url.pathname}/`.startsWith(`${subPath}/`);
  const own = isBelow ? url.pathname.slice(subPath.length) || "/" : url.pathname;
  return {
    core,
    session: arrived.session,
    params: getRouterParams(event, { decode: true }),
    query: url.searchParams,
    form: new URLSearchParams(),
    path: own,
    headOnly: arrived.headOnly,
    baseUrl,
    csrf: csrfToken(arrived.secret, arrived.session?.team?.id),
    flash: arrived.flash,
    userAgent: event.req.headers.get("user-agent"),
    ip: () => addressOf(event, serving.trusted),
    peer: peerAddress(event),
    header: (name) => event.req.headers.get(name),
    href: (path) => subPath + path,
  };
}

/** Refuses a page for whom it is not; undefined when it is for them. */
function judgeAccess(access: keyof Access, session: SessionPrincipal | undefined): PageError | "sign in" | undefined {
  if (access === "anyone") return undefined;
  if (!session) return "sign in";
  if (access === "person") return undefined;
  if (access === "operator")
    return session.operator ? undefined : { status: 403, text: "Only who runs this installation can open this page." };
  if (!session.team) {
    const next = session.operator ? "Make one under Settings." : "Ask an owner or admin of a team for an invitation.";
    return { status: 403, text: `You are in no team yet. ${next}` };
  }
  const { role } = session.team;
  if (access === "owner" && role !== "owner") return { status: 403, text: "Only an owner of the team can do this." };
  if (access === "admin" && role === "member")
    return { status: 403, text: "Only owners and admins of the team can do this." };
  return undefined;
}

/**
 * Demands the token of one of this browser's forms. What concerns a team must come from a page of the team that is shown: the
 * same form of another team's page, left open in another tab, would act on this one.
 */
function requireFormToken(wanted: Page, sent: string | null, { secret, session, fresh }: Arrived): void {
  if (fresh) fail(staleForm);
  if (isCsrfToken(sent, secret, session?.team?.id)) return;
  const other = session?.teams.find((team) => isCsrfToken(sent, secret, team.id));
  if (!other && !isCsrfToken(sent, secret)) fail(staleForm);
  const { access } = wanted.spec;
  if (access === "anyone" || access === "person" || access === "operator") return;
  fail(
    otherTeamsForm,
    `You look at ${session?.team?.name} now, and this form was for ${other?.name ?? "no team"}. Nothing was done: switch the team, then send it again.`,
  );
}

/** The way of a request for a page, from the cookie to the reply. */
export async function answerPage(event: H3Event, wanted: Page, serving: Serving): Promise<Response> {
  const { core, pages } = serving;
  const drawn: LimitUse[] = [];
  // Until it is known whose the session is, it is nobody's: where that cannot be read, it is said to nobody in particular.
  let arrived = arrive(event, serving, false, false);
  let call = callOf(event, serving, arrived);
  try {
    arrived = arrive(event, serving, !wanted.spec.formless);
    call = callOf(event, serving, arrived);
    requireSoundRequest(event);
    const posted = event.req.method === "POST";
    if (posted) requireOwnOrigin(event, call);
    const limits = wanted.spec.limits ?? [];
    if (limits.length > 0) drawLimits(core, limits, "ip", quotaKey(call.ip()), serving.buckets, drawn);
    let refused = judgeAccess(wanted.spec.access, arrived.session);
    // Nothing is read of a form by somebody who may not send it.
    if (refused === "sign in") return send(signInFirst(call, serving, posted), arrived, serving);
    if (refused) fail(forbidden, refused.text);
    const form = posted ? await readOwnForm(event, wanted, arrived.session, call, serving) : undefined;
    if (form) {
      // A form may trickle in: what was a right when its head came may have been taken away when its last byte does.
      if (arrived.session) arrived = { ...arrived, session: pages.findSession(core, arrived.token as string) };
      call = { ...callOf(event, serving, arrived), form };
    }
    refused = judgeAccess(wanted.spec.access, arrived.session);
    if (refused === "sign in") return send(signInFirst(call, serving, posted), arrived, serving);
    if (form) {
      try {
        requireFormToken(wanted, form.get("_csrf"), arrived);
      } catch (error) {
        if (!arrived.session || !wanted.spec.signedInSince) throw error;
        return send(wanted.spec.signedInSince(call), arrived, serving);
      }
      form.delete("_csrf");
    }
    if (refused) fail(forbidden, refused.text);
    if (arrived.session) await pages.touchSession(core, arrived.session, call.ip());
    const result = await wanted.handle(call as PageCall<never>);
    return send(result instanceof Html ? { body: result } : (result as PageReply), arrived, serving);
  } catch (error) {
    if (error instanceof ClientGone) return respond(499, null, []);
    const seen = explain(core, wanted.spec.id, error);
    const headers = seen.status === 429 ? rateHeaders(drawn) : [];
    const told = wanted.spec.renderError?.(call, seen) ?? { body: pages.renderError(call, seen) };
    return send({ ...told, status: seen.status, headers: [...headers, ...(told.headers ?? [])] }, arrived, serving);
  }
}

/** Takes in a form at the expense of who sends it. */
async function readOwnForm(
  event: H3Event,
  { spec }: Page,
  session: SessionPrincipal | undefined,
  call: PageCall,
  { admission }: Serving,
): Promise<URLSearchParams> {
  const sender = session ? { credential: session.userId, team: session.userId } : addressSender(call.ip());
  const intake = new Intake(admission, sender);
  try {
    return await readFormFields(event, spec.maxFormBytes ?? SMALL_BODY_BYTES, intake);
  } finally {
    intake.leave();
  }
}

/**
 * Goes to the page that holds the form, for an address that only takes forms: such an address stands in the bar after a form
 * was answered with what is wrong in it, and people open it again.
 */
export function answerFormAddress(event: H3Event, serving: Serving, hasPage: (path: string) => boolean): Response {
  const arrived = arrive(event, serving, false);
  const { path } = callOf(event, serving, arrived);
  const parts = path.split("/").slice(0, -1);
  while (parts.length > 1 && !hasPage(parts.join("/"))) parts.pop();
  return send({ location: parts.length > 1 ? parts.join("/") : "/" }, arrived, serving);
}

/** The page for an address at which there is none. */
export function answerNoPage(event: H3Event, serving: Serving, error: PageError): Response {
  const arrived = arrive(event, serving, false);
  const call = callOf(event, serving, arrived);
  return send({ status: error.status, body: serving.pages.renderError(call, error) }, arrived, serving);
}

function requireOwnOrigin(event: H3Event, call: PageCall): void {
  const { headers } = event.req;
  const told = { site: headers.get("sec-fetch-site"), origin: headers.get("origin"), host: headers.get("host") };
  if (!isOwnOrigin(told, call.baseUrl))
    fail(
      forbidden,
      `This form was sent from another site, so nothing was done. This installation's address is ${call.baseUrl}; if you opened it at another one, its operator has to set RECKON_BASE_URL.`,
    );
}

function signInFirst(call: PageCall, { pages }: Serving, posted: boolean): PageReply {
  const search = call.query.size > 0 ? `?${call.query}` : "";
  const next = posted || call.path === "/" ? "" : `?next=${encodeURIComponent(call.path + search)}`;
  return {
    location: pages.signInPath + next,
    ...(posted ? { flash: { kind: "warn", text: "Your session has ended. Sign in, then do it again." } } : {}),
  };
}

/** What a person is told of whatever was thrown; what we did not foresee says nothing of its cause outside the log. */
function explain(core: Core, id: string, error: unknown): PageError {
  if (error instanceof Problem) {
    const isStale = error.row === staleForm || error.row === otherTeamsForm;
    const title = isStale ? { title: "This page is out of date" } : {};
    return { status: error.status, text: sentence(error.message), ...title };
  }
  const trouble = storeTrouble(error);
  if (trouble !== undefined) {
    core.log.error("store_unavailable", { operation: id, cause: causeText(trouble) });
    const text = "The server cannot read or store data at the moment. Nothing was changed; try again later.";
    return { status: 503, text };
  }
  core.log.error("internal_error", { operation: id, cause: causeText(error) });
  return { status: 500, text: "Something went wrong on our side. It was logged." };
}

function send(reply: PageReply, arrived: Arrived, serving: Serving): Response {
  const { names } = arrived;
  const status = reply.location === undefined ? (reply.status ?? 200) : 303;
  const headers: HeaderList = [...COMMON, ...SECURITY];
  const own = reply.headers ?? [];
  if (!own.some(([name]) => name === "cache-control")) headers.push(["cache-control", "no-store"]);
  for (const [name, value] of own) headers.push([name, value]);
  const cookie = (name: string, value: string, seconds: number) =>
    headers.push(["set-cookie", setCookie(name, value, names.secure, seconds)]);
  const isHtml = reply.body instanceof Html;
  if (typeof reply.session === "string") cookie(names.session, reply.session, serving.pages.sessionSeconds);
  // A cookie that opens nothing any more would be sent with every request for weeks.
  else if (reply.session === null || (arrived.token !== undefined && !arrived.session)) cookie(names.session, "", 0);
  if (arrived.fresh && arrived.forms && isHtml) cookie(names.form, arrived.secret, FORM_COOKIE_SECONDS);
  if (reply.flash) cookie(names.flash, writeFlash(reply.flash), FLASH_SECONDS);
  else if (isHtml && arrived.cookies.has(names.flash)) cookie(names.flash, "", 0);
  if (reply.location !== undefined) {
    const subPath = new URL(serving.baseUrl()).pathname.replace(/\/$/, "");
    headers.push(["location", subPath + reply.location]);
  }
  if (reply.filename !== undefined)
    headers.push(["content-disposition", `attachment; filename="${reply.filename.replace(/[^\w.-]/g, "_")}"`]);
  if (status === 503) headers.push(["retry-after", "5"]);
  if (status === 429 && !own.some(([name]) => name === "retry-after")) headers.push(["retry-after", "60"]);
  if (reply.body === undefined)
    return new FastResponse(null, { status, statusText: STATUS_CODES[status] ?? "", headers });
  headers.push(["content-type", reply.media ?? "text/html; charset=utf-8"]);
  const init = { status, statusText: STATUS_CODES[status] ?? "", headers };
  const whole = isHtml ? reply.body.toString() : reply.body;
  if (typeof whole === "string" || whole instanceof Uint8Array) {
    if (!arrived.headOnly) return new FastResponse(whole as string | Uint8Array<ArrayBuffer>, init);
    headers.push(["content-length", String(Buffer.byteLength(whole))]);
    return new FastResponse(null, init);
  }
  // What is made piece by piece is not begun for somebody who wants none of it.
  return new FastResponse(arrived.headOnly ? null : pieces(whole as Iterable<string | Uint8Array>, serving.core), init);
}

/** Sends text or bytes as they are made, at the reader's pace. */
function pieces(
  body: Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>,
  core: Core,
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const from = Symbol.asyncIterator in body ? body[Symbol.asyncIterator]() : body[Symbol.iterator]();
  let gone = false;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await from.next();
        // The reader may have left while this piece was made.
        if (gone) return;
        if (done) controller.close();
        else controller.enqueue(typeof value === "string" ? encoder.encode(value) : value);
      } catch (error) {
        core.log.error("download_failed", { cause: causeText(error) });
        controller.error(error);
      }
    },
    async cancel() {
      gone = true;
      await from.return?.();
    },
  });
}

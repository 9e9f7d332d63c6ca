import type { Core } from "../../core.ts";
import type { Html } from "../../kit/html.ts";
import type { Problem } from "../../kit/problem.ts";
import { cookieNames, readCookies, setCookie } from "./cookies.ts";
import type { Content, Limit } from "./endpoint.ts";

/** A team as somebody in it sees it. */
export interface TeamSeat {
  readonly id: string;
  readonly name: string;
  readonly role: "owner" | "admin" | "member" | "viewer" | "own_only";
}

/** A person in the dashboard, by their session. */
export interface SessionPrincipal {
  readonly sessionId: string;
  readonly userId: string;
  readonly email: string;
  readonly name: string | null;
  /** May run the installation. */
  readonly operator: boolean;
  /** The team whose pages are shown; null for somebody who is in none. */
  readonly team: TeamSeat | null;
  readonly teams: readonly TeamSeat[];
  readonly lastSeenAt: number;
  /** Who vouched for the person: the name of an issuer, `proxy`, or null for a password or a link. */
  readonly method: string | null;
  /** A team of theirs demands a second factor, and this sign-in had none: only the way to one is open. */
  readonly lacksSecondFactor: boolean;
}

/** A person whose session shows a team. */
interface TeamSession extends SessionPrincipal {
  readonly team: TeamSeat;
}

/**
 * Who may open a page: anyone; whoever is signed in; somebody in a team, an admin of it (owners are), its owner; or who runs the
 * installation. The team is the one the session shows, never one that a request names.
 */
export interface Access {
  anyone: SessionPrincipal | undefined;
  person: SessionPrincipal;
  member: TeamSession;
  admin: TeamSession;
  owner: TeamSession;
  operator: SessionPrincipal;
}

/** What an error page says. */
export interface PageError {
  readonly status: number;
  readonly text: string;
  /** Instead of the title that the status has. */
  readonly title?: string;
}

/** What pages need from other rooms: finding sessions, and rendering error pages. */
export interface PageOptions {
  readonly findSession: (core: Core, token: string) => SessionPrincipal | undefined;
  readonly touchSession: (core: Core, session: SessionPrincipal, ip: string) => Promise<void>;
  readonly renderError: (call: PageCall, error: PageError) => Html;
  /** Where somebody who is not signed in goes. */
  readonly signInPath: string;
  /** Where somebody who lacks the second factor that their team demands sets one up. */
  readonly secondFactorPath: string;
  readonly sessionSeconds: number;
}

export interface PageSpec<A extends keyof Access> {
  /** Names the page in logs and tests. */
  readonly id: string;
  readonly method: "GET" | "POST";
  /** With `:name` for a part that varies. */
  readonly path: `/${string}`;
  readonly access: A;
  /** Only limits by address apply to pages. */
  readonly limits?: readonly Limit[];
  /** Cap of a form in bytes. Default 64 KiB. */
  readonly maxFormBytes?: number;
  /** Is open to somebody who still lacks the second factor that their team demands. */
  readonly beforeSecondFactor?: boolean;
  /** Concerns only the person who opens it, nothing of a team: open in every role, forms too. */
  readonly own?: boolean;
  /** Narrows what it shows and changes to the person's own. Without it the page is closed to people who see only their own. */
  readonly narrows?: boolean;
  /** Holds no form that is posted, so that visitors who only look get no cookie. */
  readonly formless?: boolean;
  /** Answers somebody who has signed in since the form was drawn, instead of calling it out of date. */
  readonly signedInSince?: (call: PageCall) => PageReply;
  /** Answers somebody who is not signed in any more, instead of asking them to. */
  readonly signedOutSince?: PageReply;
  /** Renders an error in place of the common error page; the status is the error's. */
  readonly renderError?: (call: PageCall, error: PageError) => PageReply;
}

/** What the last page left to say on the next one. */
export interface Flash {
  readonly kind: "done" | "warn" | "wrong";
  readonly text: string;
}

/** A request for a page, as its handler sees it. A form has proved its origin before. */
interface CallBy<Session> {
  readonly core: Core;
  readonly session: Session;
  /** Parts of the path, decoded. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  /** Fields of a POST; empty for a GET. */
  readonly form: URLSearchParams;
  readonly path: string;
  /** Only the head of the reply is wanted (HEAD). */
  readonly headOnly: boolean;
  readonly baseUrl: string;
  /** To be put into every form as `_csrf`. */
  readonly csrf: string;
  readonly flash: Flash | undefined;
  readonly userAgent: string | null;
  readonly ip: () => string;
  /** The address of the socket's other end, which may be a proxy's. */
  readonly peer: string;
  /** The bearer token that was sent, well-formed or not. */
  readonly bearer: string | undefined;
  /**
   * The e-mail address of the person who is signed in at the proxy, according to the proxy; undefined when it names nobody or is not
   * trusted.
   */
  readonly vouchedEmail: string | undefined;
  header(name: string): string | null;
  /** A path within this site as links have it: below the base URL's path. */
  href(path: string): string;
  /** Whether the caller may open a page, or send its form, at a path within this site; true when there is no page. */
  opens(method: "GET" | "POST", path: string): boolean;
}

/** A call by somebody who may open the page. An alias, so that an admin's call will do where any member's is wanted. */
export type PageCall<A extends keyof Access = keyof Access> = CallBy<Access[A]>;

/** What a page answers when it is more than HTML. */
export interface PageReply {
  readonly status?: number;
  readonly headers?: readonly (readonly [string, string])[];
  /** Begins a session (its token), ends it (null), or leaves it. */
  readonly session?: string | null;
  readonly flash?: Flash;
  /** A path within this site; answered as 303. */
  readonly location?: string;
  /** HTML; or text or bytes in the media type given, at once or piece by piece. */
  readonly body?: Html | Content;
  readonly media?: string;
  /** Offers the body as a file of this name. */
  readonly filename?: string;
}

export interface Page {
  readonly spec: PageSpec<keyof Access>;
  readonly handle: (call: PageCall<never>) => unknown;
}

/** Declares a page. */
export function page<A extends keyof Access>(
  spec: PageSpec<A>,
  handler: (call: PageCall<A>) => Html | PageReply | Promise<Html | PageReply>,
): Page {
  return { spec, handle: handler as Page["handle"] };
}

/** Goes on to another page after something was done (303, so that reloading does not do it again). */
export const redirect = (location: string, done?: string): PageReply => ({
  location,
  ...(done === undefined ? {} : { flash: { kind: "done", text: done } }),
});

/** As long as the shortest-lived link works. */
const LINK_SECONDS = 30 * 60;

/** The token of a one-time link that this browser holds for the page that is asked for; undefined for none. */
export const heldLinkToken = (call: PageCall): string | undefined =>
  readCookies(call.header("cookie")).get(cookieNames(call.baseUrl).link) || undefined;

/** The header with which a browser holds the token of a one-time link for a page, or forgets the one it has (null). */
export function holdLinkToken(
  { baseUrl, href }: PageCall,
  path: string,
  token: string | null,
): readonly [string, string] {
  const { link, secure } = cookieNames(baseUrl);
  return ["set-cookie", setCookie(link, token ?? "", secure, token === null ? 0 : LINK_SECONDS, href(path))];
}

/** Cookies of a sign-in that is not complete: while somebody is at an issuer, or has yet to prove a second factor. */
type OnTheWay = "sso" | "pending";

/** The value that this browser keeps during a sign-in; undefined for none. */
export const keptOnTheWay = (call: PageCall, what: OnTheWay): string | undefined =>
  readCookies(call.header("cookie")).get(cookieNames(call.baseUrl)[what]) || undefined;

/** The header with which a browser keeps such a value, or forgets it (null). */
export function keepOnTheWay(
  { baseUrl }: PageCall,
  what: OnTheWay,
  value: string | null,
  seconds = 0,
): readonly [string, string] {
  const names = cookieNames(baseUrl);
  return ["set-cookie", setCookie(names[what], value ?? "", names.secure, value === null ? 0 : seconds)];
}

/** Redirects a person's browser to another site. */
export const leave = (location: string, headers: PageReply["headers"] & {}): PageReply => ({
  status: 303,
  headers: [["location", location], ...headers],
});

/** When a retry is worth it, as a header of the page that says so (RFC 9110 section 10.2.3). */
export const retryAfter = ({ details: { retryAfterSeconds } }: Problem): readonly (readonly [string, string])[] =>
  retryAfterSeconds === undefined ? [] : [["retry-after", String(retryAfterSeconds)]];

/** A file to save. */
export const download = (filename: string, media: string, body: PageReply["body"] & {}): PageReply => ({
  filename,
  media,
  body,
});

/** Comma-separated values to save. Without the mark before them Excel does not take them for Unicode, and shows `MÃ¼ller`. */
export const csvDownload = (filename: string, lines: Iterable<string> | AsyncIterable<string>): PageReply =>
  download(filename, "text/csv; charset=utf-8", marked(lines));

async function* marked(lines: Iterable<string> | AsyncIterable<string>): AsyncGenerator<string> {
  yield "\uFEFF";
  yield* lines;
}

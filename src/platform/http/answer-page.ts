import type { Payer } from "../../kit/fair-queue.ts";
import { sha256 } from "../../kit/hash.ts";
import { Html } from "../../kit/html.ts";
import { fail, forbidden, Problem, problem } from "../../kit/problem.ts";
import { sentence } from "../../kit/strings.ts";
import { whyNot } from "./access.ts";
import { SMALL_BODY_BYTES } from "./admission.ts";
import { readFormFields } from "./body.ts";
import { isCsrfToken, isOwnOrigin } from "./cookies.ts";
import type { Limit } from "./endpoint.ts";
import { unsupportedVersion } from "./faults.ts";
import type { Access, Page, PageCall, PageError, PageOptions, PageReply } from "./page.ts";
import { sendPage } from "./page-reply.ts";
import { type Exchange, ShortCircuit, type Steps } from "./pipeline.ts";
import { rateHeaders, respondFault } from "./render.ts";
import { logUnforeseen } from "./request.ts";
import { answerOnce } from "./sent-forms.ts";
import { subPathOf, Visitor, visitorOf } from "./visitor.ts";

/** A form that its browser has moved on from. */
const staleForm = problem({
  name: "staleForm",
  status: 403,
  code: "stale_form",
  message:
    "This form is out of date, so nothing was done. Go back and send it again; copy what you typed before you reload the page.",
});
const SESSION_ENDED =
  "Your session has ended, so nothing was done. Sign in, then do it again: what you typed may still stand two steps back.";
/** A form of a team that is not shown any more. */
const otherTeamsForm = problem({
  name: "otherTeamsForm",
  status: 409,
  code: "other_teams_form",
  message: "This form was for another team than the one you look at now. Nothing was done.",
});

const send = (exchange: Exchange, pages: PageOptions, reply: PageReply, { visit }: Visitor) =>
  sendPage(exchange.core, reply, visit, {
    subPath: subPathOf(exchange.serving.baseUrl()),
    sessionSeconds: pages.sessionSeconds,
  });

/** The steps of a request for a page. */
export class PageSteps implements Steps {
  readonly limits: readonly Limit[];
  readonly #exchange: Exchange;
  readonly #page: Page;
  readonly #pages: PageOptions;
  #visitor: Visitor | undefined;
  #form: URLSearchParams | undefined;
  /** Identifies the form that was sent, also against the same form of another page or of the page drawn anew. */
  #sent = "";

  constructor(exchange: Exchange, page: Page, pages: PageOptions) {
    this.#exchange = exchange;
    this.#page = page;
    this.#pages = pages;
    this.limits = page.spec.limits ?? [];
  }

  admit(): void {
    if (this.#exchange.event.req.method === "POST") requireOwnOrigin(this.#exchange);
  }

  identify(): Payer | undefined {
    const { session } = this.#look();
    this.#requireAccess();
    return session && { credential: session.userId, team: session.userId };
  }

  /** Finds whose the session is, now. */
  #look(): Visitor {
    const secret = this.#visitor?.visit.secret;
    this.#visitor = visitorOf(this.#exchange, this.#pages, !this.#page.spec.formless, secret);
    return this.#visitor;
  }

  /** The visitor, once found. */
  get #who(): Visitor {
    return this.#visitor ?? this.#look();
  }

  #requireSignIn(): void {
    const { session, call } = this.#who;
    const { access, signedOutSince } = this.#page.spec;
    if (session || access === "anyone") return;
    const isPost = this.#exchange.event.req.method === "POST";
    throw this.#instead(signedOutSince ?? signInFirst(call, this.#pages.signInPath, isPost));
  }

  #requireAccess(): void {
    this.#requireSignIn();
    this.#requireSecondFactor();
    const refused = whyNot(this.#page.spec, this.#who.session);
    if (refused !== undefined) fail(forbidden, refused);
  }

  #requireSecondFactor(): void {
    const { access, beforeSecondFactor } = this.#page.spec;
    if (access === "anyone" || beforeSecondFactor || !this.#who.session?.lacksSecondFactor) return;
    throw this.#instead({
      location: this.#pages.secondFactorPath,
      flash: { kind: "warn", text: "Your team demands a second factor. Set one up to go on." },
    });
  }

  #instead(reply: PageReply): ShortCircuit {
    return new ShortCircuit(send(this.#exchange, this.#pages, reply, this.#who));
  }

  receive(sender: Payer | undefined): Promise<void> | undefined {
    return this.#exchange.event.req.method === "POST" ? this.#receiveForm(sender) : undefined;
  }

  async #receiveForm(sender: Payer | undefined): Promise<void> {
    const { spec } = this.#page;
    const { intake } = this.#exchange.takeIn(sender);
    const form = await readFormFields(this.#exchange.event, spec.maxFormBytes ?? SMALL_BODY_BYTES, intake);
    this.#form = form;
    this.#exchange.leave();
    // The session is checked again: a right may have been taken away while the form was coming in.
    if (this.#who.session) this.#look();
    this.#requireSignIn();
    try {
      requireFormToken(spec.access, form.get("_csrf"), this.#who);
    } catch (error) {
      if (!this.#who.session || !spec.signedInSince) throw error;
      throw this.#instead(spec.signedInSince(this.#call()));
    }
    this.#sent = sha256(`${this.#who.call.path} ${form}`).toString("base64url");
    form.delete("_csrf");
    this.#requireAccess();
  }

  #call({ call }: Visitor = this.#who): PageCall {
    return this.#form ? { ...call, form: this.#form } : call;
  }

  async handle(): Promise<Response> {
    const { core, ip } = this.#exchange;
    const { session } = this.#who;
    if (session) await this.#pages.touchSession(core, session, ip());
    const work = async (): Promise<PageReply> => {
      const result = await this.#page.handle(this.#call() as PageCall<never>);
      return result instanceof Html ? { body: result } : (result as PageReply);
    };
    const reply = await (this.#form ? answerOnce(core, this.#sent, work) : work());
    return send(this.#exchange, this.#pages, reply, this.#who);
  }

  explain(error: unknown): Response {
    const { spec } = this.#page;
    // A request that pins an unsupported version is refused as by the API, not with a page.
    if (error instanceof Problem && error.row === unsupportedVersion)
      return respondFault(unsupportedVersion, error.details, { sentToken: false });
    const seen = this.#describe(error);
    const visitor = this.#visitor ?? this.#lookOrNobody();
    const headers =
      seen.status === 429 ? rateHeaders(this.#exchange.drawn, this.limits, this.#exchange.core.config) : [];
    const call = this.#call(visitor);
    const shown = spec.renderError?.(call, seen) ?? { body: this.#pages.renderError(call, seen) };
    const reply = { ...shown, status: seen.status, headers: [...headers, ...(shown.headers ?? [])] };
    return send(this.#exchange, this.#pages, reply, visitor);
  }

  /** Who is looking; somebody without a session when it cannot be read, so that an error can be shown all the same. */
  #lookOrNobody(): Visitor {
    try {
      return this.#look();
    } catch {
      return new Visitor(this.#exchange, false, {});
    }
  }

  /** What a person is told of an error. The cause of an unforeseen one goes to the log alone. */
  #describe(error: unknown): PageError {
    if (error instanceof Problem) {
      const isStale = error.row === staleForm || error.row === otherTeamsForm;
      const title = isStale ? { title: "This page is out of date" } : {};
      return { status: error.status, text: sentence(error.message), ...title };
    }
    return logUnforeseen(this.#exchange.core, error, this.#page.spec.id)
      ? {
          status: 503,
          text: "The server cannot read or store data at the moment. Nothing was changed; try again later.",
        }
      : { status: 500, text: "Something went wrong on our side. It was logged." };
  }
}

/**
 * Demands the token of one of this browser's forms. What concerns a team must come from a page of the team that is shown: the
 * same form of another team's page, left open in another tab, would act on this one.
 */
function requireFormToken(access: keyof Access, sent: string | null, { visit: { secret }, session }: Visitor): void {
  if (isCsrfToken(sent, secret, session?.team?.id)) return;
  const other = session?.teams.find((team) => isCsrfToken(sent, secret, team.id));
  if (!other && !isCsrfToken(sent, secret)) fail(staleForm);
  if (access === "anyone" || access === "person" || access === "operator") return;
  fail(
    otherTeamsForm,
    `You look at ${session?.team?.name} now, and this form was for ${other?.name ?? "no team"}. Nothing was done: switch the team, then send it again.`,
  );
}

function requireOwnOrigin({ header, serving }: Exchange): void {
  const baseUrl = serving.baseUrl();
  if (isOwnOrigin({ site: header("sec-fetch-site"), origin: header("origin"), host: header("host") }, baseUrl)) return;
  fail(
    forbidden,
    `This form was sent from another site, so nothing was done. This installation's address is ${baseUrl}; if you opened it at another one, its operator has to set RECKON_BASE_URL.`,
  );
}

function signInFirst(call: PageCall, signInPath: string, isPost: boolean): PageReply {
  const search = call.query.size > 0 ? `?${call.query}` : "";
  // The address of a form leads to the page that it stands on, see `answerFormAddress`.
  const next = call.path === "/" ? "" : `?next=${encodeURIComponent(call.path + search)}`;
  return {
    location: signInPath + next,
    ...(isPost ? { flash: { kind: "warn", text: SESSION_ENDED } } : {}),
  };
}

/**
 * Redirects from the address of a form to the page that holds it. Such an address stays in the browser's bar after the form was answered
 * with an error, and people open it again. For forms that are on every page, that is where signing in leads.
 * @param depth how many parts of the address belong to that page, counted with the empty one before the first slash
 */
export function answerFormAddress(exchange: Exchange, pages: PageOptions, depth: number): Response {
  const visitor = visitorOf(exchange, pages, false);
  const parts = visitor.call.path.split("/").slice(0, depth);
  const ofEveryPage = visitor.session ? pages.signInPath : "/";
  return send(exchange, pages, { location: parts.length > 1 ? parts.join("/") : ofEveryPage }, visitor);
}

/** The page for an address at which there is none. */
export function answerNoPage(exchange: Exchange, pages: PageOptions, error: PageError): Response {
  const visitor = visitorOf(exchange, pages, false);
  return send(
    exchange,
    pages,
    { status: error.status, body: pages.renderError({ ...visitor.call, params: {} }, error) },
    visitor,
  );
}

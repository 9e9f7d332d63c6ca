import * as v from "valibot";
import { PENDING_MS, type RelyingParty } from "../../../../identity/second-factor/second-factor.ts";
import { continueSignIn, type Entered, secondFactorQuestion } from "../../../../identity/sign-in/sign-in.ts";
import { SECOND_MS } from "../../../../kit/clock.ts";
import { attributes, type Html, html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import {
  keepOnTheWay,
  keptOnTheWay,
  type PageCall,
  type PageReply,
  page,
  redirect,
} from "../../../../platform/http/page.ts";
import { button } from "../../ui/button.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";
import { originOf } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { readParams } from "../shared/params.ts";
import { readNext } from "./sso.ts";

/** The second factor, asked for after the password. */

type Anyone = PageCall<"anyone">;

const PATH = "/login/second-factor";

/** This site, as passkeys know it. */
export const partyOf = ({ baseUrl }: Pick<PageCall, "baseUrl">): RelyingParty => {
  const { origin, hostname } = new URL(baseUrl);
  return { origin, id: hostname };
};

/** Goes on after a right password: into the dashboard, or to the second factor. @param done what was done on the way */
export function goOn(call: PageCall, entered: Entered, next: string, done?: string): PageReply {
  if ("session" in entered) return { ...redirect(next, done), session: entered.session };
  const cookie = keepOnTheWay(call, "pending", entered.pending, PENDING_MS / SECOND_MS);
  return { ...redirect(`${PATH}?${new URLSearchParams({ next })}`, done), headers: [cookie] };
}

const CODE = formSpec({
  code: {
    kind: "text",
    label: "Code",
    hint: "Of your authenticator app, or one of your recovery codes.",
    autocomplete: "one-time-code",
    maxLength: 40,
    autofocus: true,
  },
});

const PASSKEY = {
  credential: v.optional(v.string(), ""),
  client_data: v.optional(v.string(), ""),
  authenticator_data: v.optional(v.string(), ""),
  signature: v.optional(v.string(), ""),
};

const nextOf = (call: Anyone) => readNext(readParams({ next: typed }, call.form).next || call.query.get("next"));

function questionPage(call: Anyone, error?: FormError): Html {
  const { challenge, credentialIds } = secondFactorQuestion(call.core, keptOnTheWay(call, "pending"));
  const next = nextOf(call);
  const main = html`${pageHead({ title: "Second factor" })}
${credentialIds.length > 0 && passkeyForm(call, { challenge, credentials: credentialIds, next })}
${CODE.draw(call, { action: PATH, hidden: { next }, error, submit: "Continue" })}
<p class="says">Lost all of it? This installation's operator can reset it. <a href="${call.href("/login")}">Start again</a></p>`;
  return plainFrame(call, { title: "Second factor", main });
}

interface PasskeyQuestion {
  readonly challenge: string;
  readonly credentials: readonly string[];
  readonly next: string;
}

/** Shown where the script runs and the browser knows passkeys. */
function passkeyForm(call: Anyone, { challenge, credentials, next }: PasskeyQuestion): Html {
  const question = {
    "data-passkey": "get",
    "data-challenge": challenge,
    "data-credentials": credentials.join(" "),
    "data-party": partyOf(call).id,
  };
  return html`<form method="post" class="sso"${attributes({ action: call.href(PATH), ...question })}><input type="hidden" name="_csrf" value="${call.csrf}"><input type="hidden" name="next" value="${next}">${Object.keys(PASSKEY).map((name) => html`<input type="hidden" name="${name}">`)}${button("Use a passkey", { look: "primary" })}<p class="or"><span>or with a code</span></p></form>`;
}

async function answer(call: Anyone, code: string): Promise<PageReply> {
  const sent = readParams(PASSKEY, call.form);
  const given =
    sent.credential === ""
      ? { code }
      : {
          passkey: {
            credentialId: sent.credential,
            clientData: sent.client_data,
            authenticatorData: sent.authenticator_data,
            signature: sent.signature,
          },
        };
  const origin = originOf(call);
  const pending = keptOnTheWay(call, "pending");
  const session = await continueSignIn(call.core, pending, given, partyOf(call), origin, call.session?.sessionId);
  return { ...redirect(nextOf(call)), session, headers: [keepOnTheWay(call, "pending", null)] };
}

/** Sends those without a right password before it back to the beginning. */
function begun<Reply>(work: () => Reply): Reply | PageReply {
  try {
    return work();
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 401) throw error;
    return { location: "/login", flash: { kind: "warn", text: error.message } };
  }
}

export const secondFactorPages = [
  page({ id: "secondFactorQuestion", method: "GET", path: PATH, access: "anyone" }, (call) =>
    call.session ? redirect(nextOf(call)) : begun(() => questionPage(call)),
  ),
  page(
    {
      id: "secondFactorAnswer",
      method: "POST",
      path: PATH,
      access: "anyone",
      signedInSince: (call) => redirect(nextOf(call)),
    },
    async (call) =>
      handleForm(
        call,
        CODE,
        ({ code }) => answer(call, code),
        (error) => {
          if (error.problem.status === 401) throw error.problem;
          return questionPage(call, error);
        },
      ),
  ),
];

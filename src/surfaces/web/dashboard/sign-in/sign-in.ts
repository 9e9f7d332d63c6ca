import { hasUsers } from "../../../../identity/people/people.ts";
import { signIn, signInByProxy } from "../../../../identity/sign-in/sign-in.ts";
import { endSession, switchTeam } from "../../../../identity/web-sessions/web-sessions.ts";
import { html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";
import { by, originOf } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { readParams } from "../shared/params.ts";
import { goOn, secondFactorPages } from "./second-factor.ts";
import { readNext, ssoOrPassword } from "./sso.ts";

const SIGN_IN = formSpec({
  email: { kind: "email", label: "E-mail address", required: true, autocomplete: "username", autofocus: true },
  password: { kind: "password", label: "Password", required: true, autocomplete: "current-password" },
});

/** Where a form or an address says to go on. */
const nextIn = (sent: URLSearchParams) => readNext(sent.get("next"));

function signInPage(call: PageCall<"anyone">, error?: FormError) {
  const next = nextIn(call.form.has("next") ? call.form : call.query);
  const main = html`${pageHead({ title: "Sign in" })}
${ssoOrPassword(call, next)}
${SIGN_IN.draw(call, { action: "/login", hidden: { next }, error, submit: "Sign in" })}
<p class="says">${
    hasUsers(call.core)
      ? "Forgot the password? An admin of your team or this installation's operator can make you a link."
      : html`Nobody has an account yet. The set-up link stands in the server's output; <code>reckon user create</code> makes an account too.`
  }</p>`;
  return plainFrame(call, { title: "Sign in", main });
}

/** The page after signing out. There, somebody whom a proxy names is not let in again at once. */
const SIGNED_OUT = "/login?signed-out=1";

/** Lets in whom a trusted proxy names, unless they have just signed out; the page for everybody else. */
async function byProxy(call: PageCall<"anyone">) {
  const { core, vouchedEmail } = call;
  if (vouchedEmail === undefined || call.query.has("signed-out")) return signInPage(call);
  const session = await signInByProxy(core, vouchedEmail, originOf(call));
  return session === undefined ? signInPage(call) : { ...redirect(nextIn(call.query)), session };
}

export const signInPages = [
  ...secondFactorPages,
  page({ id: "signIn", method: "GET", path: "/login", access: "anyone" }, (call) =>
    call.session ? redirect(nextIn(call.query)) : byProxy(call),
  ),
  page(
    {
      id: "signInPost",
      method: "POST",
      path: "/login",
      access: "anyone",
      signedInSince: (call) => redirect(nextIn(call.form)),
    },
    (call) =>
      handleForm(
        call,
        SIGN_IN,
        async ({ email, password }) => {
          const origin = originOf(call);
          const entered = await signIn(call.core, email, password, origin, call.session?.sessionId);
          return goOn(call, entered, nextIn(call.form));
        },
        (error) => signInPage(call, error),
      ),
  ),
  page(
    {
      ...{ id: "signOut", method: "POST", path: "/logout", access: "person", beforeSecondFactor: true, own: true },
      signedOutSince: redirect(SIGNED_OUT, "You are signed out."),
    },
    async (call) => {
      const { core, session } = call;
      await endSession(core, session.userId, session.sessionId, by(call));
      return {
        ...redirect(session.method === "proxy" ? SIGNED_OUT : "/login", "You are signed out."),
        session: null,
      };
    },
  ),
  page(
    { id: "switchTeam", method: "POST", path: "/team", access: "person", beforeSecondFactor: true, own: true },
    async (call) => {
      await switchTeam(call.core, call.session, readParams({ team: typed }, call.form).team);
      return redirect(nextIn(call.form));
    },
  ),
];

import { actorOf, endSession, hasUsers, signIn, switchTeam } from "../../../../identity/accounts/accounts.ts";
import { html } from "../../../../kit/html.ts";
import { Problem } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect, retryAfter } from "../../../../platform/http/page.ts";
import { readUserAgent } from "../../../../redact/redact.ts";
import { field } from "../../ui/field.ts";
import { form } from "../../ui/form.ts";
import { pageHead } from "../../ui/parts.ts";
import { plainFrame } from "../frame.ts";

/** Reads where to go on after signing in: a path of this site, or the overview. */
export function readNext(given: string | null): string {
  // A browser takes a backslash for a slash, and two of either for another host.
  return given && /^\/(?![/\\])[\x21-\x7e]{0,1000}$/.test(given) && !given.includes("\\") ? given : "/overview";
}

function signInPage(call: PageCall<"anyone">, wrong?: string) {
  const next = readNext(call.form.get("next") ?? call.query.get("next"));
  const main = html`${pageHead({ title: "Sign in" })}
${form({
  action: call.href("/login"),
  csrf: call.csrf,
  hidden: { next },
  wrong,
  fields: [
    field({
      kind: "email",
      name: "email",
      label: "E-mail address",
      value: call.form.get("email"),
      required: true,
      autocomplete: "username",
      autofocus: true,
    }),
    field({ kind: "password", name: "password", label: "Password", required: true, autocomplete: "current-password" }),
  ],
  submit: "Sign in",
})}
<p class="says">${
    hasUsers(call.core)
      ? "Forgot the password? An admin of your team or this installation's operator can make you a link."
      : html`Nobody has an account yet. The set-up link stands in the server's output; <code>reckon user create</code> makes an account too.`
  }</p>`;
  return plainFrame(call, { title: "Sign in", main });
}

export const signInPages = [
  page({ id: "signIn", method: "GET", path: "/login", access: "anyone" }, (call) =>
    call.session ? redirect(readNext(call.query.get("next"))) : signInPage(call),
  ),
  page(
    {
      id: "signInPost",
      method: "POST",
      path: "/login",
      access: "anyone",
      signedInSince: (call) => redirect(readNext(call.form.get("next"))),
    },
    async (call) => {
      const origin = { ip: call.ip(), userAgent: readUserAgent(call.userAgent) };
      try {
        const session = await signIn(
          call.core,
          call.form.get("email") ?? "",
          call.form.get("password") ?? "",
          origin,
          call.session?.sessionId,
        );
        return { ...redirect(readNext(call.form.get("next"))), session };
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        return { status: error.status, headers: retryAfter(error), body: signInPage(call, error.message) };
      }
    },
  ),
  page({ id: "signOut", method: "POST", path: "/logout", access: "person" }, async (call) => {
    const { core, session } = call;
    await endSession(core, session.userId, session.sessionId, actorOf(session, call.ip()));
    return { ...redirect("/login", "You are signed out."), session: null };
  }),
  page({ id: "switchTeam", method: "POST", path: "/team", access: "person" }, async (call) => {
    await switchTeam(call.core, call.session, call.form.get("team") ?? "");
    return redirect("/overview");
  }),
];

import * as v from "valibot";
import { getUser } from "../../../../identity/people/people.ts";
import {
  addApp,
  addPasskey,
  beginApp,
  beginPasskey,
  type Factor,
  listFactors,
  type NewApp,
  recoveryCodesLeft,
  removeFactor,
  renewCodes,
  sameApp,
} from "../../../../identity/second-factor/second-factor.ts";
import { confirmPassword } from "../../../../identity/sign-in/sign-in.ts";
import { attributes, type Html, html } from "../../../../kit/html.ts";
import { type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { type FormError, formSpec, typed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { codeBlock, empty, pageHead, section } from "../../ui/parts.ts";
import { qrCode } from "../../ui/qr.ts";
import { ago, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, type Person } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { partyOf } from "../sign-in/second-factor.ts";

/** One's own second factors: apps, passkeys, recovery codes. */

const PATH = "/account/second-factor";
const CRUMB = { label: "Your account", path: "/account" } as const;

const CURRENT = {
  kind: "password",
  label: "Present password",
  autocomplete: "current-password",
} as const;

const APP = formSpec({
  sealed: { kind: "hidden", schema: typed },
  code: {
    kind: "text",
    label: "Code",
    hint: "That the app shows now.",
    required: true,
    maxLength: 10,
    autocomplete: "one-time-code",
  },
  name: { kind: "text", label: "Name", hint: "Such as the phone that it is on.", maxLength: 60 },
  current: CURRENT,
});

const sent = { kind: "hidden", schema: v.optional(v.string(), "") } as const;
const PASSKEY = formSpec({
  credential: sent,
  client_data: sent,
  authenticator_data: sent,
  public_key: sent,
  name: { kind: "text", label: "Name", hint: "Such as the device or key that holds it.", maxLength: 60 },
  current: CURRENT,
});

const RENEW = formSpec({ current: CURRENT });
const REMOVE = formSpec({
  id: { kind: "select", label: "Second factor", options: [] },
  current: CURRENT,
});

/** Whether somebody has a password: who comes by single sign-on alone has none. */
export const hasPassword = ({ core, session }: Person) => getUser(core, session.userId).passwordHash !== null;

/** The field for the password. Somebody who comes by single sign-on alone has none. */
const passwordField = (call: Person) =>
  hasPassword(call) ? { current: { required: true } } : { current: false as const };

async function requirePassword(call: Person, current: string): Promise<void> {
  if (hasPassword(call)) await confirmPassword(call.core, call.session.userId, current, by(call));
}

function factorsPage(call: Person, error?: FormError): Html {
  const { core, session, href } = call;
  const factors = listFactors(core, session.userId);
  const left = recoveryCodesLeft(core, session.userId);
  const main = html`${pageHead({
    title: "Second factor",
    intro: hasPassword(call)
      ? "Asked for after your password."
      : "Asked for after a password. You have none: your single sign-on asks for what it demands.",
    crumbs: [{ label: CRUMB.label, href: href(CRUMB.path) }, { label: "Second factor" }],
    actions: buttonLink("Add an authenticator app", href(`${PATH}/app`), { look: "primary" }),
  })}
${factorTable(call, factors)}
${passkeySection(call, error)}
${
  factors.length > 0 &&
  html`${section({
    title: "Recovery codes",
    intro: `${left === 0 ? "None is" : `${plural(left, "code")} ${left === 1 ? "is" : "are"}`} left. Each works once, when all else is lost.`,
    framed: true,
    body: RENEW.draw(call, { action: `${PATH}/codes`, error, vary: passwordField(call), submit: "Make new codes" }),
  })}
${section({
  title: "Remove one",
  framed: true,
  body: REMOVE.draw(call, {
    action: `${PATH}/remove`,
    error,
    vary: { id: { options: factors.map(({ id, name }) => ({ value: id, label: name })) }, ...passwordField(call) },
    submit: "Remove",
  }),
})}`
}`;
  return frame(call, { title: "Second factor", main });
}

function factorTable({ core }: Person, factors: readonly Factor[]): Html {
  const now = core.clock.now();
  return table({
    caption: "Your second factors",
    columns: [
      { label: "Name", heading: true, grow: true, cell: ({ name }) => name },
      { label: "Kind", cell: ({ kind }) => (kind === "totp" ? "Authenticator app" : "Passkey") },
      { label: "Added", cell: ({ createdAt }) => time(createdAt, now) },
      { label: "Last used", cell: ({ lastUsedAt }) => ago(lastUsedAt, now, "never") },
    ],
    rows: factors,
    empty: empty({
      title: "No second factor yet",
      intro:
        "With one, a password that somebody else got hold of opens nothing. Adding the first signs you out everywhere but here.",
    }),
  });
}

/** Shown where the script runs and the browser knows passkeys. */
function passkeySection(call: Person, error?: FormError): Html {
  const { core, session } = call;
  const { challenge, exclude } = beginPasskey(core, session.userId);
  const question = {
    "data-passkey": "create",
    "data-challenge": challenge,
    "data-credentials": exclude.join(" "),
    "data-party": partyOf(call).id,
    "data-user": Buffer.from(session.userId).toString("base64url"),
    "data-email": session.email,
  };
  return html`<div${attributes(question)}>${section({
    title: "Add a passkey",
    intro: "A fingerprint, a face, a security key: nothing to type, and of no use on any other site.",
    framed: true,
    body: PASSKEY.draw(call, { action: `${PATH}/passkey`, error, vary: passwordField(call), submit: "Add a passkey" }),
  })}</div>`;
}

const issuerOf = ({ baseUrl }: Person) => `Reckon (${new URL(baseUrl).host})`;

function appPage(call: Person, app: NewApp, error?: FormError): Html {
  const { href } = call;
  const main = html`${pageHead({
    title: "Add an authenticator app",
    intro: "Scan the picture with the app, or type the key; then enter the code that it shows.",
    crumbs: [
      { label: CRUMB.label, href: href(CRUMB.path) },
      { label: "Second factor", href: href(PATH) },
      { label: "Add an app" },
    ],
  })}
${section({
  title: "1. Scan",
  framed: true,
  body: html`${qrCode(app.uri, "The key as a QR code")}${codeBlock(app.secret.replace(/(.{4})(?=.)/g, "$1 "), { label: "Key", titled: true, wrap: true })}`,
})}
${section({
  title: "2. Enter the code",
  framed: true,
  body: APP.draw(call, {
    action: `${PATH}/app`,
    values: { sealed: app.sealed },
    error,
    vary: passwordField(call),
    submit: "Add the app",
  }),
})}`;
  return frame(call, { title: "Add an authenticator app", main });
}

/** Shows recovery codes, once; or goes straight back where there were some before. */
function addedReply(call: Person, codes: readonly string[], done: string): Html | PageReply {
  if (codes.length === 0) return redirect(PATH, done);
  const main = html`${pageHead({ title: "Recovery codes", intro: "Keep them where you keep what must not get lost. They are shown this once; each works once." })}
${codeBlock(codes.join("\n"), { label: "Recovery codes", titled: true })}
<p>${buttonLink("I have kept them", call.href(PATH), { look: "primary" })}</p>`;
  return frame(call, { title: "Recovery codes", main });
}

const access = "person";
const open = { access, beforeSecondFactor: true, own: true } as const;

export const secondFactorAccountPages = [
  page({ id: "secondFactors", method: "GET", path: PATH, ...open }, (call) => factorsPage(call)),
  page({ id: "newAuthenticatorApp", method: "GET", path: `${PATH}/app`, ...open }, (call) =>
    appPage(call, beginApp(call.core, call.session.userId, issuerOf(call))),
  ),
  page({ id: "addAuthenticatorApp", method: "POST", path: `${PATH}/app`, ...open }, (call) =>
    handleForm(
      call,
      APP,
      async ({ current, ...values }) => {
        await requirePassword(call, current);
        const { core, session } = call;
        return addedReply(
          call,
          await addApp(core, session.userId, values, by(call), session.sessionId),
          "The app is added.",
        );
      },
      (error) => {
        const { core, session, form } = call;
        const same = sameApp(core, session.userId, issuerOf(call), form.get("sealed") ?? "");
        return appPage(call, same ?? beginApp(core, session.userId, issuerOf(call)), error);
      },
    ),
  ),
  page({ id: "addPasskey", method: "POST", path: `${PATH}/passkey`, ...open }, (call) =>
    handleForm(
      call,
      PASSKEY,
      async ({ current, name, credential, client_data, authenticator_data, public_key }) => {
        await requirePassword(call, current);
        const { core, session } = call;
        const made = {
          name,
          credentialId: credential,
          clientData: client_data,
          authenticatorData: authenticator_data,
          publicKey: public_key,
        };
        const codes = await addPasskey(core, session.userId, made, partyOf(call), by(call), session.sessionId);
        return addedReply(call, codes, "The passkey is added.");
      },
      (error) => factorsPage(call, error),
    ),
  ),
  page({ id: "renewRecoveryCodes", method: "POST", path: `${PATH}/codes`, access, own: true }, (call) =>
    handleForm(
      call,
      RENEW,
      async ({ current }) => {
        await requirePassword(call, current);
        const { core, session } = call;
        return addedReply(call, await renewCodes(core, session.userId, by(call), session.sessionId), "");
      },
      (error) => factorsPage(call, error),
    ),
  ),
  page({ id: "removeSecondFactor", method: "POST", path: `${PATH}/remove`, access, own: true }, (call) =>
    handleForm(
      call,
      REMOVE,
      async ({ id, current }) => {
        await requirePassword(call, current);
        await removeFactor(call.core, call.session.userId, id, by(call), call.session.sessionId);
        return redirect(PATH, "It is removed.");
      },
      (error) => factorsPage(call, error),
    ),
  ),
];

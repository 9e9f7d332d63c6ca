import * as v from "valibot";
import {
  CODE_LIMITS,
  createCode,
  createFleetCodes,
  listOpenCodes,
  revokeCode,
} from "../../../../identity/devices/devices.ts";
import { DAY_MS, HOUR_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, forbidden, notFound } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, pageHead, secretOnce, section } from "../../ui/parts.ts";
import { ago, countdown, number, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin, type Member } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { ID, readParams } from "../shared/params.ts";
import { askAnAdmin, exchangeSteps, mayConnect } from "./connect.ts";
import { OTEL_PATH } from "./otel.ts";

/** Connect codes: making one for a machine of one's own or for a fleet, and taking them back. */

/** Whose codes whoever looks may take back: all of the team's (null), or their own. */
const codesOf = (call: Member): string | null => (isAdmin(call) ? null : call.session.userId);

/** The codes that can still be used. */
export function openCodes(call: Member): Html | false {
  const { core, session } = call;
  const now = core.clock.now();
  const codes = listOpenCodes(core, session.team.id, codesOf(call));
  if (codes.length === 0) return false;
  return section({
    title: "Open connect codes",
    intro: "The codes themselves are not stored: make another when one is lost.",
    body: html`${table({
      caption: "Open connect codes",
      columns: [
        { label: "Made by", heading: true, cell: (code) => code.createdBy ?? "unknown" },
        { label: "Made", cell: (code) => ago(code.createdAt, now) },
        { label: "Expires", cell: (code) => countdown(code.expiresAt, now) },
        {
          label: "Machines left",
          numeric: true,
          cell: (code) => `${number(code.uses - code.used)} of ${number(code.uses)}`,
        },
        {
          label: "Actions",
          hidden: true,
          cell: (code) =>
            confirmButton(call, {
              action: "/devices/codes/revoke",
              hidden: { id: code.id },
              label: "Revoke",
              question: `Revoke the code that ${code.createdBy ?? "somebody"} made? No machine can be connected with it then.`,
              confirm: "Revoke code",
              small: true,
            }),
        },
      ],
      rows: codes,
    })}${codes.length === CODE_LIMITS.listed && html`<p class="says">The ${CODE_LIMITS.listed} that live longest are shown; <code>reckon code list</code> has all of them.</p>`}`,
  });
}

/** Shows a code, once. */
function mintedPage(call: Member, code: string, expiresAt: number, intro: Content, use: string): Html {
  const { core, baseUrl, href } = call;
  const main = html`${pageHead({
    title: "Connect a device",
    intro,
    crumbs: [{ label: "Devices", href: href("/devices") }, { label: "Connect" }],
  })}
<div class="stack">${secretOnce({
    label: html`Connect code ${badge("warn", "shown once")}`,
    value: code,
    intro: `Only its fingerprint is stored. ${use}, in any case, with or without dashes.`,
    more: countdown(expiresAt, core.clock.now()),
  })}
${exchangeSteps(baseUrl, code, href(OTEL_PATH))}
<p>${buttonLink("Back to the devices", href("/devices"))}</p></div>`;
  return frame(call, { title: "Connect a device", main });
}

async function mint(call: Member): Promise<Html> {
  const { core, session } = call;
  if (!mayConnect(call)) fail(forbidden, askAnAdmin(call));
  const { code, expiresAt } = await createCode(core, session.team.id, by(call), undefined, session.userId);
  const intro = `Whoever has this code can bind one machine to ${session.team.name}. It will be yours: what its agents do and cost counts as ${session.email}’s.`;
  return mintedPage(call, code, expiresAt, intro, "It works once");
}

/** A whole number from 1 up. */
const wholeUpTo = (max: number) => {
  const message = `Choose a whole number from 1 to ${number(max)}.`;
  return v.pipe(
    trimmed,
    v.regex(/^\d{1,9}$/, message),
    v.transform(Number),
    v.minValue(1, message),
    v.maxValue(max, message),
  );
};

const MAX_HOURS = CODE_LIMITS.maxBindingMs / HOUR_MS;

const FLEET = formSpec(
  {
    uses: {
      kind: "number",
      label: "Machines",
      hint: "How many it may connect.",
      required: true,
      min: 1,
      max: CODE_LIMITS.maxUses,
      schema: wholeUpTo(CODE_LIMITS.maxUses),
    },
    days: {
      kind: "number",
      label: "Days",
      hint: "How long it works. It can be revoked before.",
      required: true,
      min: 1,
      max: CODE_LIMITS.maxFleetDays,
      schema: wholeUpTo(CODE_LIMITS.maxFleetDays),
    },
    hours: {
      kind: "number",
      label: "Hours each is bound",
      hint: "For machines that live for one job, as in CI: they end by themselves, count no more then, and nobody is told that they are quiet. Empty for machines that stay.",
      min: 1,
      max: MAX_HOURS,
      schema: v.union([
        v.pipe(
          trimmed,
          v.literal(""),
          v.transform(() => null),
        ),
        wholeUpTo(MAX_HOURS),
      ]),
    },
  },
  "No code was made. See below what has to change.",
);

function fleetPage(call: PageCall<"admin">, error?: FormError): Html {
  const { href } = call;
  const main = html`${pageHead({
    title: "Connect many machines",
    intro:
      "One code for machines that are set up in numbers: build machines, or a fleet that a management tool looks after.",
    crumbs: [{ label: "Devices", href: href("/devices") }, { label: "Many machines" }],
  })}
${section({
  title: "A code for a fleet",
  intro: "Its machines belong to nobody until each is assigned, on its page.",
  framed: true,
  body: FLEET.draw(call, {
    action: FLEET_PATH,
    values: { uses: 10, days: 30, hours: "" },
    error,
    submit: "Make the code",
  }),
})}`;
  return frame(call, { title: "Connect many machines", main });
}

export const FLEET_PATH = "/devices/fleet";

const mintFleet = (call: PageCall<"admin">) =>
  handleForm(
    call,
    FLEET,
    async ({ uses, days, hours }) => {
      const { core, session } = call;
      const bindsForMs = hours === null ? null : hours * HOUR_MS;
      const how = { count: 1, uses, lifetimeMs: days * DAY_MS, bindsForMs };
      const [made] = await createFleetCodes(core, session.team.id, how, by(call));
      if (!made) throw new Error("no code was made");
      const intro = `Whoever has this code can bind machines to ${session.team.name}. They are nobody’s until they are assigned.`;
      return mintedPage(call, made.code, made.expiresAt, intro, `It works for ${plural(uses, "machine")}`);
    },
    (error) => fleetPage(call, error),
  );

export const codePages = [
  page({ id: "mintCode", method: "POST", path: "/devices/codes", access: "member", narrows: true }, mint),
  // The address of the browser after minting: opening it again must not mint again.
  page({ id: "mintedCode", method: "GET", path: "/devices/codes", access: "member", narrows: true }, () =>
    redirect("/devices"),
  ),
  page({ id: "fleetCode", method: "GET", path: FLEET_PATH, access: "admin" }, (call) => fleetPage(call)),
  page({ id: "mintFleetCode", method: "POST", path: FLEET_PATH, access: "admin" }, mintFleet),
  page(
    { id: "revokeCode", method: "POST", path: "/devices/codes/revoke", access: "member", narrows: true },
    async (call) => {
      const { core, session, form } = call;
      if (!(await revokeCode(core, session.team.id, readParams(ID, form).id, by(call), codesOf(call))))
        fail(notFound, "There is no such open code: it was used, has expired, or was revoked before.");
      return redirect("/devices", "The connect code is revoked.");
    },
  ),
];

import * as v from "valibot";
import { countDevices } from "../../../../identity/devices/devices.ts";
import { issueLicense, judgeSubscription, MAX_LICENSE_DAYS } from "../../../../identity/license/license.ts";
import { findMember } from "../../../../identity/members/members.ts";
import { getTeam, type Team } from "../../../../identity/teams/teams.ts";
import { isoDate } from "../../../../kit/clock.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { listEvents } from "../../../../platform/audit/audit.ts";
import { download, type PageCall, page } from "../../../../platform/http/page.ts";
import { listKeys } from "../../../../platform/keys/keys.ts";
import { buttonLink } from "../../ui/button.ts";
import { wrongFlash } from "../../ui/form.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { empty, pageHead, section, stats } from "../../ui/parts.ts";
import { ago, dayOf, isInstant, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { checkCommands, keySection, pemFilename, publicKeyPage } from "./keys.ts";
import { stateWords } from "./labels.ts";

/** What the team has paid for, licences for where there is no network, and the keys that sign them. */

type Member = PageCall<"member" | "admin">;

/** @throws Problem (404) where nobody pays */
function requireBilling({ core }: Member): void {
  if (core.config.billing === "off") fail(notFound, "This installation shows no licences (RECKON_BILLING=off).");
}

const MINTS_SHOWN = 10;

/** What a licence is called once it is downloaded: the team and the day. */
function licenseFilename({ id, name }: Pick<Team, "id" | "name">, now: number): string {
  const slug = name
    .normalize("NFKD")
    .toLowerCase()
    .replace(/\p{M}/gu, "")
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 40)
    .replace(/^-+|-+$/g, "");
  return `reckon-${slug || id}-${isoDate(now)}.lic`;
}

const day = (at: number | null, none: string) => (isInstant(at) ? dayOf(at) : none);

async function licensePage(call: Member, error?: FormError): Promise<Html> {
  requireBilling(call);
  const { core, session } = call;
  const now = core.clock.now();
  const team = getTeam(core, session.team.id);
  const entitlement = judgeSubscription(team, now);
  const state = stateWords(team, entitlement, now);
  const { active } = countDevices(core, team.id, now);
  const over = active > team.seats;
  const main = html`${pageHead({ title: "Licence", intro: html`What ${team.name} has paid for, and the signed statement of it that proves it offline.` })}
${stats([
  { label: "Subscription", value: state.name, sub: `tier ${team.tier}`, tone: state.kind },
  {
    label: "Seats used",
    value: `${number(active)} of ${number(team.seats)}`,
    sub: over ? "more devices than seats" : "devices that can report",
    href: call.href("/devices"),
    tone: over ? "warn" : undefined,
  },
  {
    label: "Paid until",
    value: day(team.periodEndAt, "No end"),
    sub: team.periodEndAt !== null && ago(team.periodEndAt, now),
  },
  { label: "Licence lifetime", value: plural(core.config.licenseDays, "day"), sub: "unless asked otherwise" },
])}
<p class="says">${state.means} ${over && html`More devices can report than seats are paid for; nothing is refused for that. `}Whoever runs this installation changes subscription and seats, with <code>reckon team set</code> too.</p>
${core.config.signing === "off" && html`<div class="flash warn">Signing is switched off on this installation (<code>RECKON_SIGNING=off</code>). No licence can be minted: devices that ask for one are told so (503), and no public key is published (501). Licences given out before stay valid, and verify with the keys below.</div>`}
${mintSection(call, team, entitlement.licensed ? entitlement.until : undefined, error)}
${isAdmin(call) && (await mintTable(call, now))}
${keySection(call, now)}`;
  return frame(call, { title: "Licence", main });
}

const MINT = formSpec({
  days: {
    kind: "number",
    label: "Days it is valid",
    min: 1,
    max: MAX_LICENSE_DAYS,
    required: true,
    schema: v.pipe(
      trimmed,
      v.transform((text) => (/^\d{1,6}$/.test(text) ? Number(text) : Number.NaN)),
    ),
  },
});

/** @param until when a licence minted now ends at the latest; undefined when there can be none */
function mintSection(call: Member, team: Team, until: number | null | undefined, error: FormError | undefined): Html {
  const { core, href } = call;
  const wrong = error && `Nothing was minted: ${error.problem.message}.`;
  const now = core.clock.now();
  const admin = isAdmin(call);
  if (core.config.signing === "off" || until === undefined) return html`${wrong && wrongFlash(wrong)}`;
  const key = listKeys(core).find(({ retiredAt }) => retiredAt === null);
  const hint =
    until === null
      ? `1 to ${number(MAX_LICENSE_DAYS)}.`
      : html`1 to ${number(MAX_LICENSE_DAYS)}, but it ends ${time(until, now)} at the latest, with the paid period and its grace.`;
  const mint = MINT.draw(call, {
    action: "/license/mint",
    values: { days: core.config.licenseDays },
    error,
    wrong,
    vary: { days: { hint } },
    submit: "Mint and download",
  });
  return html`${section({
    title: "A licence as a file",
    intro:
      "For a site without a network: it names the team, its seats and its tier, and is checked with the public key alone. Connected devices get theirs by themselves.",
    framed: admin,
    body: admin ? mint : html`<p class="says">Owners and admins of the team can mint one.</p>`,
  })}
${
  key &&
  section({
    title: "Check it anywhere",
    intro: "Carry the licence and the public key across, then:",
    actions: buttonLink("Download the public key", href(`/license/keys/${key.kid}`), { small: true }),
    body: checkCommands(licenseFilename(team, now), pemFilename(key.kid)),
  })
}
`;
}

async function mintTable({ core, session }: Member, now: number): Promise<Html> {
  const { rows } = await listEvents(core, { teamId: session.team.id, action: "license.minted" }, MINTS_SHOWN);
  return section({
    title: "Minted lately",
    body: table({
      caption: "Licences minted lately",
      columns: [
        { label: "When", heading: true, cell: ({ at }) => time(at, now) },
        {
          label: "By",
          grow: true,
          cell: ({ actorId, actorLabel }) => findMember(core, session.team.id, actorId ?? "")?.email ?? actorLabel,
        },
        { label: "From", cell: ({ ip }) => ip ?? "–" },
        {
          label: "Days asked",
          numeric: true,
          cell: ({ detail }) => (typeof detail.days === "number" ? detail.days : "–"),
        },
        { label: "Valid until", cell: ({ detail }) => time(Date.parse(String(detail.expiresAt)), now) },
      ],
      rows,
      empty: empty({
        title: "None yet",
        intro: "Every licence that a person mints is listed here and in the audit, with who and from where.",
      }),
    }),
  });
}

const mint = (call: PageCall<"admin">) => {
  requireBilling(call);
  return handleForm(
    call,
    MINT,
    async ({ days }) => {
      const { core, session } = call;
      const { license } = await issueLicense(core, session.team.id, days, by(call));
      return download(licenseFilename(session.team, core.clock.now()), "application/jwt", `${license}\n`);
    },
    (error) => licensePage(call, error),
  );
};

export const licensePages = [
  page({ id: "license", method: "GET", path: "/license", access: "member" }, (call) => licensePage(call)),
  page({ id: "mintLicense", method: "POST", path: "/license/mint", access: "admin" }, mint),
  publicKeyPage,
];

import type { Core } from "../../../../core.ts";
import {
  assignDevice,
  type Device,
  deviceErasure,
  findDeviceOf,
  renameDevice,
  revokeDevice,
} from "../../../../identity/devices/devices.ts";
import { listDeviceReads } from "../../../../insight/ask/ask.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { violationsOf } from "../../../../record/policy/policy.ts";
import { deviceTotals, listStreams } from "../../../../record/telemetry/telemetry.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { type FormError, formSpec, trimmed } from "../../ui/form-spec.ts";
import { table } from "../../ui/list.ts";
import { badge, empty, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { by, isAdmin, type Member } from "../shared/call.ts";
import { handleForm } from "../shared/forms.ts";
import { link } from "../shared/links.ts";
import { NOBODY } from "../shared/people.ts";
import { STREAMS_HELP, streamTable } from "../telemetry/streams.ts";
import { command, telemetryCommand } from "./connect.ts";
import { deviceName, stateBadge } from "./list.ts";

/** One device: what is known of it, what it sent, its name, its end. */

/** @throws Problem (404) for a device that the team does not have, or that is not the member's */
function getDevice(call: PageCall<"member" | "admin">): Device {
  const { core, session, params } = call;
  const device = findDeviceOf(core, session.team.id, params.id ?? "");
  if (!device || !(isAdmin(call) || device.personId === session.userId))
    fail(notFound, isAdmin(call) ? "The team has no such device." : "You have no such device in this team.");
  return device;
}

function stateSays({ status, lastSeenAt }: Device, gone: boolean): string {
  if (gone)
    return "What it sent was erased, and its tokens do not work any more. To bring the machine back, connect it again.";
  if (status === "revoked")
    return "Its tokens do not work any more. What it sent stays. To bring the machine back, connect it again.";
  if (status === "expired")
    return "Its token ran out before the machine replaced it, so it cannot report. Connect it again; it comes back as a new device.";
  return lastSeenAt === null ? "It is connected and has not reported yet." : "Connected.";
}

function devicePage(call: Member, error?: FormError): Html {
  const { core, session, href } = call;
  const device = getDevice(call);
  const now = core.clock.now();
  const gone = deviceErasure.isErased(core, session.team.id, device.id);
  const streams = listStreams(core, session.team.id, { deviceIds: [device.id] });
  const main = html`${pageHead({
    title: deviceName(device),
    intro: stateSays(device, gone),
    crumbs: [{ label: "Devices", href: href("/devices") }, { label: deviceName(device) }],
    actions: [
      buttonLink("Sessions", link(call, "/sessions", { device: device.id })),
      buttonLink("Telemetry", link(call, "/telemetry", { device: device.id })),
      buttonLink("Spend", link(call, "/spend", { person: device.personId ?? NOBODY, by: "device" })),
    ],
  })}
${section({ title: "Facts", framed: true, body: deviceFacts(core, device, now) })}
${section({
  title: "Streams",
  help: gone ? undefined : STREAMS_HELP,
  body: streamTable(
    call,
    streams,
    "device",
    html`<div class="stack">${empty({ title: "Nothing sent yet", intro: "Its first entry begins a stream. The machine sends entries with its device token." })}${device.status === "active" && command(telemetryCommand(call.baseUrl))}</div>`,
  ),
})}
${readsSection(core, device, now)}
${!gone && manage(call, device, error)}`;
  return frame(call, { title: deviceName(device), main });
}

/** What its agents asked of the record; nothing where none did. */
function readsSection(core: Core, device: Device, now: number): Content {
  const reads = listDeviceReads(core, device.id);
  if (reads.length === 0) return undefined;
  return section({
    title: "Read by its agents",
    body: table({
      caption: "Reads",
      columns: [
        { label: "When", heading: true, cell: ({ at }) => time(at, now) },
        { label: "Tool", grow: true, cell: ({ tool }) => html`<code>${tool}</code>` },
        {
          label: "Shown",
          numeric: true,
          cell: ({ total, shown }) => (total === 0 ? "none" : `${number(shown)} of ${number(total)}`),
        },
        { label: "From", cell: ({ ip }) => ip },
      ],
      rows: reads,
    }),
  });
}

function deviceFacts(core: Core, device: Device, now: number): Content {
  const { deliveries, lastAt } = violationsOf(core, [device.id])(device.id);
  return facts([
    { label: "State", value: stateBadge(device, now) },
    { label: "Device id", value: html`<code>${device.id}</code>` },
    { label: "Person", value: whose(device) },
    { label: "Connected", value: time(device.createdAt, now) },
    { label: "Last seen", value: ago(device.lastSeenAt, now, "never") },
    { label: "Program", value: device.userAgent },
    { label: "Accepted consent", value: html`version ${device.consentVersion}` },
    lifetime(device, now),
    { label: "Revoked", value: device.revokedAt !== null && time(device.revokedAt, now) },
    { label: "Entries", value: number(deviceTotals(core, [device.id]).get(device.id)?.entries ?? 0) },
    {
      label: "Against the policy",
      value:
        deliveries > 0 &&
        html`${badge("warn", plural(deliveries, "delivery", "deliveries"))}, the last ${ago(lastAt, now, "")}. <span class="muted">They brought more than the policy lets be recorded, and that was not stored. Look at how this machine’s agents are set up.</span>`,
    },
  ]);
}

/** For how long it can report, unless somebody ends it. */
function lifetime({ endsAt, status, tokenExpiresAt }: Device, now: number) {
  const past = status === "expired";
  if (status === "revoked") return { label: "Token expires", value: undefined };
  if (endsAt !== null)
    return {
      label: past ? "Ended" : "Ends",
      value: html`${time(endsAt, now)} <span class="muted">· connected for one job</span>`,
    };
  return {
    label: past ? "Token expired" : "Token expires",
    value: html`${time(tokenExpiresAt, now, "never")} <span class="muted">· replaced by the machine before then</span>`,
  };
}

const whose = ({ person }: Device): Content =>
  person
    ? html`${person.name === null ? "" : `${person.name}, `}${person.email}${person.disabledAt !== null && html` ${badge("neutral", "account closed")}`}`
    : "nobody’s";

const PERSON = formSpec({
  email: {
    kind: "email",
    label: "E-mail address",
    hint: "Of somebody in the team; blank for nobody.",
    autocomplete: "off",
    schema: trimmed,
  },
});

const LABEL = formSpec({
  label: { kind: "text", label: "Label", hint: "What people call this machine. Its id stays.", maxLength: 200 },
});

function manage(call: Member, device: Device, error?: FormError): Html {
  const own = `/devices/${device.id}`;
  return html`${
    isAdmin(call) &&
    section({
      title: "Whose it is",
      framed: true,
      intro: "What its agents did and cost counts as this person’s, from its first day on.",
      body: PERSON.draw(call, {
        action: `${own}/person`,
        values: { email: device.person?.email },
        error,
        submit: "Assign",
      }),
    })
  }
${section({
  title: "Rename",
  framed: true,
  body: LABEL.draw(call, { action: `${own}/rename`, values: device, submit: "Save" }),
})}
${
  device.status !== "revoked" &&
  section({
    title: "Revoke",
    framed: true,
    intro: "For a machine that is lost or retired. What it sent stays in the record.",
    body: confirmButton(call, {
      action: `${own}/revoke`,
      label: "Revoke this device",
      question: `Revoke “${deviceName(device)}”? Its token stops working at once and the machine has to be connected again to report.`,
      confirm: "Revoke device",
    }),
  })
}`;
}

export const deviceDetailPages = [
  page({ id: "device", method: "GET", path: "/devices/:id", access: "member", narrows: true }, (call) =>
    devicePage(call),
  ),
  page({ id: "assignDevice", method: "POST", path: "/devices/:id/person", access: "admin" }, (call) =>
    handleForm(
      call,
      PERSON,
      async ({ email }) => {
        const { core, session } = call;
        const { id } = getDevice(call);
        await assignDevice(core, id, email || null, by(call), session.team.id);
        return redirect(`/devices/${id}`, email ? `The device is ${email}’s now.` : "The device is nobody’s now.");
      },
      (error) => devicePage(call, error),
    ),
  ),
  page(
    { id: "renameDevice", method: "POST", path: "/devices/:id/rename", access: "member", narrows: true },
    async (call) => {
      const { core, session, form } = call;
      const { id } = getDevice(call);
      await renameDevice(core, session.team.id, id, LABEL.read(form).label, by(call));
      return redirect(`/devices/${id}`, "The device is renamed.");
    },
  ),
  page(
    { id: "revokeDevice", method: "POST", path: "/devices/:id/revoke", access: "member", narrows: true },
    async (call) => {
      const { core, session } = call;
      const device = getDevice(call);
      const done = await revokeDevice(core, device.id, by(call), session.team.id);
      const intro = done ? `“${deviceName(device)}” is revoked.` : `“${deviceName(device)}” was revoked before.`;
      return redirect(`/devices/${device.id}`, intro);
    },
  ),
];

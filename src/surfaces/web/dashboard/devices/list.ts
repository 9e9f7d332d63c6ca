import type { Core } from "../../../../core.ts";
import type { Device } from "../../../../identity/devices/devices.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { isQuiet } from "../../../../kit/quiet.ts";
import { violationsOf } from "../../../../record/policy/policy.ts";
import type { DeviceTotals } from "../../../../record/telemetry/telemetry.ts";
import { deviceTotals } from "../../../../record/telemetry/telemetry.ts";
import { anchor, badge, empty } from "../../ui/parts.ts";
import { ago, number, plural } from "../../ui/units.ts";
import { isAdmin, type Member } from "../shared/call.ts";
import { list } from "../shared/list.ts";
import { choice, readParams, selectFilter, words } from "../shared/params.ts";
import { devicesOf, personFilter, personName } from "../shared/people.ts";

interface DeviceOverview extends Device, Omit<DeviceTotals, "deviceId"> {
  /** Deliveries that brought what the policy does not let be recorded. */
  readonly againstPolicy: number;
}

const NOTHING_SENT = { streams: 0, entries: 0, conflicts: 0, missing: 0 };

/** Some devices with what they sent. */
export function deviceOverview(core: Core, devices: readonly Device[]): DeviceOverview[] {
  const ids = devices.map(({ id }) => id);
  const totals = deviceTotals(core, ids);
  const violations = violationsOf(core, ids);
  return devices.map((device) => ({
    ...device,
    ...(totals.get(device.id) ?? NOTHING_SENT),
    againstPolicy: violations(device.id).deliveries,
  }));
}

/** Those that whoever looks may see, the one bound last first: all of the team's, or their own. */
const visibleDevices = (call: Member, all: readonly Device[]): Device[] =>
  all.filter(({ personId }) => isAdmin(call) || personId === call.session.userId).reverse();

const PAGE_SIZE = 50;
const STATES = ["", "active", "quiet", "expired", "ended", "revoked", "all"] as const;
type State = (typeof STATES)[number];

/** What a device is called: its label, or else its id. */
export const deviceName = ({ id, label }: Pick<Device, "id" | "label">): string => label ?? id;

/** A device's state at a glance. */
export function stateBadge(device: Device, now: number): Html {
  if (device.status === "revoked") return badge("neutral", "revoked");
  if (device.status === "expired")
    return device.endsAt === null ? badge("bad", "token expired") : badge("neutral", "ended");
  const isHeard = device.lastSeenAt !== null;
  // One that never sent anything may have lost the reply to its connect, so that nobody has its token.
  if (isQuiet(device.silentSince, now)) return badge("warn", isHeard ? "quiet" : "never used");
  return isHeard ? badge("good", "active") : badge("info", "connected");
}

/** What is wrong in a device's streams, in a few words. */
function flawBadges({
  missing,
  conflicts,
  againstPolicy = 0,
}: Pick<DeviceOverview, "missing" | "conflicts"> & { readonly againstPolicy?: number }): Html {
  return html`${againstPolicy > 0 && badge("warn", `${number(againstPolicy)} against the policy`)} ${missing > 0 && badge("warn", `${plural(missing, "missing entry", "missing entries")}`)} ${conflicts > 0 && badge("bad", plural(conflicts, "conflict"))}`;
}

function isIn(state: State, device: Device, now: number): boolean {
  if (state === "all") return true;
  const hasEnded = device.status === "expired" && device.endsAt !== null;
  if (state === "") return device.status !== "revoked" && !hasEnded;
  if (state === "ended") return hasEnded;
  if (state === "expired") return device.status === "expired" && !hasEnded;
  if (state === "quiet") return isQuiet(device.silentSince, now);
  return device.status === state;
}

/** A team's devices with their filters. @param devices all of the team's */
export function deviceList(call: Member, devices: Device[], none: Content): Html {
  const { core, query, href } = call;
  const now = core.clock.now();
  const all = visibleDevices(call, devices);
  if (all.length === 0) return html`<div id="results" data-count="0">${none}</div>`;
  const { state = "", q, person } = readParams({ state: choice(STATES), q: words(256), person: words(64) }, query);
  const text = q.toLowerCase();
  const found = devicesOf(all, person).filter(
    (device) =>
      isIn(state, device, now) &&
      (text === "" ||
        [device.id, device.label, device.userAgent, device.person?.email, device.person?.name].some((value) =>
          value?.toLowerCase().includes(text),
        )),
  );
  // Devices are listed newest first, and so are their ids. A page begins below the id where the page before ended; that device may be gone
  // from the list since.
  const after = query.get("after") ?? "";
  const from = after === "" ? 0 : found.filter(({ id }) => id >= after).length;
  const shown = deviceOverview(core, found.slice(from, from + PAGE_SIZE));
  return list(call, {
    path: "/devices",
    params: { state, q, person },
    id: "results",
    label: "Filter devices",
    filters: [
      { kind: "search", name: "q", label: "Search", value: q, placeholder: "Label, id, person or program" },
      selectFilter({ name: "state", label: "State", value: state }, "All that have not ended", [
        { value: "active", label: "Can report" },
        { value: "quiet", label: "Not seen for three days" },
        { value: "expired", label: "Token expired" },
        { value: "ended", label: "Ended with their job" },
        { value: "revoked", label: "Revoked" },
        { value: "all", label: "All" },
      ]),
      ...(isAdmin(call) ? personFilter(all, person) : []),
    ],
    count: found.length,
    table: {
      caption: "Devices",
      columns: [
        { label: "Device", heading: true, cell: (device) => anchor(href(`/devices/${device.id}`), deviceName(device)) },
        isAdmin(call) && {
          label: "Person",
          cell: ({ person }) => (person ? personName(person) : html`<span class="muted">nobody’s</span>`),
        },
        { label: "State", cell: (device) => stateBadge(device, now) },
        { label: "Last seen", cell: (device) => ago(device.lastSeenAt, now, "never") },
        { label: "Program", cell: (device) => html`<span class="muted">${device.userAgent ?? "–"}</span>` },
        { label: "Streams", numeric: true, cell: (device) => device.streams },
        {
          label: "Record",
          cell: (device) =>
            device.missing + device.conflicts + device.againstPolicy > 0
              ? flawBadges(device)
              : html`<span class="muted">${device.streams === 0 ? "–" : "complete"}</span>`,
        },
      ],
      rows: shown,
      empty: empty({
        title: "No device like that",
        intro:
          q === "" && state === "" && person === ""
            ? "All of the devices have ended. Connect one, or choose “All” to see those."
            : "No device matches these filters.",
      }),
    },
    pages: {
      first: from > 0,
      older: { after: from + PAGE_SIZE < found.length ? shown.at(-1)?.id : undefined },
      intro:
        found.length > PAGE_SIZE ? `${from + 1} to ${from + shown.length} of ${plural(found.length, "device")}` : "",
    },
  });
}

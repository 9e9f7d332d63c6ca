import type { Core } from "../../../../core.ts";
import { type Device, listDevices } from "../../../../identity/devices/devices.ts";
import { DAY_MS } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { type DeviceTotals, deviceTotals } from "../../../../record/telemetry/telemetry.ts";
import { badge } from "../../ui/badge.ts";
import { empty } from "../../ui/empty.ts";
import { filters } from "../../ui/filters.ts";
import { pager } from "../../ui/pager.ts";
import { table } from "../../ui/table.ts";
import { ago } from "../../ui/time.ts";
import { plural } from "../../ui/units.ts";

type Member = PageCall<"member">;

interface DeviceOverview extends Device, Omit<DeviceTotals, "deviceId"> {}

const NOTHING_SENT = { streams: 0, entries: 0, conflicts: 0, missing: 0 };

/** A team's devices, the one bound last first, with what they sent. */
export function deviceOverview(core: Core, teamId: string): DeviceOverview[] {
  const totals = deviceTotals(core, teamId);
  return listDevices(core, teamId)
    .map((device) => ({ ...device, ...(totals.get(device.id) ?? NOTHING_SENT) }))
    .reverse();
}

const PAGE_SIZE = 50;
const STATES = ["", "active", "quiet", "expired", "revoked", "all"] as const;
type State = (typeof STATES)[number];

/** What a device is called: its label, or else its id. */
export const deviceName = ({ id, label }: Pick<Device, "id" | "label">): string => label ?? id;

/** Whether a device was heard of in the last 24 hours. */
export const isAlive = ({ lastSeenAt }: Pick<Device, "lastSeenAt">, now: number): boolean =>
  lastSeenAt !== null && lastSeenAt >= now - DAY_MS;

/** A device's state at a glance. */
export function stateBadge(device: Device, now: number): Html {
  if (device.status === "revoked") return badge("neutral", "revoked");
  if (device.status === "expired") return badge("bad", "token expired");
  if (device.lastSeenAt === null) return badge("info", "connected");
  return isAlive(device, now) ? badge("good", "active") : badge("warn", "quiet");
}

/** What is wrong in a device's streams, in a few words. */
export function flawBadges({ missing, conflicts }: Pick<DeviceOverview, "missing" | "conflicts">): Html {
  return html`${missing > 0 && badge("warn", `${plural(missing, "missing entry", "missing entries")}`)} ${conflicts > 0 && badge("bad", plural(conflicts, "conflict"))}`;
}

function isIn(state: State, device: Device, now: number): boolean {
  if (state === "all") return true;
  if (state === "") return device.status !== "revoked";
  if (state === "quiet") return device.status === "active" && !isAlive(device, now);
  return device.status === state;
}

/** A team's devices with their filters. */
export function deviceList(call: Member, none: Content): Html {
  const { core, session, query, href } = call;
  const now = core.clock.now();
  const state = STATES.find((one) => one === query.get("state")) ?? "";
  const text = (query.get("q") ?? "").trim().slice(0, 256);
  const all = deviceOverview(core, session.team.id);
  if (all.length === 0) return html`<div id="results" data-count="0">${none}</div>`;
  const words = text.toLowerCase();
  const found = all.filter(
    (one) =>
      isIn(state, one, now) && [one.id, one.label, one.userAgent].some((value) => value?.toLowerCase().includes(words)),
  );
  // Devices stand newest first and so do their ids; a page begins below the last one's.
  const after = query.get("after") ?? "";
  const from = after === "" ? 0 : Math.max(0, found.findIndex(({ id }) => id === after) + 1);
  const shown = found.slice(from, from + PAGE_SIZE);
  const at = (last: string | undefined) => {
    const to = new URLSearchParams(Object.entries({ state, q: text, after: last ?? "" }).filter(([, value]) => value));
    return href(`/devices${to.size > 0 ? `?${to}` : ""}`);
  };
  return html`${filters({
    action: href("/devices"),
    label: "Filter devices",
    live: "#results",
    filters: [
      { kind: "search", name: "q", label: "Search", value: text, placeholder: "Label, id or program" },
      {
        kind: "select",
        name: "state",
        label: "State",
        value: state,
        options: [
          { value: "", label: "All but revoked" },
          { value: "active", label: "Can report" },
          { value: "quiet", label: "Not heard of for a day" },
          { value: "expired", label: "Token expired" },
          { value: "revoked", label: "Revoked" },
          { value: "all", label: "All" },
        ],
      },
    ],
  })}
<div id="results" data-count="${found.length}">${table({
    caption: "Devices",
    columns: [
      { label: "Device", heading: true },
      { label: "State" },
      { label: "Last seen" },
      { label: "Program" },
      { label: "Streams", numeric: true },
      { label: "Record" },
    ],
    rows: shown.map((one) => [
      html`<a href="${href(`/devices/${one.id}`)}">${deviceName(one)}</a>`,
      stateBadge(one, now),
      ago(one.lastSeenAt, now, "never"),
      html`<span class="muted">${one.userAgent ?? "–"}</span>`,
      one.streams,
      one.missing + one.conflicts > 0
        ? flawBadges(one)
        : html`<span class="muted">${one.streams === 0 ? "–" : "complete"}</span>`,
    ]),
    empty: empty({
      title: "No device like that",
      says:
        text === "" && state === ""
          ? "All of the team's devices are revoked. Connect one, or choose “All” to see those."
          : "No device matches these filters.",
    }),
  })}${pager({
    first: from > 0 ? at(undefined) : undefined,
    older: from + PAGE_SIZE < found.length ? at(shown.at(-1)?.id) : undefined,
    says: found.length > PAGE_SIZE ? `${from + 1} to ${from + shown.length} of ${plural(found.length, "device")}` : "",
    labels: { newer: "Newer", older: "Older" },
  })}</div>`;
}

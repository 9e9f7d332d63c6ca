import * as v from "valibot";
import { isOf } from "../../identity/api-tokens/api-tokens.ts";
import { type Device, listDevices } from "../../identity/devices/devices.ts";
import { instantOrNull, isoInstant } from "../../kit/clock.ts";
import { pageSize } from "../../kit/page.ts";
import { compareText } from "../../kit/strings.ts";
import { Count, Instant } from "../../platform/http/fields.ts";
import { deviceTotals } from "../../record/telemetry/telemetry.ts";
import { filter, PAGED, PERSON, pageOf, Text, When } from "./fields.ts";
import { reading } from "./reading.ts";

const STATUSES = ["active", "expired", "revoked"] as const;

const Item = v.object({
  id: v.string(),
  label: Text,
  person: v.pipe(
    v.nullable(v.object({ id: v.string(), email: v.string(), name: Text })),
    v.description("The person it is assigned to; null for nobody."),
  ),
  status: v.picklist(STATUSES),
  userAgent: v.pipe(Text, v.description("What it calls its program.")),
  createdAt: Instant,
  lastSeenAt: When,
  tokenExpiresAt: When,
  revokedAt: When,
  entries: v.pipe(Count, v.description("Telemetry entries that it sent.")),
  missing: v.pipe(Count, v.description("Sequence numbers that never arrived.")),
  conflicts: v.pipe(Count, v.description("Entries that contradict what came before.")),
});

/** The team's devices, the one bound first first. */
export const deviceList = reading(
  {
    id: "readDevices",
    path: "/api/devices",
    summary: "List devices",
    query: v.strictObject({
      device: filter("The device's id."),
      person: PERSON,
      status: v.optional(
        v.pipe(v.picklist(STATUSES), v.description("`expired`: its token ran out before it was rotated.")),
      ),
      ...PAGED,
    }),
    ok: pageOf(Item),
    example: {
      query: { status: "active" },
      ok: {
        ok: true,
        items: [
          {
            id: "dev_06a15c9c007x7v3w3nbxrw2s5m",
            label: "ada-laptop",
            person: { id: "usr_06a15c9c007x7v3w3nbxrw2s5m", email: "ada@example.com", name: null },
            status: "active",
            userAgent: "reckon-agent/1.0",
            createdAt: "2026-11-02T09:00:00.000Z",
            lastSeenAt: "2026-11-21T08:12:31.000Z",
            tokenExpiresAt: "2027-02-19T08:00:00.000Z",
            revokedAt: null,
            entries: 1_204,
            missing: 0,
            conflicts: 0,
          },
        ],
        next: null,
      },
    },
  },
  ({ core, teamId, query: { device, person, status }, limit, place = "", next }) => {
    const isTheirs = person === undefined ? () => true : isOf(person);
    const fits = (one: Device) =>
      one.id > place &&
      (device === undefined || one.id === device) &&
      (status === undefined || one.status === status) &&
      isTheirs(one);
    // Ids sort by when they were made, and stay.
    const beyond = listDevices(core, teamId)
      .filter(fits)
      .sort((a, b) => compareText(a.id, b.id));
    const page = beyond.slice(0, pageSize(limit));
    const totals = deviceTotals(
      core,
      page.map(({ id }) => id),
    );
    const items = page.map((one) => {
      const { entries = 0, missing = 0, conflicts = 0 } = totals.get(one.id) ?? {};
      return { ...described(one), entries, missing, conflicts };
    });
    return { items, next: next(beyond.length > page.length ? page.at(-1)?.id : undefined) };
  },
);

const described = ({ id, label, person, status, userAgent, ...at }: Device) => ({
  id,
  label,
  person: person && { id: person.id, email: person.email, name: person.name },
  status,
  userAgent,
  createdAt: isoInstant(at.createdAt),
  lastSeenAt: instantOrNull(at.lastSeenAt),
  tokenExpiresAt: instantOrNull(at.tokenExpiresAt),
  revokedAt: instantOrNull(at.revokedAt),
});

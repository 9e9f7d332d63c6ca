import * as v from "valibot";
import { WIRE_FINGERPRINT } from "../../formats/errors/fingerprint.ts";
import { device } from "../../identity/devices/devices.ts";
import { teamMoves, tierGate } from "../../identity/teams/teams.ts";
import { DAY_MS, isoInstant } from "../../kit/clock.ts";
import { isObject } from "../../kit/json.ts";
import { fail, malformed } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { inShape } from "../../platform/http/faults.ts";
import {
  Counter,
  DateTime,
  Instant,
  identifier,
  identifierSchema,
  RepoKey,
  repoKeyOf,
} from "../../platform/http/fields.ts";
import { redactText } from "../../redact/redact.ts";
import { admit, Intake } from "../intake/intake.ts";
import { cleanRepoKey, digestOfSent } from "../sent-body/sent-body.ts";
import { rows } from "./rows.ts";

const MAX_COUNTS = 64;
const MAX_NAME_CHARS = 64;
const MAX_FINGERPRINTS = 1_000;
const MAX_BYTES = 128 * 1024;

/** Names that valibot leaves out of records without a word. */
const RESERVED = ["__proto__", "constructor", "prototype"];

const Counts = v.pipe(
  v.unknown(),
  v.check(isObject, "must be an object"),
  v.check(
    (value) => !isObject(value) || Object.keys(value).length <= MAX_COUNTS,
    `must have at most ${MAX_COUNTS} members`,
  ),
  v.check(
    (value) => !isObject(value) || !RESERVED.some((name) => Object.hasOwn(value, name)),
    `must have no member named ${RESERVED.join(", ")}`,
  ),
  v.record(identifier(MAX_NAME_CHARS), Counter),
  v.description("Whole numbers by name, of the client's own choosing."),
  v.metadata({
    maxProperties: MAX_COUNTS,
    propertyNames: { ...identifierSchema(MAX_NAME_CHARS), not: { enum: RESERVED } },
  }),
);

/** The handler says what is wrong with an earlier one. */
const FROM_1970 = "^(?:19[7-9]|[2-9][0-9]{2})[0-9]-";

const BrainPulse = v.object({
  repoKey: v.optional(RepoKey),
  at: v.pipe(
    DateTime,
    v.description("When the figures were taken; not before 1970."),
    v.metadata({ pattern: FROM_1970 }),
  ),
  counts: Counts,
  fingerprints: v.pipe(
    v.array(v.pipe(v.string(), v.regex(WIRE_FINGERPRINT, "must be 8 lower-case hexadecimal digits"))),
    v.maxLength(MAX_FINGERPRINTS, `must have at most ${MAX_FINGERPRINTS} items`),
    v.description("First 8 hexadecimal digits of the fingerprints of errors that the device knows of."),
  ),
});

/** Takes a device's figures on a repository's brain. It keeps the newest: what comes late is answered with what stands. */
export const ingest = endpoint(
  {
    id: "brainPulseIngest",
    method: "POST",
    path: "/api/brain-pulse/ingest",
    summary: "Report hourly counts and fingerprints of a repository's brain",
    tag: "Brain",
    auth: device,
    body: { schema: BrainPulse, maxBytes: () => MAX_BYTES },
    ok: v.object({
      ok: v.boolean(),
      repoKey: v.nullable(v.string()),
      at: v.pipe(Instant, v.description("When the stored figures were taken.")),
    }),
    faults: [...inShape("tierGate", tierGate)],
    limits: [{ name: "brain", quota: (config) => config.limitBrain, per: "team", headers: "limited" }],
    example: {
      body: {
        repoKey: "github.com/acme/shop",
        at: "2026-11-21T08:00:00Z",
        counts: { errors: 9, open: 1 },
        fingerprints: ["3fa9c1d2"],
      },
      ok: { ok: true, repoKey: "github.com/acme/shop", at: "2026-11-21T08:00:00.000Z" },
    },
  },
  async (request) => {
    const { core, principal, body, text } = request;
    const ready = { ...admit(core, principal, "brain"), repoKey: cleanRepoKey(body.repoKey), sent: digestOfSent(text) };
    const intake = new Intake(request, "brain", ready);
    const at = Date.parse(body.at);
    if (at < 0) fail(malformed, 'In the body, "at" lies before 1970.');
    if (at > core.clock.now() + DAY_MS) fail(malformed, 'In the body, "at" lies more than a day ahead.');
    const known = intake.captureMode === "metadata" ? namesOf(body.counts) : body.counts;
    intake.withheld = Object.keys(body.counts).length - Object.keys(known).length;
    const counts = JSON.stringify(redactNames(known));
    const fingerprints = JSON.stringify([...new Set(body.fingerprints)].sort());
    const { repoKey } = intake;
    const { deviceId, teamId } = intake.device;
    if (intake.captureMode === "off") {
      intake.withheld = 1;
      await intake.store(() => undefined);
      return { ok: true, repoKey: repoKeyOf(repoKey), at: isoInstant(at) };
    }
    const storedAt = await intake.store((now) => {
      // It is no delivery of the log, which judges that again for others: what is acknowledged after the move would stay behind.
      teamMoves.requireHere(core, teamId);
      const sql = rows(core.store);
      sql.put.run(deviceId, repoKey, teamId, at, counts, fingerprints, now);
      return sql.at.get(deviceId, repoKey) as number;
    });
    return { ok: true, repoKey: repoKeyOf(repoKey), at: isoInstant(storedAt) };
  },
);

/** Counts under valid names: a text of several words is no name. */
function namesOf(counts: Readonly<Record<string, number>>): Record<string, number> {
  return Object.fromEntries(Object.entries(counts).filter(([name]) => /^[\w.:/-]+$/.test(name)));
}

/** Names free of secrets; the figures of names that are the same without them are added up. */
function redactNames(counts: Readonly<Record<string, number>>): Record<string, number> {
  const sums = new Map<string, number>();
  for (const [name, count] of Object.entries(counts)) {
    const clean = redactText(name).text;
    sums.set(clean, Math.min((sums.get(clean) ?? 0) + count, Number.MAX_SAFE_INTEGER));
  }
  return Object.fromEntries(sums);
}

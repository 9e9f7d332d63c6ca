import * as v from "valibot";
import { device, touchDevice } from "../../identity/devices/devices.ts";
import { isoInstant } from "../../kit/clock.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { Instant } from "../../platform/http/fields.ts";
import { readUserAgent } from "../../redact/redact.ts";

/** Says that a device is alive while it has nothing to send. */
export const heartbeat = endpoint(
  {
    id: "telemetryHeartbeat",
    method: "POST",
    path: "/api/telemetry/heartbeat",
    summary: "Report that this machine is alive",
    tag: "Telemetry",
    auth: device,
    ok: v.object({ ok: v.boolean(), at: Instant }),
    faults: [],
    limits: [],
    example: { ok: { ok: true, at: "2026-11-21T08:00:00.000Z" } },
  },
  async ({ core, principal, header }) => {
    const now = core.clock.now();
    const userAgent = readUserAgent(header("user-agent"));
    await core.store.write(() => touchDevice(core, { ...principal, lastSeenAt: null }, now, userAgent));
    return { ok: true, at: isoInstant(now) };
  },
);

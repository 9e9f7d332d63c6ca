import * as v from "valibot";
import { isoInstant } from "../../kit/clock.ts";
import { endpoint, Reply } from "../http/endpoint.ts";
import { Instant } from "../http/fields.ts";
import { probeStore } from "./probe.ts";

const Health = v.object({ status: v.picklist(["ok", "degraded"]), db: v.picklist(["up", "down"]), ts: Instant });

/** Whether the service can keep what it is sent. */
export const health = endpoint(
  {
    id: "getHealth",
    method: "GET",
    path: "/api/health",
    summary: "Whether the service is up and can store data",
    tag: "Health",
    auth: "none",
    ok: Health,
    also: [
      {
        status: 503,
        description: "The database cannot be read or written.",
        schema: Health,
        example: { status: "degraded", db: "down", ts: "2026-11-21T08:00:00.000Z" },
      },
    ],
    faults: [],
    limits: [],
    example: { ok: { status: "ok", db: "up", ts: "2026-11-21T08:00:00.000Z" } },
  },
  async ({ core }) => {
    const up = await probeStore(core);
    const ts = isoInstant(core.clock.now());
    if (up) return { status: "ok" as const, db: "up" as const, ts };
    return new Reply(
      { status: "degraded" as const, db: "down" as const, ts },
      { status: 503, headers: { "retry-after": "5" } },
    );
  },
);

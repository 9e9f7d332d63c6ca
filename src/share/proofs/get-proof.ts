import * as v from "valibot";
import { device } from "../../identity/devices/devices.ts";
import { isOwnOnly, readsAudit } from "../../identity/sight/sight.ts";
import { conflict, notFound } from "../../kit/problem.ts";
import { endpoint, Reply } from "../../platform/http/endpoint.ts";
import { whole } from "../../platform/http/fields.ts";
import { PROVABLE, prove } from "./prove.ts";

/** Proves to its team's devices that something is in the log. */
export const getProof = endpoint(
  {
    id: "ledgerProof",
    method: "GET",
    path: "/ledger/proof",
    summary: "A proof that something of the team is in the log",
    tag: "Ledger",
    auth: device,
    media: "text/plain; charset=utf-8",
    query: v.object({
      kind: v.pipe(v.picklist(PROVABLE), v.description("What is proved.")),
      id: whole(
        1,
        Number.MAX_SAFE_INTEGER,
        "Its number, as it stands in the addresses of pages; of an event that of its leaf.",
      ),
    }),
    ok: v.pipe(
      v.string(),
      v.description("A C2SP tlog-proof, with the leaf and its items beside: `reckon ledger check` reads it."),
    ),
    faults: [notFound, conflict],
    limits: [{ name: "proofs", quota: (config) => config.limitRead, per: "team", headers: "limited" }],
    example: { query: { kind: "delivery", id: "2" }, ok: "c2sp.org/tlog-proof@v1\nindex 1\n" },
  },
  ({ core, principal, query }) => {
    const content = prove(core, principal.teamId, query.kind, Number(query.id), {
      ofDevice: isOwnOnly(core, principal) ? principal.deviceId : undefined,
      noEvents: !readsAudit(core, principal),
    });
    return new Reply(content, { content });
  },
);

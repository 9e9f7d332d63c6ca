import type { Core } from "../../core.ts";
import { sameDigest, sha256 } from "../../kit/hash.ts";
import type { HeldCheck, Tell } from "../../log/log.ts";
import { rows } from "./rows.ts";

const kind = "traces";

/**
 * Compares sessions, spans and labels with the deliveries that they name as the last that changed them. Sessions grow, so their
 * content has nothing that it could be compared with; that of labels has.
 */
export function checkTraces(core: Core, tell: Tell): HeldCheck {
  const sql = rows(core.store);
  return {
    check() {},
    finish() {
      for (const { what, id, deliveryId, stray } of sql.tracesAstray.iterate())
        tell({
          deliveryId,
          kind,
          problem: stray ? "stray" : "owner",
          detail: stray
            ? `${what} ${id} came with no trace delivery`
            : `${what} ${id} is not of its delivery's team, device and repository`,
        });
      for (const { id, deliveryId, document, contentSha256 } of sql.labels.iterate())
        if (!sameDigest(sha256(document), contentSha256))
          tell({ deliveryId, kind, problem: "content", detail: `label ${id} is not what was delivered` });
      for (const deliveryId of sql.newestWithout.iterate())
        tell({ deliveryId, kind, problem: "content", detail: "nothing is held of the last that its device delivered" });
    },
    close() {},
  };
}

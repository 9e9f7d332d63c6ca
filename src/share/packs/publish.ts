import type { Core } from "../../core.ts";
import { newId } from "../../kit/ids.ts";
import { fail, unprocessable } from "../../kit/problem.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import type { PackDraft } from "./draft.ts";
import { forgetPacks } from "./list.ts";
import { currentVersion, requirePublishable } from "./offer.ts";
import { rows, type StoredPack } from "./rows.ts";

/**
 * Publishes what was drafted, for everybody.
 * @throws Problem when it holds a certain secret (422), or somebody was faster (409)
 */
export async function publishPack(core: Core, draft: PackDraft, by: Actor): Promise<void> {
  if (draft.refusal !== null) fail(unprocessable, draft.refusal);
  const { teamId, name, version, title, summary, license, readme, rules, archive, sha256 } = draft;
  const classes = JSON.stringify(draft.classes);
  await core.store.write(() => {
    const sql = rows(core.store);
    const now = core.clock.now();
    const stored = requirePublishable(core, teamId, name, version);
    const id = stored?.id ?? newId("pack", core.clock, core.random);
    const before = stored ?? { teamId, name, createdAt: now, featuredAt: null, removedAt: null, removedReason: null };
    const tags = JSON.stringify(draft.tags);
    const pack: StoredPack = { ...before, id, title, summary, license, tags, updatedAt: now };
    if (!stored) sql.insertPack.run(pack);
    const files = JSON.stringify(draft.files.map(({ source: _, ...file }) => file));
    const digest = Buffer.from(sha256, "hex");
    const content = { version, readme, files, rules, classes, archive, sha256: digest };
    sql.insertVersion.run({ ...content, packId: id, at: now });
    // The pack's own title and tags are those of the version that is offered: a pre-release beside a stable version leaves them.
    if (stored && currentVersion(core, id)?.version === version) sql.updatePack.run(pack);
    recordEvent(core, by, {
      action: "pack.published",
      teamId,
      target: { kind: "pack", id, label: name },
      detail: { version, files: draft.files.length, replaced: draft.replaced.length, sha256 },
    });
    forgetPacks(core);
  });
}

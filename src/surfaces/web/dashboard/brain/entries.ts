import { freshenLinks, type Link, linksOfEntry } from "../../../../insight/causes/causes.ts";
import { DEFECT_KINDS, type Defect, listDefects, onWire, wholeClass } from "../../../../insight/defects/defects.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { cooperative } from "../../../../kit/yield.ts";
import type { FileContent } from "../../../../record/brain/brain.ts";
import { plural } from "../../ui/units.ts";
import { bandBadge, causeName } from "../errors/labels.ts";
import type { Member } from "../shared/call.ts";

/** What stands below the headings of entries in a rendered file: the way to the entry, how often it came, what caused it. */

const MAX_NOTES = 1_000;

/** By the line of the heading; nothing for files that hold no entries, and for earlier states. */
export async function entryNotes(call: Member, file: FileContent): Promise<ReadonlyMap<number, Html>> {
  const { path, kind, current, snapshot } = file;
  if (!current || !DEFECT_KINDS.some((defectKind) => defectKind === kind)) return new Map();
  const { core, session } = call;
  const { repoKey } = snapshot;
  await freshenLinks(core);
  const defects = listDefects(core, session.team.id, { repoKey, kinds: [kind] }).filter((one) => one.path === path);
  const times = new Map<string, number>();
  const notes = new Map<number, Html>();
  const yieldNow = cooperative(core.clock);
  for (const defect of defects.slice(0, MAX_NOTES)) {
    await yieldNow();
    const fingerprint = onWire(defect.fingerprint);
    const count = times.getOrInsertComputed(
      fingerprint,
      () => wholeClass.sums(core, session.team.id, fingerprint).occurrences,
    );
    const links = linksOfEntry(core, session.team.id, defect).filter(({ verdict }) => verdict !== "rejected");
    notes.set(defect.line, note(call, defect, links, count));
  }
  return notes;
}

function note(call: Member, defect: Defect, [first, ...more]: readonly Link[], times: number): Html {
  const { href } = call;
  return html`<p class="entry-links muted">${first && html`${bandBadge(first)} ${causeName(call, first)}${more.length > 0 && ` and ${more.length} more`} · `}${times > 1 && html`<a href="${href(`/errors/classes/${onWire(defect.fingerprint)}`)}">${plural(times, "time")}</a> · `}<a href="${href(`/errors/${defect.id}`)}">${first ? "Why" : "The entry"}</a></p>`;
}

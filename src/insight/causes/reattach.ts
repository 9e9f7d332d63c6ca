import type { Core } from "../../core.ts";
import { titleOfHeading } from "../../formats/errors/heading.ts";
import { cooperative } from "../../kit/yield.ts";
import { inBatches, type RowChange } from "../../platform/projections/projections.ts";
import { type Defect, newestEntryId } from "../defects/defects.ts";
import { copyOf, type LinkRow, linkRows } from "./link-rows.ts";

/** In: the links of a repository as they are stored, and its entries as they are now. Out: each link at its entry. */

/**
 * Links go with their entries, whose headings, rules and files change while they stay the same entries. Where an entry is gone,
 * what was computed of it goes too; what people said of it is kept out of sight, should it come back.
 * @param defects all of the repository
 */
export async function reattach(core: Core, teamId: string, repoKey: string, defects: readonly Defect[]): Promise<void> {
  const sql = linkRows(core.store);
  const links = await linksIn(core, teamId, repoKey);
  if (links.length === 0) return;
  const entries = rematch(links, defects);
  // Before the others, because an entry has one computed link to a session.
  const changes: RowChange[] = supersededIn(links, entries).map((link) => () => sql.drop.run(link.id));
  for (const link of links) {
    const entry = entries.get(link);
    if (entry && !isAt(link, entry))
      changes.push(() => sql.move.run({ ...copyOf(entry), id: link.id, updatedAt: core.clock.now() }));
    else if (!entry && !isJudged(link)) changes.push(() => sql.drop.run(link.id));
    else if (!entry && link.goneAfter === null) changes.push(() => sql.hide.run(newestEntryId(core), link.id));
  }
  for await (const batch of inBatches(changes)) await core.store.write(batch);
}

/** Links read at once. */
const AT_ONCE = 500;

async function linksIn(core: Core, teamId: string, repoKey: string): Promise<LinkRow[]> {
  const yieldNow = cooperative(core.clock);
  const links: LinkRow[] = [];
  for (let after = 0; ; ) {
    const some = linkRows(core.store).ofRepo.all(teamId, repoKey, after, AT_ONCE);
    links.push(...some);
    const last = some.at(-1);
    if (!last || some.length < AT_ONCE) return links;
    after = last.row;
    await yieldNow();
  }
}

/** Somebody said so, or that it is not so. */
const isJudged = ({ origin, verdict }: LinkRow): boolean => origin === "person" || verdict !== null;

/** Links that were computed of an entry before people's verdicts on the same sessions came back to it. */
function supersededIn(links: readonly LinkRow[], entries: ReadonlyMap<LinkRow, Defect>): LinkRow[] {
  const keyOf = ({ sessionId }: LinkRow, { id }: Defect) => `${id} ${sessionId}`;
  const judged = new Set<string>();
  for (const [link, entry] of entries)
    if (link.origin === "computed" && isJudged(link) && link.entryId !== entry.id) judged.add(keyOf(link, entry));
  if (judged.size === 0) return [];
  return links.filter((link) => {
    const entry = entries.get(link);
    return entry !== undefined && !isJudged(link) && judged.has(keyOf(link, entry));
  });
}

function isAt(link: LinkRow, entry: Defect): boolean {
  const copy = copyOf(entry);
  const names = ["entryId", "repoKey", "path", "heading", "ordinal", "date"] as const;
  const isSame = link.fingerprint.equals(copy.fingerprint) && names.every((name) => link[name] === copy[name]);
  return isSame && link.goneAfter === null;
}

/**
 * The entry that each link is of now. One that is there keeps its number, so links go by it. For what people said of one that
 * is gone, an entry is looked for that came back: at most one for each, and none of which anything was said since. It has
 * 1. the same date, title and fingerprint; or of those that came after it was found to be gone
 * 2. the same date and title, or
 * 3. the same date and fingerprint,
 * if it is the only one that has, older ones too. It stands in the same file, or that file has no entries any more, or all three are the same.
 * @param defects all of the repository
 */
function rematch(links: readonly LinkRow[], defects: readonly Defect[]): Map<LinkRow, Defect> {
  const byId = new Map(defects.map((defect) => [defect.id, defect]));
  const entries = new Map<LinkRow, Defect>();
  const lost: LinkRow[] = [];
  for (const link of links) {
    const entry = byId.get(link.entryId);
    if (entry) entries.set(link, entry);
    else if (isJudged(link)) lost.push(link);
  }
  if (lost.length > 0) findReturned(lost, defects, entries);
  return entries;
}

/** An entry that is gone, by the links that were judged of it. */
interface LostEntry {
  readonly links: readonly LinkRow[];
  /** One of them; they are alike in all that is compared. */
  readonly link: LinkRow;
  readonly title: string;
  /** Nobody has looked for the entry yet. */
  readonly justNow: boolean;
}

interface Candidate {
  readonly defect: Defect;
  readonly title: string;
}

type Fits = (lost: LostEntry, candidate: Candidate) => boolean;

const sameTitle: Fits = (lost, candidate) => lost.title !== "" && lost.title === candidate.title;
const sameFingerprint: Fits = ({ link }, { defect }) => link.fingerprint.equals(defect.fingerprint);
/** Among equal headings of one file those that stayed are no candidates; those read anew have the same places again. */
const samePlace: Fits = ({ link, justNow }, { defect }) =>
  !justNow || defect.path !== link.path || defect.ordinal === link.ordinal;

/** Adds the entries of links whose entry is back. */
function findReturned(links: readonly LinkRow[], defects: readonly Defect[], entries: Map<LinkRow, Defect>): void {
  const paths = new Set(defects.map(({ path }) => path));
  const taken = new Set([...entries].flatMap(([link, { id }]) => (isJudged(link) ? [id] : [])));
  const dates = new Set(links.map(({ date }) => date));
  const candidates = Map.groupBy(
    defects
      .filter(({ date }) => dates.has(date))
      .map((defect): Candidate => ({ defect, title: titleOfHeading(defect.heading) })),
    ({ defect }) => defect.date,
  );
  let open = [...Map.groupBy(links, ({ entryId }) => entryId).values()].map((ofEntry): LostEntry => {
    const link = ofEntry[0] as LinkRow;
    return { links: ofEntry, link, title: titleOfHeading(link.heading), justNow: link.goneAfter === null };
  });
  const stage = (fits: Fits, amongOlder: boolean) => {
    const found = open.flatMap((lost): [LostEntry, Defect][] => {
      const fitting = (candidates.get(lost.link.date) ?? []).filter((candidate) => fits(lost, candidate));
      const since = lost.link.goneAfter ?? lost.link.entryId;
      const [entry, ...more] = fitting.filter(({ defect }) => defect.id > since).map(({ defect }) => defect);
      const isOnly = more.length === 0 && (amongOlder || fitting.length === 1);
      return entry && isOnly && !taken.has(entry.id) ? [[lost, entry]] : [];
    });
    const claims = Map.groupBy(found, ([, { id }]) => id);
    for (const [lost, entry] of found) {
      if (claims.get(entry.id)?.length !== 1) continue;
      for (const link of lost.links) entries.set(link, entry);
      taken.add(entry.id);
      open = open.filter((other) => other !== lost);
    }
  };
  const near: Fits = ({ link, justNow }, { defect }) =>
    !justNow && (defect.path === link.path || !paths.has(link.path));
  stage(
    (lost, candidate) =>
      lost.title === candidate.title && sameFingerprint(lost, candidate) && samePlace(lost, candidate),
    true,
  );
  stage((lost, candidate) => near(lost, candidate) && sameTitle(lost, candidate), false);
  stage((lost, candidate) => near(lost, candidate) && sameFingerprint(lost, candidate), false);
}

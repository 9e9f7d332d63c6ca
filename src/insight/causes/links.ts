import type { Core } from "../../core.ts";
import { findDeviceOf } from "../../identity/devices/devices.ts";
import { makers } from "../../identity/people/people.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Defect, defectFacts } from "../defects/defects.ts";
import type { Reason } from "./desired-links.ts";
import type { Confidence } from "./judge.ts";
import { hasHumanVerdict, type ListedRow, linkRows, type PlaceRow } from "./link-rows.ts";

/** A defect put down to a session, as pages and replies show it. Instants are milliseconds since the epoch. */
export interface Link
  extends Omit<ListedRow, "teamId" | "goneAfter" | "sessionId" | "externalId" | "outranked" | "evidence" | "saidBy"> {
  readonly label: "Caused by" | "Probably caused by" | "Possibly caused by";
  /** Whether figures count it. */
  readonly counts: boolean;
  /** The number under which the session is kept; null when no session is known. */
  readonly sessionNumber: number | null;
  /** The session's id as its agent gave it. */
  readonly sessionId: string | null;
  readonly evidence: readonly Reason[];
}

export function readLink(core: Core, row: ListedRow): Link {
  const { teamId, goneAfter: _, sessionId, externalId, outranked, evidence, saidBy, decidedBy, ...rest } = row;
  const humanVerdict = hasHumanVerdict(row);
  return {
    ...rest,
    label: labelOf(row.band, humanVerdict),
    counts: row.verdict !== "rejected" && outranked === 0 && (humanVerdict || row.band !== "weak"),
    sessionNumber: sessionId,
    sessionId: externalId,
    decidedBy: decidedBy && makers.called(core, decidedBy),
    evidence:
      row.origin === "person"
        ? [{ kind: "person", says: `${saidBy === null ? "Somebody" : sayer(core, teamId, saidBy)} said so.` }]
        : (JSON.parse(evidence) as Reason[]),
  };
}

const sayer = (core: Core, teamId: string, id: string): string =>
  findDeviceOf(core, teamId, id)?.label ?? makers.called(core, id);

function labelOf(band: Confidence, humanVerdict: boolean): Link["label"] {
  if (humanVerdict || band === "strong") return "Caused by";
  return band === "probable" ? "Probably caused by" : "Possibly caused by";
}

export interface LinkFilter {
  readonly repoKey?: string | undefined;
  /** Path of the file that the entries stand in. */
  readonly path?: string | undefined;
  /** Hexadecimal, its first 8 to 64 digits. */
  readonly fingerprint?: string | undefined;
  /** As the agent gave it. */
  readonly sessionId?: string | undefined;
  /** Rejected ones too. */
  readonly rejected?: boolean | undefined;
  readonly limit?: number | undefined;
  /** Where an earlier list ended, as its `next`. Anything else asks for the first links. */
  readonly after?: string | undefined;
}

export interface LinkList {
  /** All matches, however many are listed. */
  readonly total: number;
  readonly links: readonly Link[];
  /** Where to go on; absent when nothing follows. */
  readonly next?: string;
}

/** Where a list ended: the last link, and its date in case the link is gone by then. */
export const LINK_CURSOR = /^(\d{4}-\d\d-\d\d)\.(lnk_[0-9a-z]{26})$/;

/** Judges of each row, in order, whether it is past where an earlier list ended. */
function pastCursor(core: Core, teamId: string, after: string | undefined): (row: PlaceRow) => boolean {
  const [, date, id] = LINK_CURSOR.exec(after ?? "") ?? [];
  if (date === undefined || id === undefined) return () => true;
  // Correlation may have removed the link since. Then its day is listed again, so that no link is passed over.
  if (linkRows(core.store).byId.get(id, teamId)?.date !== date) return (row) => row.date <= date;
  let past = false;
  return (row) => {
    const now = past;
    past ||= row.id === id;
    return now;
  };
}

/** Beyond every date. */
const NEVER = "9999-99";

/**
 * A page of a team's links to entries that its brains hold now: the newest entries first, of one entry a person's verdict before the
 * stronger bands. As fresh as `linksProjection`. Looked for day by day: a large team has hundreds of thousands.
 */
export async function listLinks(core: Core, teamId: string, filter: LinkFilter = {}): Promise<LinkList> {
  const { repoKey = null, path = null, limit = 50 } = filter;
  const sql = linkRows(core.store);
  const yieldNow = cooperative(core.clock);
  const isPast = pastCursor(core, teamId, filter.after);
  const links: Link[] = [];
  let total = 0;
  let more = false;
  for (let day = NEVER; ; await yieldNow()) {
    const date = sql.dayBefore.get(teamId, day) ?? null;
    if (date === null) break;
    day = date;
    const places = sql.placesOfDay.all({ teamId, date, repoKey, path });
    const entries = entriesAmong(core, teamId, places);
    for (const place of places) {
      const past = isPast(place);
      if (!entries.has(place.entryId) || !isListed(filter, place)) continue;
      total++;
      if (!past) continue;
      if (links.length < limit) links.push(readLink(core, sql.listedById.get(place.id, teamId) as ListedRow));
      else more = true;
    }
  }
  const last = links.at(-1);
  return { total, links, ...(more && last ? { next: `${last.date}.${last.id}` } : {}) };
}

const isListed = ({ fingerprint, sessionId, rejected = false }: LinkFilter, place: PlaceRow): boolean =>
  (rejected || place.verdict !== "rejected") &&
  (sessionId === undefined || place.externalId === sessionId) &&
  (fingerprint === undefined || place.fingerprint.toString("hex").startsWith(fingerprint));

const entriesAmong = (core: Core, teamId: string, links: readonly Pick<PlaceRow, "entryId">[]): Set<number> =>
  defectFacts.among(core, teamId, [...new Set(links.map(({ entryId }) => entryId))]);

/** Everything that an entry is put down to, rejected links too, the weightiest first. */
export function linksOfEntry(core: Core, teamId: string, { id }: Pick<Defect, "id">): Link[] {
  return linkRows(core.store)
    .listedOfEntry.all(id, teamId)
    .map((row) => readLink(core, row));
}

/** The entries that are put down to a session, newest first. @param sessionNumber the number under which it is kept */
export function linksOfSession(core: Core, teamId: string, sessionNumber: number): Link[] {
  const links = linkRows(core.store)
    .listedOfSession.all(sessionNumber, teamId)
    .filter(({ verdict }) => verdict !== "rejected")
    .map((row) => readLink(core, row));
  if (links.length === 0) return links;
  const entries = entriesAmong(core, teamId, links);
  return links.filter(({ entryId }) => entries.has(entryId));
}

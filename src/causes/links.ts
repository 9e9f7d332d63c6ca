import type { Core } from "../core.ts";
import { type Defect, listDefects } from "../defects/defects.ts";
import type { Band } from "./judge.ts";
import { entryText } from "./keys.ts";
import { type ListedRow, linkRows } from "./link-rows.ts";
import type { Evidence } from "./says.ts";

/** A defect put down to a session, as pages and replies show it. Instants are milliseconds since the epoch. */
export interface Link {
  readonly id: string;
  readonly repoKey: string;
  readonly path: string;
  readonly heading: string;
  readonly ordinal: number;
  /** YYYY-MM-DD */
  readonly date: string;
  /** 32 bytes. */
  readonly fingerprint: Buffer;
  readonly band: Band;
  readonly label: "Caused by" | "Probably caused by" | "Possibly caused by";
  readonly origin: "computed" | "person";
  /** Whether figures count it. */
  readonly counts: boolean;
  readonly commit: string | null;
  /** The number under which the session is kept; null when no session is known. */
  readonly sessionNumber: number | null;
  /** The session's id as its agent gave it. */
  readonly sessionId: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly promptExcerpt: string | null;
  readonly evidence: readonly Evidence[];
  readonly verdict: "confirmed" | "rejected" | null;
  readonly decidedBy: string | null;
  readonly decidedAt: number | null;
  readonly createdAt: number;
  readonly updatedAt: number;
}

export function readLink(row: ListedRow): Link {
  const { teamId: _, entryId: __, goneAfter: ___, sessionId, externalId, outranked, evidence, ...rest } = row;
  const word = row.origin === "person" || row.verdict === "confirmed";
  return {
    ...rest,
    label: labelOf(row.band, word),
    counts: row.verdict !== "rejected" && outranked === 0 && (word || row.band !== "weak"),
    sessionNumber: sessionId,
    sessionId: externalId,
    evidence: JSON.parse(evidence) as Evidence[],
  };
}

/** @param word somebody said so */
function labelOf(band: Band, word: boolean): Link["label"] {
  if (word || band === "strong") return "Caused by";
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
}

export interface LinkList {
  /** All that fit, however many are listed. */
  readonly total: number;
  readonly links: readonly Link[];
}

/**
 * A team's links to entries that its brains hold now: the newest entries first, of one entry a person's word before the
 * stronger bands. As fresh as `linksDerivation`.
 */
export function listLinks(core: Core, teamId: string, filter: LinkFilter = {}): LinkList {
  const { repoKey, path, fingerprint, sessionId, rejected = false, limit = 50 } = filter;
  const there = new Set(listDefects(core, teamId, { repoKey }).map(placeText));
  const links: Link[] = [];
  let total = 0;
  for (const row of linkRows(core.store).listed.iterate({ teamId, repoKey: repoKey ?? null, path: path ?? null })) {
    if (!there.has(placeText(row)) || (row.verdict === "rejected" && !rejected)) continue;
    if (sessionId !== undefined && row.externalId !== sessionId) continue;
    if (fingerprint !== undefined && !row.fingerprint.toString("hex").startsWith(fingerprint)) continue;
    total++;
    if (links.length < limit) links.push(readLink(row));
  }
  return { total, links };
}

/** What tells the entries of a team apart, as text for maps. */
export const placeText = (entry: Pick<Defect, "repoKey" | "path" | "heading" | "ordinal">) =>
  `${entry.repoKey}\n${entryText(entry)}`;

/** Everything that an entry is put down to, rejected links too, the weightiest first. */
export function linksOfEntry(
  core: Core,
  teamId: string,
  { repoKey, path, heading, ordinal }: Pick<Defect, "repoKey" | "path" | "heading" | "ordinal">,
): Link[] {
  return linkRows(core.store).listedOfEntry.all(teamId, repoKey, path, heading, ordinal).map(readLink);
}

/** The entries that are put down to a session, newest first. @param sessionNumber the number under which it is kept */
export function linksOfSession(core: Core, teamId: string, sessionNumber: number): Link[] {
  const links = linkRows(core.store)
    .listedOfSession.all(sessionNumber, teamId)
    .filter(({ verdict }) => verdict !== "rejected")
    .map(readLink);
  if (links.length === 0) return links;
  const there = new Set(listDefects(core, teamId).map(placeText));
  return links.filter((link) => there.has(placeText(link)));
}

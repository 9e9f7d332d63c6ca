import type { Core } from "../../core.ts";
import { readSha } from "../../formats/edits.ts";
import { makers } from "../../identity/people/people.ts";
import { newId } from "../../kit/ids.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { type Defect, findDefect, listDefects } from "../defects/defects.ts";
import { correlateEntries } from "./correlate.ts";
import { countCaused } from "./count-caused.ts";
import { evidenceRows, type WindowRow } from "./evidence-rows.ts";
import { copyOf, linkRows } from "./link-rows.ts";
import { type Link, readLink } from "./links.ts";
import { excerptOf, promptAt, promptsOf } from "./prompts.ts";
import { makersOf } from "./signals.ts";
import { storeLink } from "./store-link.ts";

/** What people say of causes. It outranks what was computed, and stays when that is computed anew. */

/** An entry as somebody names it. */
export interface NamedEntry {
  readonly repoKey: string;
  readonly path: string;
  /** With or without the `##`, or only its title. */
  readonly heading: string;
  /** Among equal headings, counted from the file's end; the newest without it. */
  readonly ordinal?: number | undefined;
}

/** The entry that is meant; undefined when there is none. */
export function findEntry(core: Core, teamId: string, named: NamedEntry): Defect | undefined {
  const fold = (text: string) => text.replace(/\s+/g, " ").trim();
  const heading = fold(named.heading.replace(/^\s*#{1,2}(?=\s)/, ""));
  const inFile = listDefects(core, teamId, { repoKey: named.repoKey }).filter(({ path }) => path === named.path);
  const exact = inFile.filter((defect) => fold(defect.heading) === heading);
  const meant =
    exact.length > 0 ? exact : inFile.filter((defect) => defect.title !== "" && fold(defect.title) === heading);
  if (named.ordinal !== undefined) return meant.find(({ ordinal }) => ordinal === named.ordinal);
  return meant.toSorted((a, b) => Date.parse(b.date) - Date.parse(a.date) || b.ordinal - a.ordinal)[0];
}

/** What somebody puts an entry down to; one of the first two at least. */
export interface Cause {
  /** As the agent gave it. */
  readonly sessionId?: string | undefined;
  /** 7 to 64 hexadecimal digits. */
  readonly commit?: string | undefined;
  readonly promptExcerpt?: string | undefined;
}

/** Why a cause cannot be taken. */
export type Doubt = "unknownSession" | "noCommit" | "ambiguousCommit" | "notMadeBySession";

interface KnownCause {
  readonly window: WindowRow | undefined;
  readonly commit: string | null;
  readonly at: number | null;
}

/**
 * Finds what a cause names among the team's sessions. A commit that no session made is taken as it is: people commit too.
 * @returns the first doubt when it cannot be taken
 */
function findCause(core: Core, teamId: string, { sessionId, commit }: Cause): KnownCause | Doubt {
  const sql = evidenceRows(core.store);
  const window = sessionId === undefined ? undefined : sql.windowsNamed.get(teamId, sessionId);
  if (sessionId !== undefined && !window) return "unknownSession";
  if (commit === undefined) return { window, commit: null, at: null };
  const sha = readSha(commit);
  if (sha === null) return "noCommit";
  const made = makersOf(core, teamId, sha);
  const whole = made.reduce((most, maker) => (maker.sha.length > most.length ? maker.sha : most), sha);
  if (!made.every((maker) => whole.startsWith(maker.sha))) return "ambiguousCommit";
  const makers = window ? made.filter((maker) => maker.sessionId === window.sessionId) : made;
  const [maker] = makers;
  if (window && made.length > 0 && !maker) return "notMadeBySession";
  const others = makers.some(({ sessionId }) => sessionId !== maker?.sessionId);
  return {
    window: window ?? (maker && !others ? sql.window.get(maker.sessionId) : undefined),
    commit: whole,
    at: maker?.at ?? null,
  };
}

/**
 * Keeps somebody's word that an entry was caused by a session or commit. The same word again changes nothing.
 * @param excerpt redacted by the caller
 * @returns the link, or why it cannot be taken
 */
export async function createLink(
  core: Core,
  teamId: string,
  entry: Defect,
  cause: Cause,
  by: Actor,
): Promise<Link | Doubt> {
  const known = findCause(core, teamId, cause);
  if (typeof known === "string") return known;
  const { window, commit, at } = known;
  const prompt = window && promptAt(promptsOf(core, window.sessionId), at);
  const sessionId = window?.sessionId ?? null;
  const linkId = await core.store.write(() => {
    const sql = linkRows(core.store);
    const same = sql.ofEntry
      .all(entry.id)
      .find(
        (link) =>
          link.origin === "person" &&
          link.sessionId === sessionId &&
          link.commit === commit &&
          link.verdict !== "rejected",
      );
    if (same) return same.id;
    const id = newId("lnk", core.clock, core.random);
    const now = core.clock.now();
    const isStored = storeLink(core, {
      ...copyOf(entry),
      id,
      teamId,
      band: "strong",
      origin: "person",
      sessionId,
      commit,
      promptExcerpt: excerptOf(cause.promptExcerpt ?? prompt?.text),
      evidence: "[]",
      saidBy: makers.of(by),
      createdAt: now,
      updatedAt: now,
    });
    if (!isStored) return undefined;
    // Its word outranks what was computed of the same entry.
    countCaused(core, new Set(sql.ofEntry.all(entry.id).flatMap((link) => link.sessionId ?? [])));
    recordEvent(core, by, {
      action: "link.created",
      teamId,
      target: { kind: "link", id, label: entry.heading },
      detail: { repoKey: entry.repoKey, file: entry.path, session: window?.externalId ?? null, commit },
    });
    return id;
  });
  return linkId === undefined ? "unknownSession" : (getLink(core, teamId, linkId) as Link);
}

/** A link of the team. @returns undefined when it has no such link */
export function getLink(core: Core, teamId: string, id: string): Link | undefined {
  const row = linkRows(core.store).listedById.get(id, teamId);
  return row && readLink(core, row);
}

/**
 * Keeps somebody's judgement of a link, or takes it back. What is rejected counts nowhere, and its session is no candidate for
 * the entry any more, so the entry's other links are computed anew.
 * @param verdict null takes an earlier one back
 * @returns the link as it stands then; undefined when the team has no such link
 */
export async function decideLink(
  core: Core,
  teamId: string,
  linkId: string,
  verdict: "confirmed" | "rejected" | null,
  by: Actor,
): Promise<Link | undefined> {
  const decided = await core.store.write(() => {
    const sql = linkRows(core.store);
    const link = sql.byId.get(linkId, teamId);
    if (!link || link.verdict === verdict) return link;
    const now = core.clock.now();
    sql.decide.run(verdict, verdict && makers.of(by), verdict && now, now, linkId);
    countCaused(core, new Set(sql.ofEntry.all(link.entryId).flatMap(({ sessionId }) => sessionId ?? [])));
    recordEvent(core, by, {
      action: verdict === null ? "link.reopened" : `link.${verdict}`,
      teamId,
      target: { kind: "link", id: linkId, label: link.heading },
      detail: { repoKey: link.repoKey, file: link.path, band: link.band, before: link.verdict },
    });
    return link;
  });
  if (!decided) return undefined;
  const { repoKey, entryId } = decided;
  await correlateEntries(core, teamId, repoKey, () =>
    [findDefect(core, teamId, entryId)].filter((entry) => entry !== undefined),
  );
  return getLink(core, teamId, linkId);
}

import { type Core, slot } from "../../core.ts";
import { parseJson } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { isKeyOf } from "../../kit/jwt.ts";
import { eventsInLog } from "../audit/audit.ts";
import { epochs, hasTree } from "../transparency/transparency.ts";
import { type KeyRow, rows } from "./rows.ts";

/** What is wrong with a signing key of the database. */
export interface KeyFault {
  readonly kid: string;
  /** `content`: its public half is another; `stray`: nothing tells that it ever signed here. */
  readonly problem: "content" | "stray";
  readonly detail: string;
}

/**
 * Keys that somebody put into the database, or whose public half somebody replaced there: what is signed with them must not pass for signed
 * here. The file of the private key vouches for the active one, and the log for those that a rotation retired.
 */
export function keyFaults(core: Core): KeyFault[] {
  const all = rows(core.store).keys.all();
  const isRetired = all.some(({ retiredAt }) => retiredAt !== null) ? retirements(core, all) : () => true;
  return all.flatMap((row): KeyFault[] => {
    const { kid, publicPem, retiredAt } = row;
    if (!isKeyOf(publicPem, kid))
      return [{ kid, problem: "content", detail: `the public half of key ${kid} was altered` }];
    if (retiredAt === null || isRetired(row)) return [];
    return [{ kid, problem: "stray", detail: `no rotation in the log retired key ${kid}: it never signed here` }];
  });
}

/** Whether the log tells that a key was retired, or it was before anything could tell. */
function retirements(core: Core, all: readonly KeyRow[]): (row: KeyRow) => boolean {
  if (!hasTree(core)) return () => true;
  const logged = new Set<unknown>();
  for (const { detail } of eventsInLog(core, null, "key.rotated")) {
    const facts = parseJson(detail);
    if (isObject(facts)) logged.add(facts.retired);
  }
  // The first schema recorded no events: its rotations came before all others. Where the log begins with an epoch, nothing came before it.
  const isFromBefore = epochs(core)[0]?.leaf !== 1;
  const known = all.filter(({ kid, retiredAt }) => retiredAt === null || logged.has(kid));
  const since = Math.min(...known.map(({ createdAt }) => createdAt));
  return ({ kid, retiredAt }) => logged.has(kid) || (isFromBefore && (retiredAt ?? 0) <= since);
}

/** The keys as they were judged last; they change with a rotation alone. */
const judged = slot((): { keys: string; sound: readonly KeyRow[] } => ({ keys: "[]", sound: [] }));

/** The keys that sign or signed here, the newest first, without those that are not what the database says of them. */
export function soundKeys(core: Core): readonly KeyRow[] {
  const all = rows(core.store).keys.all();
  const keys = JSON.stringify(all);
  const state = judged(core);
  if (state.keys === keys) return state.sound;
  const faults = keyFaults(core);
  for (const { detail } of faults)
    core.log.error("signing_key_not_trusted", {
      cause: detail,
      effect: "it is not published, and nothing it signed is accepted",
    });
  state.keys = keys;
  state.sound = all.filter(({ kid }) => !faults.some((fault) => fault.kid === kid));
  return state.sound;
}

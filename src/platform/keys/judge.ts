import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { parseJson } from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { isKeyOf } from "../../kit/jwt.ts";
import { eventsInLog } from "../audit/audit.ts";
import { BESIDE } from "../store/store.ts";
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
  const isRetired = all.some(({ retiredAt }) => retiredAt !== null) ? retirements(core) : () => true;
  return all.flatMap((row): KeyFault[] => {
    const { kid, publicPem, retiredAt } = row;
    if (!isKeyOf(publicPem, kid))
      return [{ kid, problem: "content", detail: `the public half of key ${kid} was altered` }];
    if (retiredAt === null || isRetired(row)) return [];
    return [{ kid, problem: "stray", detail: `no rotation in the log retired key ${kid}` }];
  });
}

/** Makes a test whether the log tells that a key was retired, or it may have been before anything could tell. */
function retirements(core: Core): (row: KeyRow) => boolean {
  // The first schema recorded no events. Where the log begins with an epoch, nothing came before it.
  if (!hasTree(core) || epochs(core)[0]?.leaf !== 1) return () => true;
  // It did put the public half beside the database, as every rotation does.
  const isBeside = (kid: string) => {
    const file = join(core.store.directory, BESIDE.retiredKeys, `${kid}.pem`);
    return existsSync(file) && isKeyOf(readFileSync(file, "utf8"), kid);
  };
  const logged = new Set<unknown>();
  for (const { detail } of eventsInLog(core, null, "key.rotated")) {
    const facts = parseJson(detail);
    if (isObject(facts)) logged.add(facts.retired);
  }
  return ({ kid }) => logged.has(kid) || isBeside(kid);
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
  for (const { detail } of faults) core.log.error("signing_key_not_trusted", { cause: detail });
  state.keys = keys;
  state.sound = all.filter(({ kid }) => !faults.some((fault) => fault.kid === kid));
  return state.sound;
}

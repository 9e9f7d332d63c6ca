import { HOUR_MS } from "../../kit/clock.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { type Random, seededRandom } from "../../kit/random.ts";
import type { LocalClock } from "./clock.ts";
import { demoData } from "./demo/demo.ts";
import { type Kept, keep, keepSeed, writeKey } from "./directory.ts";
import { keyFolder, localSigningKey } from "./key.ts";
import { type CreatedTeam, createTeamAndOwner, mintCredentials } from "./seed.ts";
import { keepTemplate, type TemplateKey, useTemplate } from "./template.ts";
import type { LocalOptions } from "./types.ts";

/** Where a seeded instance's clock begins unless told otherwise. */
const SEEDED_START = Date.UTC(2026, 10, 21, 8);

/**
 * Makes the seed of a new directory. What depends on the seed's text alone is made once and copied from then on; so is, for some hours, the
 * team of instances without a seed. The credentials are made at every start, because one of them names the address.
 * @param clock left frozen, at the start
 */
export async function buildSeed(options: LocalOptions, clock: LocalClock): Promise<Kept> {
  const { directory, seed, base, open, baseUrl, empty, cache = keyFolder() } = options;
  const signingPem = await localSigningKey(seed, cache);
  writeKey(directory, signingPem);
  const startAt = options.startAt ?? (seed === undefined ? undefined : SEEDED_START);
  const begins = startAt ?? base.clock.now();
  clock.set(begins);
  clock.freeze();
  // Each purpose has its own stream of random bytes: other demo data must not change what a seed prints.
  const stream = (of: string): Random => (seed === undefined ? base.random : seededRandom(`${seed}\n${of}`));
  const keys = cache === undefined ? [] : templateKeys(options, begins, sha256Hex(signingPem));
  const known = firstOf(keys, (key) => useTemplate(cache as string, key, directory));
  let from = stream("team");
  const instance = await open({ clock, random: (bytes) => from(bytes), seeding: true });
  try {
    // Nothing here has to survive a power cut, and a hundred flushes take longer than all the rest.
    instance.core.store.db.pragma("synchronous = OFF");
    const team = known ?? (await settle());
    if (!known && keys[0]) keepTemplate(cache as string, keys[0], instance.core.store.db.serialize(), team, directory);
    from = stream("credentials");
    clock.set(begins);
    const credentials = await mintCredentials(instance.core, team, baseUrl);
    await instance.close();
    keepSeed(directory);
    const kept = { credentials, seed: seed ?? null, startAt: startAt ?? null, signingPem, clock: null };
    keep(directory, kept);
    return kept;
  } catch (error) {
    await instance.close().catch(() => {});
    throw error;
  }

  async function settle(): Promise<CreatedTeam> {
    const others = stream("demo data");
    const team = await createTeamAndOwner(instance.core, clock, begins, empty ? undefined : others);
    from = others;
    if (!empty) await demoData(instance, clock, team, begins);
    await instance.settle();
    return team;
  }
}

/** How old the demo data of an instance without a seed may be: making it takes longer than starting. */
const FRESH_HOURS = 6;

/** The kept databases that will do, best first; a new one is kept under the first key. None where the next start would differ. */
function templateKeys({ seed, startAt, empty, program }: LocalOptions, begins: number, signer: string): TemplateKey[] {
  if (program === undefined) return [];
  if (seed !== undefined) return [{ program, signer, seed, startAt: begins, empty }];
  if (startAt !== undefined) return [];
  const hour = Math.floor(begins / HOUR_MS);
  return Array.from({ length: FRESH_HOURS }, (_, ago) => ({
    ...{ program, signer, seed: null, empty },
    startAt: (hour - ago) * HOUR_MS,
  }));
}

function firstOf<T, R>(list: readonly T[], find: (one: T) => R | undefined): R | undefined {
  for (const one of list) {
    const found = find(one);
    if (found !== undefined) return found;
  }
  return undefined;
}

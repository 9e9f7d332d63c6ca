import { mkdir, rename, rm } from "node:fs/promises";
import { dirname, resolve } from "node:path";
import type { Core } from "../../core.ts";
import { getTeam, listTeams, type Team } from "../../identity/teams/teams.ts";
import { deriveAll } from "../../insight/derived/derived.ts";
import { currentPrices, reprice } from "../../insight/spend/spend.ts";
import { whereFull } from "../../kit/errors.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type Actor, recordAct } from "../../platform/audit/audit.ts";
import { type SealedTexts, sealedBlocks } from "../../record/telemetry/telemetry.ts";
import { AT_ONCE, atOnce } from "./at-once.ts";
import { folderOf } from "./day.ts";
import { directoryPlace } from "./directory-place.ts";
import { fileOfDevices, filesOfFolder, filesOfTexts } from "./make.ts";
import { blockPath, dayPath, devicesPath, openPath } from "./paths.ts";
import { rows } from "./rows.ts";
import { deviceRows, SOURCES } from "./sources.ts";
import type { Made } from "./work-types.ts";

/** What was written. */
interface LakeExport {
  readonly files: number;
  readonly rows: number;
  readonly bytes: number;
}

type File = Made & { readonly path: string };

/**
 * Writes the tables of the lake into a directory, once: what is not sealed yet as well. It is not of one instant.
 * @param directory is there, with all of it, or not at all
 * @param team id or exact name; all without it
 * @param onFile told with each file how many there are
 * @throws Problem invalid while the data directory's own prices have a mistake
 */
export async function exportParquet(
  core: Core,
  directory: string,
  team: string | undefined,
  onFile: (files: number) => void,
  by: Actor,
): Promise<LakeExport> {
  const teams = team === undefined ? listTeams(core) : [getTeam(core, team)];
  const [only] = team === undefined ? [] : teams;
  const { problem } = currentPrices(core);
  if (problem !== null) fail(invalid, problem);
  // On record before the first byte is anywhere.
  await recordAct(core, by, {
    action: "lake.exported",
    teamId: only?.id ?? null,
    target: { kind: "team", id: only?.id ?? null, label: only?.name ?? "all teams" },
  });
  await deriveAll(core);
  // Where no server runs, nobody else does it.
  await reprice(core);
  const partial = `${resolve(directory)}.partial`;
  const remove = () => rm(partial, { recursive: true, force: true });
  // Of one that was killed.
  await remove();
  try {
    await mkdir(partial, { mode: 0o755 });
    const done = await writeAll(partial, filesOf(core, teams), onFile);
    await rename(partial, directory);
    return done;
  } catch (error) {
    await remove();
    throw whereFull(dirname(partial), error, "the tables did not fit");
  }
}

async function writeAll(
  directory: string,
  all: AsyncIterable<File>,
  onFile: (files: number) => void,
): Promise<LakeExport> {
  const place = directoryPlace(directory);
  let [files, count, bytes] = [0, 0, 0];
  let made: File[] = [];
  const put = async () => {
    await atOnce(made, async (file) => {
      await place.put(file.path, file.bytes);
      files++;
      count += file.rows;
      bytes += file.bytes.length;
      onFile(files);
    });
    made = [];
  };
  // Several at a time: a disk flushes them almost as quickly as one.
  for await (const file of all) if (made.push(file) === AT_ONCE) await put();
  await put();
  return { files, rows: count, bytes };
}

async function* filesOf(core: Core, teams: readonly Team[]): AsyncGenerator<File> {
  const shard = rows(core.store).place.get()?.shard ?? "export";
  for (const team of teams) {
    yield* ofDays(core, shard, team.id);
    const devices = deviceRows(core, shard, team);
    if (devices.length === 0) continue;
    yield { ...(await fileOfDevices(core, team.id, devices)), path: devicesPath(team.id, shard) };
  }
  yield* ofEntries(core, shard, teams);
}

/**
 * What is sealed last, and to the last block that there is by then: what lies in none is sealed meanwhile, and blocks of which something
 * is erased come again at the end. What is there already is passed over.
 */
async function* ofEntries(core: Core, shard: string, teams: readonly Team[]): AsyncGenerator<File> {
  const written = new Set<number>();
  const write = (block: number | null, { parts: all, ...texts }: SealedTexts) => {
    const parts = all.filter(({ firstId }) => !written.has(firstId));
    for (const { firstId } of parts) written.add(firstId);
    return filesOfTexts(core, shard, block, { ...texts, parts });
  };
  for (const { id } of teams)
    for (const texts of sealedBlocks.open(core, id))
      for (const { day, ...made } of await write(null, texts))
        yield { ...made, path: openPath(id, folderOf(day), shard, texts.parts[0]?.firstId ?? 0) };
  const ids = new Set(teams.map(({ id }) => id));
  for (let block = sealedBlocks.next(core, 0); block !== undefined; block = sealedBlocks.next(core, block)) {
    const texts = sealedBlocks.read(core, block);
    if (!texts || !ids.has(texts.teamId)) continue;
    for (const { day, ...made } of await write(block, texts))
      yield { ...made, path: blockPath(texts.teamId, folderOf(day), shard, block) };
  }
}

async function* ofDays(core: Core, shard: string, teamId: string): AsyncGenerator<File> {
  for (const kind of ["spend", "sessions", "errors"] as const)
    for (const day of SOURCES[kind].folders(core, teamId)) {
      let number = 0;
      for await (const made of filesOfFolder(core, shard, { kind, teamId, day }))
        yield { ...made, path: dayPath(kind, teamId, day, shard, ++number) };
    }
}

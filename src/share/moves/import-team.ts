import type { Core } from "../../core.ts";
import { markOf } from "../../identity/people/people.ts";
import { findTeam, getTeam, type Team } from "../../identity/teams/teams.ts";
import { DERIVED, deriveAll } from "../../insight/derived/derived.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, unavailable } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { areCaughtUp, passOver } from "../../platform/projections/projections.ts";
import { logImports, nextLeaf, recordImport } from "../../platform/transparency/transparency.ts";
import { leaveLastDigest } from "../alarms/alarms.ts";
import type { CheckedFile } from "./check-file.ts";
import { mergeErasures } from "./merge-erasures.ts";
import {
  type Account,
  accountOf,
  addFunctions,
  appendLeaves,
  attach,
  copyIn,
  detach,
  erasuresOfInstallation,
  forgetPrices,
  hasAccount,
  lastNumber,
  NARROWED,
  notePeople,
  peopleInFile,
  pricesOf,
  renamed,
  takenDevices,
  takenPacks,
  unstatedEvents,
} from "./rows.ts";
import { MOVED, type NumberSpace, PACK_TABLES } from "./tables.ts";

export interface ImportOptions {
  /** What the team is called here; by default as it was. */
  readonly name?: string | undefined;
  readonly withoutPacks?: boolean | undefined;
}

export interface ImportedTeam {
  readonly team: Team;
  /** The number of the import's leaf, and how many came before it. */
  readonly leaf: number;
  readonly leaves: number;
  /** It had come already, and nothing was changed. */
  readonly isThere: boolean;
  /** Accounts that were made, and those that were there. */
  readonly people: { readonly made: readonly string[]; readonly known: readonly string[] };
}

/** How often is looked for an instant at which all is worked through that was delivered. */
const MAX_TRIES = 500;

/**
 * Takes in a team, in one transaction: all of it is here afterwards, or nothing. Others who write wait for as long as it takes.
 * @param file as `checked` tells of it
 * @throws Problem where it cannot come as things are; StoreUnavailable
 */
export async function importTeam(
  core: Core,
  file: string,
  checked: CheckedFile,
  by: Actor,
  options: ImportOptions = {},
): Promise<ImportedTeam> {
  const there = importedBefore(core, checked);
  if (there) return there;
  if (checked.manifest.movedTo === null)
    fail(
      conflict,
      `The team was still served where the file was made. There: reckon team move "${checked.manifest.team.name}" --to ADDRESS, then export it again.`,
    );
  const { db } = core.store;
  attach(db, file);
  try {
    addFunctions(db);
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      await deriveAll(core);
      const done = await core.store.write(() =>
        areCaughtUp(core, DERIVED) ? takeIn(core, checked, options, by) : undefined,
      );
      if (done) return done;
    }
  } finally {
    detach(db);
  }
  return fail(unavailable, "more is delivered than is worked through at the moment: try again later");
}

function importedBefore(core: Core, { manifest, manifestSha256 }: CheckedFile): ImportedTeam | undefined {
  const known = logImports(core).find(({ facts }) => facts.manifest === manifestSha256);
  if (!known) return undefined;
  const { leaf, facts } = known;
  const people = { made: [], known: [] };
  return { team: getTeam(core, manifest.team.id), leaf, leaves: facts.leaves, isThere: true, people };
}

/** Row changes. */
function takeIn(
  core: Core,
  checked: CheckedFile,
  { name, withoutPacks = false }: ImportOptions,
  by: Actor,
): ImportedTeam {
  const { db } = core.store;
  const { manifest, manifestSha256, head } = checked;
  const { id } = manifest.team;
  requireRoom(core, checked, name ?? manifest.team.name, withoutPacks);
  // Rows name one another in circles; that all are there is looked at when the transaction ends.
  db.pragma("defer_foreign_keys = ON");
  const accounts = accountsOf(core);
  notePeople(db, accounts);
  const offsets = new Map(numberSpaces().map((space) => [space, lastNumber(db, space)]));
  const newest = nextLeaf(core) - 1;
  const leaves = appendLeaves(db, newest);
  mergeErasures(db);
  const importLeaf = newest + leaves + 1;
  for (const table of MOVED)
    if (!withoutPacks || !PACK_TABLES.includes(table.name))
      copyIn(
        db,
        table.name === "teams" ? renamed(table, name ?? manifest.team.name) : table,
        { importLeaf, offsets },
        NARROWED[table.name],
      );
  // Entries that are gone keep their numbers, of which people's words are.
  db.exec(
    "UPDATE sqlite_sequence SET seq = max(seq, ifnull((SELECT max(id) FROM defects_gone), 0)) WHERE name = 'defects'",
  );
  const { origin, size, root } = head;
  const facts = { team: id, origin, size, root: root.toString("hex"), key: manifest.key };
  const noted = { erasures: erasuresOfInstallation(db), unstatedEvents: unstatedEvents(db) };
  const leaf = recordImport(core, { ...facts, leaves, manifest: manifestSha256, ...noted });
  if (leaf !== importLeaf) throw new Error(`the import's leaf is ${leaf} and was to be ${importLeaf}`);
  passOver(core, DERIVED);
  if (manifest.prices === null || manifest.prices !== pricesOf(db)) forgetPrices(db);
  leaveLastDigest(core, id);
  const team = getTeam(core, id);
  recordEvent(core, by, {
    action: "team.imported",
    teamId: id,
    target: { kind: "team", id, label: team.name },
    detail: { origin, size, leaves, manifest: manifestSha256, madeAt: manifest.madeAt },
  });
  const [made, known] = [false, true].map((isKnown) =>
    // Of who was erased there is nothing but a mark, by which nobody signs in.
    accounts.filter((one) => one.isKnown === isKnown && one.email !== markOf(one.there)).map(({ email }) => email),
  );
  return { team, leaf, leaves, isThere: false, people: { made: made ?? [], known: known ?? [] } };
}

const numberSpaces = (): NumberSpace[] => {
  const named = MOVED.flatMap(({ arriving = {} }) => Object.values(arriving));
  const spaces = named.filter((one): one is NumberSpace => typeof one === "string" && one.includes("."));
  return [...new Set(spaces)];
};

/** @throws Problem where something that comes has its place taken */
function requireRoom(core: Core, { manifest }: CheckedFile, name: string, withoutPacks: boolean): void {
  const { db } = core.store;
  const { id } = manifest.team;
  if (name.trim() !== name || name === "" || name.length > 200 || hasControls(name))
    fail(invalid, "A team's name has 1 to 200 characters on one line.");
  if (findTeam(core, id))
    fail(conflict, `The team ${id} is here already, from another file or from the beginning. Nothing was changed.`);
  if (findTeam(core, name))
    fail(conflict, `There is a team named "${name}" already: give this one another name with --name.`);
  if (takenDevices(db) > 0)
    fail(conflict, "Devices of the team are here already, in another team. Nothing was changed.");
  const packs = withoutPacks ? [] : takenPacks(db);
  if (packs.length > 0)
    fail(
      conflict,
      `Packs of these names are here already: ${packs.slice(0, 5).join(", ")}. Leave the team's packs behind with --without-packs.`,
    );
}

/** Whose accounts people have here: known by their addresses. */
function accountsOf(core: Core): (Account & { readonly email: string })[] {
  const { db } = core.store;
  return peopleInFile(db).map(({ id, email, emailKey }) => {
    const known = accountOf(db, emailKey);
    const free = hasAccount(db, id) ? newId("usr", core.clock, core.random) : id;
    return { there: id, here: known ?? free, isKnown: known !== undefined, email };
  });
}

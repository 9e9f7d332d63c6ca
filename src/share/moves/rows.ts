import { createHash } from "node:crypto";
import type { Store } from "../../platform/store/store.ts";
import type { Meaning, MovedTable, NumberSpace } from "./tables.ts";

/*
 * A move copies rows of every room as they stand, like a backup does, and looks into none: its statements are made from the list of
 * tables. `main` is the instance's database, or the file where that is looked at by itself.
 */

/** Tables that a file has besides those of the schema. */
export const FILE_TABLES = `
CREATE TABLE file_manifest (note TEXT NOT NULL) STRICT;
CREATE TABLE file_nodes (
  first   INTEGER PRIMARY KEY,
  level   INTEGER NOT NULL,
  sha256  BLOB NOT NULL
) STRICT;`;

/** Under which name a file is attached. */
export const FILE = "moving";

/** Opens a file beside the database, as `FILE`; not within a transaction. */
export const attach = (db: Store["db"], path: string): unknown => db.prepare(`ATTACH ? AS ${FILE}`).run(path);
export const detach = (db: Store["db"]): unknown => db.exec(`DETACH ${FILE}`);

/** What was written into a file may be lost while it has no name yet. */
export const writeCarelessly = (db: Store["db"]): void => {
  db.pragma(`${FILE}.journal_mode = OFF`);
  db.pragma(`${FILE}.synchronous = OFF`);
};

const columnsOf = (db: Store["db"], table: string): string[] =>
  db.prepare<[string], string>("SELECT name FROM pragma_table_info(?, 'main')").pluck().all(table);

/** The condition under which rows of a table are a team's. */
export const textOf = ({ where }: Pick<MovedTable, "where">, teamId: string) =>
  where.replaceAll("@team", quoted(teamId));
const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

/** Copies a team's rows of a table into the attached file. */
export function copyOut(db: Store["db"], table: MovedTable, teamId: string): void {
  const columns = columnsOf(db, table.name);
  const values = columns.map((name) => table.leaving?.[name]?.replaceAll("@team", quoted(teamId)) ?? `t.${name}`);
  db.exec(
    `INSERT INTO ${FILE}.${table.name} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM main.${table.name} t
     WHERE ${textOf(table, teamId)}`,
  );
}

/** What numbers become on arrival. */
export interface Arrival {
  /** The leaf of the import. */
  readonly importLeaf: number;
  readonly offsets: ReadonlyMap<NumberSpace, number>;
}

/** Copies all rows of a table of the attached file. @param where a condition over `t` that narrows them */
export function copyIn(db: Store["db"], table: MovedTable, arrival: Arrival, where = "TRUE"): void {
  const columns = columnsOf(db, table.name);
  const values = columns.map((name) => arriving(table, name, arrival));
  db.exec(
    `INSERT INTO main.${table.name} (${columns.join(", ")}) SELECT ${values.join(", ")} FROM ${FILE}.${table.name} t
     WHERE ${where}`,
  );
}

const isConstant = (sql: string) => /^(?:NULL|\d+)$/.test(sql);

function arriving({ leaving = {}, arriving: meanings = {} }: MovedTable, name: string, arrival: Arrival): string {
  const fixed = leaving[name];
  // Whoever made the file may have written something else.
  if (fixed !== undefined && isConstant(fixed)) return fixed;
  const meaning = meanings[name];
  return meaning === undefined ? `t.${name}` : arrivingValue(meaning, `t.${name}`, arrival);
}

const person = (value: string) =>
  `coalesce((SELECT p.here FROM temp.moving_people p WHERE p.there = ${value}), ${value})`;

function arrivingValue(meaning: Meaning, value: string, { importLeaf, offsets }: Arrival): string {
  if (meaning === "person") return person(value);
  if (meaning === "leaf")
    return `(SELECT m.leaf FROM main.log_import_leaves m WHERE m.import_leaf = ${importLeaf} AND m.origin = ${value})`;
  const offset = (space: string) => `${offsets.get(space as NumberSpace) ?? 0}`;
  if (typeof meaning === "string") return `iif(${value} > 0, ${value} + ${offset(meaning)}, ${value})`;
  return meaning.sql
    .replace(/OFFSET\(([\w.]+)\)/g, (_, space: string) => offset(space))
    .replace(/PERSON\(([\w.]+)\)/g, (_, column: string) => person(column));
}

/** The largest number that was ever given. */
export function lastNumber(db: Store["db"], space: NumberSpace): number {
  const [table, column] = space.split(".") as [string, string];
  const last = space === "telemetry_segments.first_id" ? "first_id + entries - 1" : column;
  const [stored, given] = [
    db.prepare<[], number>(`SELECT ${last} FROM main.${table} ORDER BY ${column} DESC LIMIT 1`).pluck().get(),
    db.prepare<[string], number>("SELECT seq FROM main.sqlite_sequence WHERE name = ?").pluck().get(table),
  ];
  return Math.max(stored ?? 0, given ?? 0);
}

/** A function of SQL that gives the files of a manifest the numbers that their contents have on arrival. */
export function addFunctions(db: Store["db"]): void {
  db.function("moved_entries", { deterministic: true }, (entries, offset) =>
    JSON.stringify(
      (JSON.parse(entries as string) as [string, number][]).map(([path, blob]) => [path, blob + (offset as number)]),
    ),
  );
}

/** Rows of a table, and a digest of what stands in them. */
export interface Digest {
  readonly rows: number;
  readonly sha256: string;
}

/** @param schema `main`, or that of an attached file */
export function digestOf(db: Store["db"], table: string, schema: "main" | typeof FILE = "main"): Digest {
  const hash = createHash("sha256");
  let rows = 0;
  for (const row of db
    .prepare<[], unknown[]>(`SELECT * FROM ${schema}.${table} NOT INDEXED`)
    .raw()
    .safeIntegers()
    .iterate()) {
    rows++;
    for (const value of row) hashValue(hash, value);
    hash.update("\n");
  }
  return { rows, sha256: hash.digest("hex") };
}

/** Each with its kind and length, so that no two rows are written alike. */
function hashValue(hash: ReturnType<typeof createHash>, value: unknown): void {
  if (value === null) hash.update("-;");
  else if (typeof value === "number" || typeof value === "bigint") hash.update(`n${value};`);
  else {
    const [kind, bytes] = typeof value === "string" ? ["t", Buffer.from(value)] : ["b", value as Buffer];
    hash.update(`${kind}${bytes.length}:`).update(bytes);
  }
}

/** Puts the hashes of a team's leaves into the attached file. */
export function copyLeaves(db: Store["db"], teamId: string): void {
  db.exec(
    `INSERT INTO ${FILE}.log_leaves (n, sha256) SELECT n, sha256 FROM main.log_leaves WHERE n IN (
       SELECT id FROM ${FILE}.deliveries UNION SELECT leaf FROM ${FILE}.audit_events WHERE leaf IS NOT NULL
       UNION SELECT leaf FROM ${FILE}.erased_events WHERE team_id = ${quoted(teamId)} UNION SELECT leaf FROM ${FILE}.log_imports)`,
  );
}

const LEAVES_READ = 4_096;

/** The numbers of the leaves in the attached file, rising; read in short queries. */
export function* leavesInFile(db: Store["db"]): Generator<number> {
  const some = db
    .prepare<[number, number], number>(`SELECT n FROM ${FILE}.log_leaves WHERE n > ? ORDER BY n LIMIT ?`)
    .pluck();
  for (let after = 0; ; ) {
    const read = some.all(after, LEAVES_READ);
    yield* read;
    if (read.length < LEAVES_READ) return;
    after = read.at(-1) as number;
  }
}

export interface NodeRow {
  readonly first: number;
  readonly level: number;
  readonly sha256: Buffer;
}

/** Writes nodes of the log's tree into the attached file. */
export function putNodes(db: Store["db"], nodes: Iterable<NodeRow>): void {
  const insert = db.prepare<[number, number, Buffer]>(
    `INSERT INTO ${FILE}.file_nodes (first, level, sha256) VALUES (?, ?, ?)`,
  );
  for (const { first, level, sha256 } of nodes) insert.run(first, level, sha256);
}

/** Writes the signed note that says what the attached file holds. */
export const putManifest = (db: Store["db"], note: string): unknown =>
  db.prepare(`INSERT INTO ${FILE}.file_manifest (note) VALUES (?)`).run(note);

/** Erasures of the attached file that are not done. */
export const unfinishedErasures = (db: Store["db"]): number =>
  db.prepare<[], number>(`SELECT count(*) FROM ${FILE}.erasures WHERE completed_at IS NULL`).pluck().get() ?? 0;

/** Erasures of the attached file that the installation's own events tell of, which do not come. */
export const erasuresOfInstallation = (db: Store["db"]): string[] =>
  db.prepare<[], string>(`SELECT id FROM ${FILE}.erasures WHERE team_id IS NULL ORDER BY id`).pluck().all();
/** Events of the attached file that names were taken out of by a version that stated nothing of it. */
export const unstatedEvents = (db: Store["db"]): number =>
  db
    .prepare<[], number>(
      `SELECT count(*) FROM ${FILE}.audit_events WHERE leaf IS NOT NULL AND item_key IS NULL AND item_sha256 IS NOT NULL`,
    )
    .pluck()
    .get() ?? 0;

/** Appends the leaves of the attached file behind the newest, in their order. @returns how many */
export function appendLeaves(db: Store["db"], newest: number): number {
  const count = db.prepare<[], number>(`SELECT count(*) FROM ${FILE}.log_leaves`).pluck().get() ?? 0;
  const importLeaf = newest + count + 1;
  const numbered = `${newest} + row_number() OVER (ORDER BY n)`;
  db.exec(`
    INSERT INTO main.log_leaves (n, sha256) SELECT ${numbered}, sha256 FROM ${FILE}.log_leaves ORDER BY n;
    INSERT INTO main.log_import_leaves (import_leaf, origin, leaf) SELECT ${importLeaf}, n, ${numbered} FROM ${FILE}.log_leaves ORDER BY n;
    INSERT INTO main.log_import_nodes (import_leaf, first, level, sha256)
      SELECT ${importLeaf}, first, level, sha256 FROM ${FILE}.file_nodes ORDER BY first`);
  return count;
}

/** Somebody whom a file names. */
export interface FilePerson {
  readonly id: string;
  readonly email: string;
  readonly emailKey: string;
}

/** Everybody whom the attached file names. */
export const peopleInFile = (db: Store["db"]): FilePerson[] =>
  db.prepare<[], FilePerson>(`SELECT id, email, email_key AS emailKey FROM ${FILE}.users ORDER BY id`).all();

/** The id of the account here that has an address. */
export const accountOf = (db: Store["db"], emailKey: string): string | undefined =>
  db.prepare<[string], string>("SELECT id FROM main.users WHERE email_key = ?").pluck().get(emailKey);
export const hasAccount = (db: Store["db"], id: string): boolean =>
  db.prepare<[string], 1>("SELECT 1 FROM main.users WHERE id = ?").pluck().get(id) === 1;

/** Whose account here somebody has whom a file names. */
export interface Account {
  readonly there: string;
  readonly here: string;
  /** Whether they had one before. */
  readonly isKnown: boolean;
}

/** Notes which account is whose, for `person` columns. */
export function notePeople(db: Store["db"], people: readonly Account[]): void {
  db.exec(`CREATE TEMP TABLE IF NOT EXISTS moving_people (there TEXT PRIMARY KEY, here TEXT NOT NULL, known INTEGER NOT NULL);
    DELETE FROM temp.moving_people`);
  const insert = db.prepare<[string, string, number]>(
    "INSERT INTO temp.moving_people (there, here, known) VALUES (?, ?, ?)",
  );
  for (const { there, here, isKnown } of people) insert.run(there, here, Number(isKnown));
}

/** Which rows of a table come, where not all do: accounts that were there are left as they are. */
export const NARROWED: Readonly<Record<string, string>> = {
  users: "t.id IN (SELECT there FROM temp.moving_people WHERE known = 0)",
  // What is on record of it here stays, see `mergeErasures`.
  erasures: "t.id NOT IN (SELECT id FROM main.erasures)",
  former_addresses: `NOT EXISTS (SELECT 1 FROM main.former_addresses f JOIN temp.moving_people p ON p.here = f.user_id
    WHERE p.there = t.user_id AND f.email = t.email)`,
};

/** At what prices the costs of sessions are kept; null where they are not yet. */
export const pricesOf = (db: Store["db"]): string | null =>
  db.prepare<[], string>("SELECT version FROM main.spend_pricing WHERE version NOT LIKE '% begun'").pluck().get() ??
  null;
/** Has them reckoned anew. */
export const forgetPrices = (db: Store["db"]): unknown => db.exec("DELETE FROM main.spend_pricing");

/** Names of packs in the attached file that are taken here. */
export const takenPacks = (db: Store["db"]): string[] =>
  db
    .prepare<[], string>(`SELECT name FROM ${FILE}.packs WHERE name IN (SELECT name FROM main.packs) ORDER BY name`)
    .pluck()
    .all();

/** Ids of the attached file that are taken here: tokens and devices are known by them. */
export const takenDevices = (db: Store["db"]): number =>
  db
    .prepare<[], number>(
      `SELECT count(*) FROM ${FILE}.devices d WHERE d.id IN (SELECT id FROM main.devices)
         OR EXISTS (SELECT 1 FROM ${FILE}.device_tokens k WHERE k.device_id = d.id AND k.token_hash IN (SELECT token_hash FROM main.device_tokens))`,
    )
    .pluck()
    .get() ?? 0;

/** The table of teams, where theirs is called otherwise on arrival. The name is written so that nothing in it is read as SQL. */
export const renamed = (table: MovedTable, name: string): MovedTable => ({
  ...table,
  arriving: { ...table.arriving, name: { sql: `CAST(x'${Buffer.from(name).toString("hex")}' AS TEXT)` } },
});

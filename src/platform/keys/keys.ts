/**
 * Keys: the signing key of an installation and its predecessors: made at the first start, loaded, rotated, retired, published.
 * Not here: what is signed with them (license, device-flow).
 */
import { chmodSync, existsSync, readdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { DataDirectoryError, StoreUnavailable } from "../../kit/errors.ts";
import { makeFolder, syncDirectory, syncFile, writeFileAtomically } from "../../kit/files.ts";
import { ALG, generateSigningPem, publicJwk, readSigningKey, type SigningKey } from "../../kit/jwt.ts";
import { type Actor, recordEvent } from "../audit/audit.ts";
import { soundKeys } from "./judge.ts";
import { type KeyRow, rows } from "./rows.ts";

export { keyFaults } from "./judge.ts";
export { activePublicPem, keyIds } from "./rows.ts";
export { isWrapped, unwrapKeys, wrapKeys, wrappedKeys } from "./wrap.ts";

const keyFile = (directory: string) => join(directory, "signing-key.pem");
/** A rotation writes the new key here first; a crash before the rename is finished by the next start. */
const nextKeyFile = (directory: string, kid: string) => join(directory, `signing-key.${kid}.pem`);
/** Names of such files, and of what a crash leaves of writing one. */
const NEXT_KEY = /^\.?signing-key\.[\w-]{43}\.pem/;

interface Loaded {
  key: SigningKey | undefined;
}
const loaded = slot((): Loaded => ({ key: undefined }));

function restoreAdvice(core: Core, row: KeyRow, problem: string): DataDirectoryError {
  return new DataDirectoryError(
    `the signing key ${keyFile(core.store.directory)} ${problem}: put back the file of key ${row.kid} from your backup ` +
      `("reckon restore FILE" brings back database and key together). A new key is never made beside an existing database, ` +
      "because licences already given out would stop verifying",
  );
}

async function readKeyFile(path: string): Promise<SigningKey | undefined> {
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
  return readSigningKey(pem);
}

/**
 * Moves the next key into place; whoever comes second, command or server, finds it done. Next keys of rotations that were cut short or
 * overtaken are removed. Next keys are written and moved with the database locked, so no rotation is under way meanwhile.
 */
function settleNextKeys(core: Core): Promise<void> {
  const { directory } = core.store;
  return core.store.write(() => {
    const kid = rows(core.store).active.get()?.kid ?? "";
    if (existsSync(nextKeyFile(directory, kid))) renameSync(nextKeyFile(directory, kid), keyFile(directory));
    for (const name of readdirSync(directory)) if (NEXT_KEY.test(name)) rmSync(join(directory, name), { force: true });
    syncDirectory(directory);
  });
}

/** Loads the key that the database says is active; finishes a rotation that a crash interrupted. */
async function loadActive(core: Core): Promise<SigningKey> {
  const { directory } = core.store;
  let row: KeyRow;
  let key: SigningKey | undefined;
  let looks = 0;
  do {
    // Twice, because a rotation beside this can move the file between one look and the next, or make another key the active one.
    row = rows(core.store).active.get() as KeyRow;
    try {
      key = await readKeyFile(keyFile(directory));
      if (key?.kid === row.kid) {
        soundKeys(core);
        return key;
      }
      const next = await readKeyFile(nextKeyFile(directory, row.kid));
      if (next?.kid === row.kid) {
        await settleNextKeys(core);
        return next;
      }
    } catch (error) {
      if (error instanceof StoreUnavailable) throw error;
      throw restoreAdvice(core, row, "cannot be read");
    }
  } while (++looks < 2);
  throw restoreAdvice(core, row, key ? `is another key (${key.kid})` : "is missing");
}

/**
 * The active signing key; made at the first start, atomically and with mode 0600. A key file that was put beside a new database
 * is adopted.
 * @throws DataDirectoryError when the database knows a key that the file is not
 */
export async function ensureSigningKey(core: Core): Promise<SigningKey> {
  const state = loaded(core);
  const row = rows(core.store).active.get();
  if (row && state.key?.kid === row.kid) return state.key;
  if (row) {
    state.key = await loadActive(core);
    return state.key;
  }
  const path = keyFile(core.store.directory);
  if (!existsSync(path)) {
    const pem = await generateSigningPem();
    try {
      writeFileAtomically(path, pem);
    } catch (error) {
      // Another process made the key in the meantime: theirs is the one.
      if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
    }
  }
  chmodSync(path, 0o600);
  // An adopted key was written by somebody else, perhaps a moment ago: the database must not know it before the disk does.
  syncFile(path);
  const key = await readSigningKey(readFileSync(path, "utf8"));
  await core.store.write(() => {
    if (!rows(core.store).active.get()) rows(core.store).insert.run(key.kid, ALG, key.publicPem, core.clock.now());
  });
  state.key = key;
  return key;
}

/**
 * Makes a new signing key and retires the old one, whose public half stays published so that what it signed still verifies.
 * Running servers take the new key up by themselves.
 */
export async function rotateKey(core: Core, by: Actor): Promise<KeyRow> {
  const { directory } = core.store;
  await ensureSigningKey(core);
  const pem = await generateSigningPem();
  const key = await readSigningKey(pem);
  await core.store.write(() => {
    const now = core.clock.now();
    // Another rotation may have come between.
    const old = rows(core.store).active.get() as KeyRow;
    writeFileAtomically(nextKeyFile(directory, key.kid), pem, true);
    makeFolder(join(directory, "retired-keys"));
    writeFileAtomically(join(directory, "retired-keys", `${old.kid}.pem`), old.publicPem, true);
    rows(core.store).retire.run(now);
    rows(core.store).insert.run(key.kid, ALG, key.publicPem, now);
    recordEvent(core, by, {
      action: "key.rotated",
      teamId: null,
      target: { kind: "key", id: key.kid },
      detail: { retired: old.kid },
    });
  });
  // A running server that saw the new row first has put the file in place already.
  await settleNextKeys(core);
  return listKeys(core).find(({ kid }) => kid === key.kid) as KeyRow;
}

/** All keys, the newest first. */
export function listKeys(core: Core): KeyRow[] {
  return rows(core.store).keys.all();
}

/** The public half (SPKI, PEM) of a key that signs or signed here; undefined for any other. */
export function findPublicKey(core: Core, kid: string): string | undefined {
  return soundKeys(core).find((key) => key.kid === kid)?.publicPem;
}

/** The JWK set (RFC 7517) of all keys that ever signed here. */
export async function publishedKeys(core: Core): Promise<{ keys: object[] }> {
  return { keys: await Promise.all(soundKeys(core).map((row) => publicJwk(row.publicPem, row.kid))) };
}

/** The public keys as PEM text, newest first. */
export function exportKeys(core: Core): string {
  return soundKeys(core)
    .map((row) => row.publicPem)
    .join("");
}

/** Whether a key was made here before; a first start has none yet. */
export function hasSigningKey(core: Core): boolean {
  return rows(core.store).active.get() !== undefined;
}

/**
 * A key that exists is loaded, and refused loudly, before the first request. A first start makes its key beside serving: making
 * one takes longer than starting, and only signatures wait for it.
 */
export async function prepareKey(core: Core): Promise<void> {
  if (core.config.signing === "off") return;
  if (hasSigningKey(core)) {
    await ensureSigningKey(core);
    if (readdirSync(core.store.directory).some((name) => NEXT_KEY.test(name))) await settleNextKeys(core);
  } else
    ensureSigningKey(core).catch((error: unknown) => {
      // A server that was stopped before its first key was made has nothing to report: the next start makes one.
      if (core.store.db.open) core.log.error("signing_key_failed", { cause: String(error) });
    });
}

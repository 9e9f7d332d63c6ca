import { scrypt } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Core } from "../../core.ts";
import { isObject } from "../../kit/json.ts";
import { fail, invalid, notFound } from "../../kit/problem.ts";
import { seal, unseal } from "../../kit/seal.ts";
import { type Actor, recordEvent } from "../audit/audit.ts";
import { BESIDE } from "../store/store.ts";
import { currentEpoch } from "../transparency/transparency.ts";
import { wrappedRows } from "./rows.ts";

/**
 * The private keys within the database, under a passphrase: a replica of the database has them, and it takes the passphrase to use them.
 */

const derive = promisify<string, Buffer, number, object, Buffer>(scrypt);
const KEY_BYTES = 32;
const SALT_BYTES = 16;
/** 128 MiB and some 0.4 s for each guess (OWASP's parameters for scrypt, RFC 7914). */
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
/** A replica may lie with strangers, who can guess for as long as they like. */
const MIN_PASSPHRASE_CHARS = 16;

/** Files by their names in the data directory. */
export type KeyFiles = Readonly<Record<string, string>>;

const NAMES = [BESIDE.key, BESIDE.ledgerKey] as const;

/**
 * Puts the private keys beside the database into it, sealed with AES-256-GCM under a key derived from the passphrase. Replaces what was
 * wrapped before.
 * @param kid of the signing key
 * @returns the names of the files
 */
export async function wrapKeys(core: Core, passphrase: string, kid: string, by: Actor): Promise<readonly string[]> {
  if (passphrase.length < MIN_PASSPHRASE_CHARS)
    fail(
      invalid,
      `a passphrase needs ${MIN_PASSPHRASE_CHARS} characters: whoever has the replica can guess for as long as they like`,
    );
  const names = NAMES.filter((name) => existsSync(join(core.store.directory, name)));
  const files = Object.fromEntries(names.map((name) => [name, readFileSync(join(core.store.directory, name), "utf8")]));
  const salt = core.random(SALT_BYTES);
  const sealed = seal(await derive(passphrase.normalize(), salt, KEY_BYTES, COST), core.random, { kid, files });
  await core.store.write(() => {
    wrappedRows(core.store).put.run(keysInForce(core, kid), salt, sealed, core.clock.now());
    recordEvent(core, by, { action: "key.wrapped", teamId: null, target: { kind: "key", id: kid }, detail: {} });
  });
  return names;
}

/** Identifies the current keys of an installation: keys wrapped under another name are older. @param kid of the signing key */
const keysInForce = (core: Core, kid: string | undefined): string => `${kid} ${currentEpoch(core)?.key}`;

/** Whether the wrapped keys are the current ones. @param kid of the signing key */
export const isWrapped = (core: Core, kid: string | undefined): boolean =>
  wrappedKeys(core)?.kid === keysInForce(core, kid);

/** The wrapped keys, and since when; undefined for none. */
export const wrappedKeys = (core: Core) => wrappedRows(core.store).get.get();

/** @throws Problem where none are wrapped, or the passphrase is another */
export async function unwrapKeys(core: Core, passphrase: string): Promise<KeyFiles> {
  const row =
    wrappedKeys(core) ??
    fail(notFound, 'no keys are wrapped in it: "reckon key wrap" was not run before; give the files with --key');
  const opened = unseal(await derive(passphrase.normalize(), row.salt, KEY_BYTES, COST), row.sealed);
  const files =
    isObject(opened) && isObject(opened.files)
      ? opened.files
      : fail(invalid, "the passphrase is not the one that the keys were wrapped with");
  return Object.fromEntries(
    NAMES.flatMap((name) => (typeof files[name] === "string" ? [[name, files[name]] as const] : [])),
  );
}

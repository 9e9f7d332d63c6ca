import { checkPrime, createPrivateKey } from "node:crypto";
import { chmodSync, lstatSync, mkdirSync, readFileSync } from "node:fs";
import { tmpdir, userInfo } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { writeFileAtomically } from "../../kit/files.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { generateSigningPem, readSigningKey } from "../../kit/jwt.ts";
import { type Random, seededRandom } from "../../kit/random.ts";

const PRIME_BITS = 1536;
const EXPONENT = 65537n;
/** Odd numbers looked at from a starting point: twenty times the mean distance of such primes. */
const SPAN = 10_000;

const isPrime = promisify(checkPrime) as (candidate: bigint) => Promise<boolean>;

/**
 * The signing key of a local instance, PKCS#8 PEM: from the seed alone, or one for all instances without a seed. Making one takes
 * a third of a second and more, so it is kept in a folder of this user's own below the system's temporary directory. Nobody may
 * rely on what it signs.
 */
export async function localSigningKey(seed: string | undefined, folder: string | undefined): Promise<string> {
  const name = seed === undefined ? "unseeded" : `key-${sha256Hex(seed).slice(0, 32)}`;
  const path = folder === undefined ? undefined : join(folder, `${name}.pem`);
  const held = path === undefined ? undefined : await readKept(path);
  if (held !== undefined) return held;
  const made = seed === undefined ? await generateSigningPem() : await derivePem(seededRandom(`${seed}\nsigning key`));
  if (path === undefined) return made;
  try {
    writeFileAtomically(path, made);
  } catch {
    // Another instance was faster, and its key is the one; or nothing can be kept, and this one will do.
    return (await readKept(path)) ?? made;
  }
  return made;
}

async function readKept(path: string): Promise<string | undefined> {
  try {
    const pem = readFileSync(path, "utf8");
    await readSigningKey(pem);
    return pem;
  } catch {
    return undefined;
  }
}

/** This user's own folder for keys; undefined when somebody else owns what is there. */
export function keyFolder(below = tmpdir()): string | undefined {
  try {
    const { uid, username } = userInfo();
    const folder = join(below, `reckon-keys-${uid >= 0 ? uid : username}`);
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const found = lstatSync(folder);
    if (!found.isDirectory() || (uid >= 0 && found.uid !== uid)) return undefined;
    if (uid >= 0 && (found.mode & 0o077) !== 0) chmodSync(folder, 0o700);
    return folder;
  } catch {
    return undefined;
  }
}

/** Makes an RSA-3072 key (FIPS 186-5 appendix A.1 without its entropy) whose every part follows from the random bytes. */
export async function derivePem(random: Random): Promise<string> {
  const starts = [startOf(random), startOf(random)] as const;
  const [p, q] = (await Promise.all(starts.map(primeFrom))) as [bigint, bigint];
  const d = inverse(EXPONENT, (p - 1n) * (q - 1n));
  const jwk = { n: p * q, e: EXPONENT, d, p, q, dp: d % (p - 1n), dq: d % (q - 1n), qi: inverse(q, p) };
  const spelled = Object.fromEntries(Object.entries(jwk).map(([name, value]) => [name, spell(value)]));
  const key = createPrivateKey({ format: "jwk", key: { kty: "RSA", ...spelled } });
  return key.export({ type: "pkcs8", format: "pem" }) as string;
}

/** An odd number with its two highest bits set, so that the product of two has full length. */
function startOf(random: Random): bigint {
  const bytes = random(PRIME_BITS / 8);
  bytes[0] = (bytes[0] as number) | 0xc0;
  bytes[bytes.length - 1] = (bytes.at(-1) as number) | 1;
  return BigInt(`0x${bytes.toString("hex")}`);
}

/** The first prime from an odd number on that suits the exponent. */
async function primeFrom(start: bigint): Promise<bigint> {
  const composite = sieve(start);
  for (let i = 0; i < SPAN; i++) {
    const candidate = start + 2n * BigInt(i);
    if (composite[i] || (candidate - 1n) % EXPONENT === 0n) continue;
    if (await isPrime(candidate)) return candidate;
  }
  throw new Error("no prime was found where one had to be");
}

/** Marks which of the odd numbers from `start` on have a small factor: each test of primality costs a millisecond. */
function sieve(start: bigint): Uint8Array {
  const composite = new Uint8Array(SPAN);
  for (const prime of smallPrimes(SPAN)) {
    const rest = Number(start % BigInt(prime));
    const first = (prime - rest) % prime;
    for (let i = (first % 2 === 0 ? first : first + prime) / 2; i < SPAN; i += prime) composite[i] = 1;
  }
  return composite;
}

function* smallPrimes(below: number): Generator<number> {
  const composite = new Uint8Array(below);
  for (let n = 3; n < below; n += 2) {
    if (composite[n]) continue;
    yield n;
    for (let multiple = n * n; multiple < below; multiple += 2 * n) composite[multiple] = 1;
  }
}

/** The inverse of a number modulo another (extended Euclid). */
function inverse(of: bigint, modulus: bigint): bigint {
  let [r, next, s, t] = [of % modulus, modulus, 1n, 0n];
  while (next !== 0n) {
    const times = r / next;
    [r, next] = [next, r - times * next];
    [s, t] = [t, s - times * t];
  }
  return ((s % modulus) + modulus) % modulus;
}

function spell(value: bigint): string {
  const hex = value.toString(16);
  return Buffer.from(hex.length % 2 === 0 ? hex : `0${hex}`, "hex").toString("base64url");
}

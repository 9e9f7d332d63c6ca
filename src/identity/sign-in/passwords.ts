import { type Argon2Parameters, argon2, timingSafeEqual } from "node:crypto";
import { promisify } from "node:util";
import type { Payer } from "../../kit/fair-queue.ts";
import { FairWait, payerAt } from "../../kit/fair-wait.ts";
import type { Random } from "../../kit/random.ts";
import { normalized } from "./password-rules.ts";

/** Parameters of the second recommended option of the OWASP password storage guidance for Argon2id (RFC 9106). */
const MEMORY_KIB = 19 * 1024;
const PASSES = 2;
const LANES = 1;
const TAG_BYTES = 32;
const SALT_BYTES = 16;

/** No password is longer, in UTF-16 code units. */
const MAX_CHARS = 2_048;

const derive = promisify(argon2);
/** Hashes computed at once: each takes memory and a core for tens of milliseconds, and other requests have to go on. */
const BATCH_SIZE = 2;
/** Hashes that wait at most, for strangers and for known people each: a few seconds' work. */
const MAX_WAITING = 100;
let running = 0;

/*
 * Strangers take turns by their addresses, so that many addresses do not give many turns. Known people (who have a sign-in or a link, or
 * used the account from their address before) take turns with all strangers together.
 */
const CROWDED = "Too many people are signing in at the moment. Try again in a few seconds.";
const known = new FairWait(MAX_WAITING, CROWDED);
const strangers = new FairWait(MAX_WAITING, CROWDED);
const KNOWN: Payer = { team: "known", credential: "" };

let isKnownsTurn = false;

/** Gives the next turn, to known people and strangers alternately. */
function giveNext(): void {
  isKnownsTurn = !isKnownsTurn;
  const [first, second] = isKnownsTurn ? [known, strangers] : [strangers, known];
  if (!first.next()) second.next();
}

async function inTurn<T>(stranger: string | undefined, work: () => Promise<T>): Promise<T> {
  if (running >= BATCH_SIZE) await (stranger === undefined ? known.turn(KNOWN) : strangers.turn(payerAt(stranger)));
  running++;
  try {
    return await work();
  } finally {
    running--;
    giveNext();
  }
}

function tag(
  password: string,
  salt: Buffer,
  cost: { memory: number; passes: number; parallelism: number; tagLength: number },
  stranger?: string,
) {
  const parameters: Argon2Parameters = { message: normalized(password), nonce: salt, ...cost };
  return inTurn(stranger, () => derive("argon2id", parameters));
}

const base64 = (bytes: Buffer) => bytes.toString("base64").replace(/=+$/, "");

/** @returns the hash in the PHC string format, `$argon2id$v=19$m=…,t=…,p=…$salt$tag` */
export async function hashPassword(password: string, random: Random): Promise<string> {
  const salt = random(SALT_BYTES);
  const bytes = await tag(password, salt, {
    memory: MEMORY_KIB,
    passes: PASSES,
    parallelism: LANES,
    tagLength: TAG_BYTES,
  });
  return `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${base64(salt)}$${base64(bytes)}`;
}

const PHC = /^\$argon2id\$v=19\$m=(\d+),t=(\d+),p=(\d+)\$([A-Za-z0-9+/]+)\$([A-Za-z0-9+/]+)$/;
/** A hash in place of an account that does not exist, so that a refusal takes equally long. */
const NOBODY = `$argon2id$v=19$m=${MEMORY_KIB},t=${PASSES},p=${LANES}$${"A".repeat(22)}$${"A".repeat(43)}`;

/**
 * Whether a password matches a stored hash. A null hash takes the same time and never matches.
 * @param stranger the address of somebody about whom nothing is known yet
 * @throws Problem 503 when too many wait already
 */
export async function verifyPassword(password: string, stored: string | null, stranger?: string): Promise<boolean> {
  // Nobody has such a password, and hashing megabytes would cost much more.
  if (password.length > MAX_CHARS) return false;
  const match = PHC.exec(stored ?? NOBODY);
  if (!match) return false;
  const expected = Buffer.from(match[5] as string, "base64");
  const cost = {
    memory: Number(match[1]),
    passes: Number(match[2]),
    parallelism: Number(match[3]),
    tagLength: expected.length,
  };
  const actual = await tag(password, Buffer.from(match[4] as string, "base64"), cost, stranger);
  return timingSafeEqual(actual, expected) && stored !== null;
}

import { readAsset } from "../../kit/assets.ts";
import { fail, invalid } from "../../kit/problem.ts";

/**
 * Rules for a password that somebody chooses (OWASP ASVS 5.0, 6.2; NIST SP 800-63B section 3.1.1.2). No rule demands kinds of characters.
 */

export const MIN_CHARS = 8;
const MAX_CHARS = 1_024;
/** Digits and signs after a word, which make no new password of it: `letmein123`, `Password1!`, `summer2026!`. */
const TAIL = /[^\p{L}]{1,5}$/u;
/** A few characters over and over: `aaaaaaaa`, `12341234`. */
const REPEATED = /^(.{1,4}?)\1+$/u;
/** Names of one or two characters say nothing. */
const MIN_NAME_CHARS = 3;
const PRODUCT = "reckon";

/** The person who chooses the password. */
export interface Chooser {
  readonly email: string;
  readonly name?: string | null;
  /** Names of the teams that the account is in, or is made for. */
  readonly teams?: readonly string[];
}

/** Two keyboards may compose the same letter differently (RFC 8265 section 4 asks for normalisation). */
export const normalized = (password: string) => password.normalize("NFKC");

/** A password as it is compared: without the digits and signs that people put behind a word. */
export const withoutTail = (password: string): string => password.replace(TAIL, "") || password;

let common: ReadonlySet<string> | undefined;

/**
 * The passwords that everybody tries first; read when the first password is chosen. `npm run generate` makes the file, in which each line
 * begins with how many characters (base 36) it shares with the one before.
 */
function commonPasswords(): ReadonlySet<string> {
  if (common) return common;
  const passwords = new Set<string>();
  let before = "";
  for (const line of readAsset("src/assets/common-passwords.txt").trimEnd().split("\n")) {
    before = before.slice(0, Number.parseInt(line.charAt(0), 36)) + line.slice(1);
    passwords.add(before);
  }
  common = passwords;
  return common;
}

/**
 * Judges a password that somebody chooses.
 * @throws Problem saying what is wrong with it, never repeating it
 */
export function requireAcceptablePassword(password: string, chooser: Chooser): void {
  const plain = normalized(password);
  const length = [...plain].length;
  if (length < MIN_CHARS) fail(invalid, `The password must have at least ${MIN_CHARS} characters.`);
  if (length > MAX_CHARS) fail(invalid, `The password must have at most ${MAX_CHARS} characters.`);
  const lower = plain.toLowerCase();
  const forms = [lower, withoutTail(lower)];
  if (isName(forms, chooser))
    fail(
      invalid,
      "The password must not be your e-mail address or name, your team's name or the product's, with digits or without.",
    );
  if (REPEATED.test(lower) || forms.some((form) => commonPasswords().has(form)))
    fail(invalid, "This password is among the first that anybody would try. Choose another.");
}

/** Whether a password is only a name connected with the account. */
function isName(forms: readonly string[], { email, name, teams = [] }: Chooser): boolean {
  const names = [email, ...email.split("@"), email.split("@")[1]?.split(".")[0], name, ...(name?.split(/\s+/) ?? [])];
  const bare = (text: string) =>
    normalized(text)
      .toLowerCase()
      .replace(/[^\p{L}\p{N}]/gu, "");
  const taken = new Set([...names, ...teams, PRODUCT].map((text) => bare(text ?? "")));
  return forms.some((form) => bare(form).length >= MIN_NAME_CHARS && taken.has(bare(form)));
}

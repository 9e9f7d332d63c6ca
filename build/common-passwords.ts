import { dictionary } from "@zxcvbn-ts/language-common";

/** Number of passwords that are long enough to be accepted here, and of words of any length that a password may begin with. */
const WHOLE = 4_000;
const WORDS = 4_000;

/**
 * The passwords that everybody tries first, for `src/assets/common-passwords.txt`: lower case, sorted, one a line, front-coded: a line's
 * first character, in base 36, says how many characters it shares with the line before. Ranked by how often they stood in lists that leaked
 * (the frequency lists of zxcvbn). A word with digits or signs behind it is left out when the word itself is in the list: the comparison
 * takes such a tail off (`withoutTail`).
 * @param shortest characters a password has at least
 * @param withoutTail takes off what is compared without
 */
export function commonPasswords(shortest: number, withoutTail: (password: string) => string): string {
  const ranked = (dictionary["passwords-common"] as readonly string[]).map((one) => one.toLowerCase());
  const words = ranked.slice(0, WORDS).filter((one) => /^\p{L}{4,}$/u.test(one));
  const whole = ranked.filter((one) => [...one].length >= shortest).slice(0, WHOLE);
  const found = new Set([...words, ...whole]);
  for (const one of found) {
    const bare = withoutTail(one);
    if (bare !== one && found.has(bare)) found.delete(one);
  }
  return frontCoded([...found].sort());
}

const MOST_SHARED = 35;

function frontCoded(sorted: readonly string[]): string {
  let before = "";
  const lines = sorted.map((word) => {
    let shared = 0;
    while (shared < MOST_SHARED && shared < word.length && word[shared] === before[shared]) shared++;
    before = word;
    return `${shared.toString(36)}${word.slice(shared)}\n`;
  });
  return lines.join("");
}

/** Characters that are invisible or change the direction of what follows: they could make a text look like another. Joiners too. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]/gu;

/** Whether a text holds signs that cannot be seen: controls, directions, joiners, fillers. */
export const hasUnseen = (text: string): boolean => text.search(UNSEEN) !== -1;

/** Joiners where people type them: within an emoji, and behind a letter of a script whose letters they shape. */
const JOINERS =
  /(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}]|\ufe0f)\u200d(?=\p{Extended_Pictographic})|(?<=[\p{sc=Arab}\p{sc=Syrc}\p{sc=Mong}\p{sc=Nkoo}\p{sc=Deva}\p{sc=Beng}\p{sc=Guru}\p{sc=Gujr}\p{sc=Orya}\p{sc=Taml}\p{sc=Telu}\p{sc=Knda}\p{sc=Mlym}\p{sc=Sinh}\p{sc=Khmr}\p{sc=Mymr}])[\u200c\u200d]/gu;
/** One variation selector chooses how the sign before it looks; further ones change nothing, and can carry a text. */
const SELECTORS = /[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]{2}/u;

/**
 * The first misleading character of a name, as in `U+202E`; undefined for a name that people may give. Unlike `hasUnseen` it allows joiners
 * where emoji and scripts need them: names of files hold them.
 */
export function misleadingSign(name: string): string | undefined {
  const found = name.replace(JOINERS, "").match(UNSEEN)?.[0] ?? name.match(SELECTORS)?.[0];
  return found === undefined ? undefined : codeOf(found);
}

const JOINER_OR_UNSEEN = new RegExp(`(${JOINERS.source})|${UNSEEN.source}`, "gu");
const FURTHER_SELECTORS = /(?<=[\ufe00-\ufe0f\u{e0100}-\u{e01ef}])[\ufe00-\ufe0f\u{e0100}-\u{e01ef}]+/gu;

const seen = (name: string): string => name.replace(JOINER_OR_UNSEEN, (_sign, joiner?: string) => joiner ?? "");

/** A name that comes from a program, without the characters that `misleadingSign` finds. */
export const withoutMisleading = (name: string): string =>
  // Twice: a joiner may have stood behind a selector that is gone now.
  seen(seen(name).replace(FURTHER_SELECTORS, ""));

const codeOf = (sign: string) => `U+${(sign.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`;

const codeShown = (sign: string) => `⟨${codeOf(sign)}⟩`;

/** A short text with every sign that cannot be seen spelled out, as in `⟨U+202E⟩`. For names of files that others chose. */
export const visible = (text: string): string => text.toWellFormed().replace(UNSEEN, codeShown);

/** Embeddings, overrides and isolates of direction, which show text in another order than it is read or run in (CVE-2021-42574). */
const DIRECTIONS = /[\u202a-\u202e\u2066-\u2069]/g;

/** A text of whatever length with every sign spelled out that turns its direction. Marks and letters, which turn themselves alone, stay. */
export const unturned = (text: string): string => text.replace(DIRECTIONS, codeShown);

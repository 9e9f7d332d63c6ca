import { attributes, type Html, html } from "../../../../kit/html.ts";
import { short } from "../shared/text.ts";

/* What a browser says of itself, for people: most also name those that they are to be taken for, so the first that is there counts. */

const BROWSERS = {
  Edg: "Edge",
  OPR: "Opera",
  Firefox: "Firefox",
  FxiOS: "Firefox",
  CriOS: "Chrome",
  Chrome: "Chrome",
  Safari: "Safari",
};

const SYSTEMS = {
  "Windows NT": "Windows",
  Android: "Android",
  iPhone: "iOS",
  iPad: "iOS",
  "Mac OS X": "macOS",
  CrOS: "ChromeOS",
  Linux: "Linux",
};

const MAX_CHARS = 60;

const nameIn = (names: Readonly<Record<string, string>>, text = ""): string | undefined =>
  Object.entries(names).find(([sign]) => text.includes(sign))?.[1];

/** `Firefox on Linux`; undefined where a header does not tell both. */
export function browserNamed(userAgent: string): string | undefined {
  const [, system, rest] = /^Mozilla\/5\.0 \(([^)]*)\)(.*)/.exec(userAgent) ?? [];
  const named = [nameIn(BROWSERS, rest), nameIn(SYSTEMS, system)];
  return named.includes(undefined) ? undefined : named.join(" on ");
}

/** A browser's name with all that it said of itself beside; of others what they said, cut. @param userAgent null where it said nothing */
export const browserShown = (userAgent: string | null): Html =>
  userAgent === null
    ? html`unknown browser`
    : html`<span${attributes({ title: userAgent })}>${browserNamed(userAgent) ?? short(userAgent, MAX_CHARS)}</span>`;

import { fail, invalid } from "../../kit/problem.ts";
import { isVersion } from "../../kit/versions.ts";

/** What installers are registered for, by the name it is kept under. */
export type Platform = "win32";

/** Names that a client may ask by. */
export const PLATFORM_NAMES: Readonly<Record<string, Platform>> = { win32: "win32", win: "win32" };

/** The platform of a name; undefined when there are no installers for it, ever. */
export function platformOf(name: string): Platform | undefined {
  return Object.hasOwn(PLATFORM_NAMES, name) ? PLATFORM_NAMES[name] : undefined;
}

/** A version by semver.org 2.0.0, as it is kept. @throws Problem */
export function readVersion(text: string): string {
  if (!isVersion(text) || text.length > 100)
    fail(invalid, "a version has three numbers, as in 1.2.0 or 1.2.0-beta.1 (semver.org), and no build metadata");
  return text;
}

/** An SHA-512 as people paste it: 128 hexadecimal digits, or base64 as in electron-updater's `latest.yml`. @throws Problem */
export function readSha512(text: string): Buffer {
  const digest = /^[0-9a-f]{128}$/i.test(text) ? Buffer.from(text, "hex") : Buffer.from(text, "base64");
  if (digest.length !== 64 || (digest.toString("base64") !== text && text.length !== 128))
    fail(invalid, "an SHA-512 has 128 hexadecimal digits, or 88 characters of base64");
  return digest;
}

/** An address that installers are fetched from. @throws Problem */
export function readUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isPlain = url?.username === "" && url.password === "" && text.length <= 2_000;
  if (!isPlain || !["https:", "http:"].includes(url.protocol))
    fail(invalid, "a release's URL begins with https:// or http:// and carries no user name or password");
  return url.href;
}

/** A file's own name made safe for addresses and headers. @throws Problem when nothing is left of it */
export function readFileName(name: string): string {
  const safe = name
    .replace(/[^\w.+-]+/g, "-")
    .replace(/^[-.]+/, "")
    .slice(0, 150);
  if (safe === "") fail(invalid, "the file's name has no character that can stand in an address");
  return safe;
}

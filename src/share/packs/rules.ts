import { fail, invalid } from "../../kit/problem.ts";
import { hasControls } from "../../kit/strings.ts";
import { isVersion } from "../../kit/versions.ts";

/** What a pack may be called and said to be. */

const MAX_TAGS = 10;
const MAX_README_BYTES = 64 * 1024;
export const MAX_FILES = 500;
/** Of the files together, before they are packed. */
export const MAX_PACK_BYTES = 5 * 1024 * 1024;
export const MAX_PACKS_OF_TEAM = 100;
export const MAX_VERSIONS = 200;

/** What stands where no licence was named: nobody may be given rights that the publisher did not give. */
export const NO_LICENSE = "All rights reserved";

/** Licences to choose from, none and then some by SPDX identifier (spdx.org/licenses); any other text is taken too. */
const LICENSES = [
  NO_LICENSE,
  "CC-BY-4.0",
  "CC-BY-SA-4.0",
  "CC0-1.0",
  "MIT",
  "Apache-2.0",
  "BSD-3-Clause",
  "MPL-2.0",
  "GPL-3.0-or-later",
] as const;

const SLUG = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;
/** Names that pages of ours have. */
const RESERVED = new Set(["new", "packs"]);

/** @throws Problem */
export function readName(text: string): string {
  const name = text.trim();
  if (!SLUG.test(name) || name.length < 2 || name.length > 64)
    fail(invalid, "a pack's name has 2 to 64 lower-case letters and digits, words joined by single dashes");
  if (RESERVED.has(name)) fail(invalid, `"${name}" cannot be a pack's name; choose another`);
  return name;
}

/** A version by semver.org 2.0.0, without build metadata, which orders nothing. @throws Problem */
export function readVersion(text: string): string {
  const version = text.trim();
  if (version.length > 64 || !isVersion(version))
    fail(
      invalid,
      "a version has three numbers, as in 1.2.0, and may have a pre-release such as 1.2.0-beta.1 (semver.org)",
    );
  return version;
}

/** Tags as slugs, each once, in order. Everyday spellings become slugs: `C#`, `C++`, `Node.js`. @throws Problem */
export function readTags(texts: readonly string[]): string[] {
  const tags = new Set<string>();
  for (const text of texts) {
    const spelled = text.trim().toLowerCase().replaceAll("#", "-sharp").replaceAll("+", "p");
    const tag = spelled.replace(/[\s._]+/g, "-").replace(/^-/, "");
    if (tag === "") continue;
    if (!SLUG.test(tag) || tag.length > 32)
      fail(
        invalid,
        `a tag has up to 32 letters and digits, words joined by single dashes; "${text.slice(0, 60)}" has others`,
      );
    tags.add(tag);
  }
  if (tags.size > MAX_TAGS) fail(invalid, `a pack has at most ${MAX_TAGS} tags`);
  return [...tags].sort();
}

/** One line of text that may be empty. @throws Problem */
export function readLine(text: string, what: string, max: number): string {
  const line = text.trim();
  if (line.length > max || hasControls(line)) fail(invalid, `${what} has at most ${max} characters on one line`);
  return line;
}

/** @throws Problem */
export function readReadme(text: string): string {
  const readme = text.replaceAll("\r\n", "\n").trim();
  const bytes = Buffer.byteLength(readme);
  if (bytes > MAX_README_BYTES) fail(invalid, `the README exceeds ${MAX_README_BYTES / 1024} KiB`);
  if (!readme.isWellFormed() || readme.includes("\0")) fail(invalid, "the README is not text");
  return readme === "" || bytes === MAX_README_BYTES ? readme : `${readme}\n`;
}

const RULE = /^[ \t>*_+-]{0,16}prevention rules?\b/i;

/** Prevention rules in a brain file: paragraphs that say they are one. */
export function countRules(content: string): number {
  let count = 0;
  for (const line of content.split(/\r\n|[\r\n]/)) if (RULE.test(line)) count++;
  return count;
}

/** What forms offer and allow. */
export const PACK_RULES = { licenses: LICENSES, maxTags: MAX_TAGS } as const;

import type { Core } from "../../core.ts";
import { getTeam, requireCapability } from "../../identity/accounts/accounts.ts";
import { parseEntries } from "../../insight/defects/defects.ts";
import { sha256 } from "../../kit/hash.ts";
import { fail, forbidden, invalid } from "../../kit/problem.ts";
import { packArchive } from "./archive.ts";
import { type Choice, chooseFiles, requireApart } from "./choose.ts";
import { type Cleaned, clean, type Leak, leaksIn, type Replaced } from "./clean.ts";
import type { PackFile } from "./entry.ts";
import { currentVersion } from "./offer.ts";
import { requirePublishable } from "./publish.ts";
import { rows } from "./rows.ts";
import { countRules, NO_LICENSE, readLine, readName, readReadme, readTags, readVersion } from "./rules.ts";

/** What somebody wants to publish. What is left out stays as the pack's last version has it. */
export interface WantedPack extends Choice {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  /** Markdown. */
  readonly readme?: string | undefined;
  readonly license?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

export interface DraftFile extends PackFile {
  /** Where it comes from in the brain; null for what was made for the pack. */
  readonly source: string | null;
}

/** A pack as it would be published, without any secret in it. */
export interface PackDraft {
  readonly teamId: string;
  readonly publisher: string;
  readonly repoKey: string;
  /** The brain's snapshot that it is made of. */
  readonly snapshotId: number;
  readonly name: string;
  readonly version: string;
  /** The version that is offered now; null for a new pack. */
  readonly previous: string | null;
  readonly title: string;
  readonly summary: string;
  readonly license: string;
  readonly tags: readonly string[];
  readonly readme: string;
  readonly files: readonly DraftFile[];
  readonly rules: number;
  /** Fingerprints of its dated entries that have one, in hexadecimal digits. */
  readonly classes: readonly string[];
  /** Certain secrets: with any, it cannot be published. */
  readonly leaks: readonly Leak[];
  readonly replaced: readonly Replaced[];
  readonly archive: Buffer;
  /** Of the archive, lower-case hexadecimal: names exactly what was looked at. */
  readonly sha256: string;
}

const MAX_SUMMARY = 200;
const README = "README.md";
const MANIFEST = "pack.json";

/**
 * Puts a pack together from the current brain and checks all of it for secrets; nothing is stored.
 * @throws Problem for a name, version, file or text that cannot be published; Problem tierGate
 */
export async function draftPack(core: Core, teamId: string, wanted: WantedPack): Promise<PackDraft> {
  const team = getTeam(core, teamId);
  requireCapability(team.tier, "brain");
  if (team.suspendedAt !== null) fail(forbidden, "the team's account is suspended");
  const name = readName(wanted.name);
  const version = readVersion(wanted.version);
  const stored = requirePublishable(core, team.id, name, version);
  const current = stored && currentVersion(core, stored.id);
  const last = current && rows(core.store).contents.get(current.id);
  const chosen = chooseFiles(core, team.id, wanted);

  const leaks: Leak[] = [
    ...leaksIn("name", name),
    ...leaksIn("version", version),
    ...(wanted.tags ?? []).flatMap((tag) => leaksIn("tags", tag)),
  ];
  const replaced: Replaced[] = [];
  const taken = (cleaned: Cleaned) => {
    leaks.push(...cleaned.leaks);
    replaced.push(...cleaned.replaced);
    return cleaned.text;
  };
  const given = taken(clean("README", readReadme(wanted.readme ?? "")));
  const line = (text: string | undefined, what: string, most: number, otherwise: string) =>
    taken(clean(what, readLine(text?.trim() || otherwise, `the ${what}`, most)));

  const title = line(wanted.title, "title", 100, stored?.title ?? titleFrom(name));
  const summary = line(wanted.summary, "summary", MAX_SUMMARY, stored?.summary ?? summaryFrom(given));
  const license = line(wanted.license, "licence", 100, stored?.license ?? NO_LICENSE);
  const tags =
    wanted.tags === undefined && stored ? (JSON.parse(stored.tags) as string[]) : readTags(wanted.tags ?? []);

  const bodies = chosen.files.map(({ source, path, content }) => {
    leaks.push(...leaksIn("the path of a file", source));
    return { source, path, text: taken(clean(source, content)) };
  });
  const own = bodies.find(isReadme);
  const readme = given || (own?.text ?? last?.readme ?? `# ${title}\n\n${summary}\n`);

  const content = [
    { source: own && !given ? own.source : null, path: README, text: readme },
    ...bodies.filter((one) => !isReadme(one)),
  ];
  if (content.some(({ path }) => path.toLowerCase() === MANIFEST))
    fail(invalid, `a pack brings its own ${MANIFEST}; leave out the brain's`);
  requireApart([...content, { source: null, path: MANIFEST }]);
  const rules = bodies.reduce((sum, { text }) => sum + countRules(text), 0);
  const classes = classesOf(bodies.map(({ text }) => text));
  const files = content.map(({ source, path, text }) => ({ source, ...fileOf(path, text) }));
  const about = { name, version, title, summary, license, tags, publisher: team.name, rules };
  const manifest = `${JSON.stringify({ ...about, files: files.map(({ source: _, ...file }) => file) }, null, 2)}\n`;
  const archive = await packArchive(
    `${name}-${version}`,
    [...content, { path: MANIFEST, text: manifest }].map(({ path, text }) => ({ path, content: Buffer.from(text) })),
  );
  return {
    teamId: team.id,
    publisher: team.name,
    repoKey: wanted.repoKey,
    snapshotId: chosen.snapshot.snapshotId,
    ...{ name, version, title, summary, license, tags, readme, rules, classes, leaks, replaced, archive },
    previous: current?.version ?? null,
    files: [...files, { source: null, ...fileOf(MANIFEST, manifest) }],
    sha256: sha256(archive).toString("hex"),
  };
}

const MAX_CLASSES = 1_000;

/** Fingerprints of the entries with a prevention rule: by them a team that installs the pack sees whether a mistake came back. */
function classesOf(texts: readonly string[]): string[] {
  const ruled = texts.flatMap((text) => parseEntries(text).filter(({ rule }) => rule !== null));
  return [...new Set(ruled.map(({ fingerprint }) => fingerprint.toString("hex")))].slice(0, MAX_CLASSES);
}

/** However it is spelled: on many disks, README.md and readme.md are one file. */
const isReadme = ({ path }: { readonly path: string }) => path.toLowerCase() === README.toLowerCase();

const fileOf = (path: string, text: string): PackFile => ({
  path,
  bytes: Buffer.byteLength(text),
  sha256: sha256(text).toString("hex"),
});

/** The first lines of prose in a README, as far as they fit. */
function summaryFrom(readme: string): string {
  const prose = readme.split(/\n{2,}/).find((block) => /^\p{L}/u.test(block.trim()) && !/^[=-]+$/m.test(block));
  const text = (prose ?? "").replace(/\s+/g, " ").replace(/[*_`]/g, "").trim();
  return text.length <= MAX_SUMMARY ? text : `${text.slice(0, MAX_SUMMARY - 1).replace(/\s\S*$/, "")}…`;
}

const titleFrom = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

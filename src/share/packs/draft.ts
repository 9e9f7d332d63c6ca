import type { Core } from "../../core.ts";
import { parseEntries } from "../../formats/errors/parse.ts";
import { getTeam, requireCapability } from "../../identity/teams/teams.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { fail, forbidden, invalid } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { packArchive } from "./archive.ts";
import { type Choice, chooseFiles, requireApart } from "./choose.ts";
import { clean, type Leak, leaksIn, leaksText, type Replaced } from "./clean.ts";
import type { PackFile } from "./entry.ts";
import { currentVersion, requirePublishable } from "./offer.ts";
import { rows, type StoredPack } from "./rows.ts";
import { countRules, NO_LICENSE, readLine, readName, readReadme, readTags, readVersion } from "./rules.ts";

/** What somebody wants to publish. What is left out stays as the pack's last version has it. */
export interface PackRequest extends Choice {
  readonly name: string;
  readonly version: string;
  readonly title?: string | undefined;
  readonly summary?: string | undefined;
  /** Markdown. */
  readonly readme?: string | undefined;
  readonly license?: string | undefined;
  readonly tags?: readonly string[] | undefined;
}

interface DraftFile extends PackFile {
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
  /** Says so of them; null when there are none. */
  readonly refusal: string | null;
  readonly replaced: readonly Replaced[];
  readonly archive: Buffer;
  /** Of the archive, lower-case hexadecimal: names exactly what was looked at. */
  readonly sha256: string;
}

const MAX_SUMMARY = 200;
const README = "README.md";
const MANIFEST = "pack.json";

/** Takes secrets out of one text after another and remembers what was found. */
class Cleaner {
  readonly leaks: Leak[] = [];
  readonly replaced: Replaced[] = [];
  /** Awaited between files: five megabytes of them are read several times. */
  readonly yieldNow: () => Promise<void> | undefined;
  constructor({ clock }: Core) {
    this.yieldNow = cooperative(clock);
  }

  /** @returns the text as it may be published */
  async clean(where: string, original: string): Promise<string> {
    const { text, leaks, replaced } = await clean(where, original, this.yieldNow);
    this.leaks.push(...leaks);
    this.replaced.push(...replaced);
    return text;
  }

  /** Looks at what cannot be published in part. */
  inspect(where: string, text: string): void {
    this.leaks.push(...leaksIn(where, text));
  }

  line(what: string, text: string, max: number): Promise<string> {
    return this.clean(what, readLine(text, `the ${what}`, max));
  }
}

/**
 * Puts a pack together from the current brain and checks all of it for secrets; nothing is stored.
 * @throws Problem for a name, version, file or text that cannot be published; Problem tierGate
 */
export async function draftPack(core: Core, teamId: string, request: PackRequest): Promise<PackDraft> {
  const team = getTeam(core, teamId);
  requireCapability(team.tier, "brain");
  if (team.suspendedAt !== null) fail(forbidden, "the team's account is suspended");
  const name = readName(request.name);
  const version = readVersion(request.version);
  const stored = requirePublishable(core, team.id, name, version);
  const current = stored && currentVersion(core, stored.id);
  const last = current && rows(core.store).contents.get(current.id);
  const { files: chosen, snapshot } = chooseFiles(core, team.id, request);

  const cleaner = new Cleaner(core);
  cleaner.inspect("name", name);
  cleaner.inspect("version", version);
  for (const tag of request.tags ?? []) cleaner.inspect("tags", tag);
  const given = await cleaner.clean("README", readReadme(request.readme ?? ""));
  const about = await describe(cleaner, request, stored, { title: titleFrom(name), summary: summaryFrom(given) });
  const bodies: SourceText[] = [];
  const classes = new Set<string>();
  let rules = 0;
  for (const { source, path, content } of chosen) {
    cleaner.inspect("the path of a file", source);
    const text = await cleaner.clean(source, content);
    bodies.push({ source, path, text });
    rules += countRules(text);
    for (const one of classesOf(text)) classes.add(one);
    await cleaner.yieldNow();
  }
  const own = bodies.find(isReadme);
  const readme = given || (own?.text ?? last?.readme ?? `# ${about.title}\n\n${about.summary}\n`);
  const content = [
    { source: own && !given ? own.source : null, path: README, text: readme },
    ...bodies.filter((body) => !isReadme(body)),
  ];
  const texts = { name, version, ...about };
  const { leaks, replaced } = cleaner;
  return {
    ...texts,
    ...(await pack(content, { ...texts, publisher: team.name, rules })),
    readme,
    rules,
    leaks,
    replaced,
    teamId: team.id,
    publisher: team.name,
    repoKey: request.repoKey,
    snapshotId: snapshot.snapshotId,
    previous: current?.version ?? null,
    classes: [...classes].slice(0, MAX_CLASSES),
    refusal: leaks.length > 0 ? leaksText(leaks) : null,
  };
}

type About = Pick<PackDraft, "title" | "summary" | "license" | "tags">;

/** What is said of a pack: as requested, or else as its last version has it. */
async function describe(
  cleaner: Cleaner,
  request: PackRequest,
  stored: StoredPack | undefined,
  usual: Pick<About, "title" | "summary">,
): Promise<About> {
  const { title, summary, license } = stored ?? { ...usual, license: NO_LICENSE };
  return {
    title: await cleaner.line("title", request.title?.trim() || title, 100),
    summary: await cleaner.line("summary", request.summary?.trim() || summary, MAX_SUMMARY),
    license: await cleaner.line("licence", request.license?.trim() || license, 100),
    tags: request.tags === undefined && stored ? (JSON.parse(stored.tags) as string[]) : readTags(request.tags ?? []),
  };
}

interface SourceText {
  readonly source: string | null;
  readonly path: string;
  readonly text: string;
}

/** Makes the archive, with its manifest. @param about what the manifest says beside the files */
async function pack(
  content: readonly SourceText[],
  about: About & {
    readonly name: string;
    readonly version: string;
    readonly publisher: string;
    readonly rules: number;
  },
): Promise<Pick<PackDraft, "files" | "archive" | "sha256">> {
  if (content.some(({ path }) => path.toLowerCase() === MANIFEST))
    fail(invalid, `a pack brings its own ${MANIFEST}; leave out the brain's`);
  requireApart([...content, { source: null, path: MANIFEST }]);
  const files = content.map(({ source, path, text }) => ({ source, ...fileOf(path, text) }));
  const manifest = `${JSON.stringify({ ...about, files: files.map(({ source: _, ...file }) => file) }, null, 2)}\n`;
  const archive = await packArchive(
    `${about.name}-${about.version}`,
    [...content, { path: MANIFEST, text: manifest }].map(({ path, text }) => ({ path, content: Buffer.from(text) })),
  );
  return {
    files: [...files, { source: null, ...fileOf(MANIFEST, manifest) }],
    archive,
    sha256: sha256Hex(archive),
  };
}

const MAX_CLASSES = 1_000;

/** Fingerprints of the entries with a prevention rule: by them a team that installs the pack sees whether a mistake came back. */
const classesOf = (text: string): string[] =>
  parseEntries(text).flatMap(({ rule, fingerprint }) => (rule === null ? [] : fingerprint.toString("hex")));

/** However it is spelled: on many disks, README.md and readme.md are one file. */
const isReadme = ({ path }: { readonly path: string }) => path.toLowerCase() === README.toLowerCase();

const fileOf = (path: string, text: string): PackFile => ({
  path,
  bytes: Buffer.byteLength(text),
  sha256: sha256Hex(text),
});

/** The first lines of prose in a README, as far as they fit. */
function summaryFrom(readme: string): string {
  const prose = readme.split(/\n{2,}/).find((block) => /^\p{L}/u.test(block.trim()) && !/^[=-]+$/m.test(block));
  const text = (prose ?? "").replace(/\s+/g, " ").replace(/[*_`]/g, "").trim();
  return text.length <= MAX_SUMMARY ? text : `${text.slice(0, MAX_SUMMARY - 1).replace(/\s\S*$/, "")}…`;
}

const titleFrom = (name: string) => name.charAt(0).toUpperCase() + name.slice(1).replaceAll("-", " ");

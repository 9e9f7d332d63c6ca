/**
 * How right the links are: entries made of the commits of real repositories, compared with their real agent sessions. That a
 * session's checkpoint stands in a commit's trailer is a fact which the capture tool wrote; who introduced what a fix mended is
 * a heuristic (blame, SZZ).
 */
import { expect, it } from "vitest";
import { type Link, linksProjection, listLinks } from "../../src/insight/causes/causes.ts";
import { catchUp } from "../../src/platform/projections/projections.ts";
import { startWithDevice } from "../support/instance.ts";
import { describeReal, readData } from "./data.ts";

interface RealCommit {
  readonly sha: string;
  readonly commit_date: string;
  readonly checkpoints: readonly string[];
  readonly files: readonly { readonly path: string }[];
}
interface RealSession {
  readonly session_id: string;
  readonly checkpoints: readonly {
    readonly id: string;
    readonly created_at: string;
    readonly files_touched: readonly string[];
  }[];
  readonly first_event: string | null;
  readonly last_event: string | null;
  readonly prompts: readonly { readonly ts: string; readonly text: string }[];
  readonly edits: readonly { readonly ts: string; readonly file: string }[];
}
interface RealFix {
  readonly fix: string;
  readonly fix_date: string;
  readonly introduced_by: readonly {
    readonly sha: string;
    readonly files: readonly string[];
    readonly checkpoints: readonly string[] | null;
  }[];
}

/** An entry and the sessions that it is rightly put down to. */
interface Example {
  readonly date: string;
  readonly text: string;
  readonly truth: ReadonlySet<string>;
}

const lines = <T>(path: string): T[] =>
  readData(path)
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as T);

/** The day that somebody would write, as many days later. */
function dayOf(written: string, later = 0): string {
  return new Date(Date.parse(`${written.slice(0, 10)}T00:00:00Z`) + later * 86_400_000).toISOString().slice(0, 10);
}

function read(repository: string) {
  const commits = lines<RealCommit>(`githistory/${repository}/commits.jsonl`);
  const sessions = lines<RealSession>(`githistory/${repository}/sessions.jsonl`);
  const fixes = lines<RealFix>(`githistory/${repository}/szz.jsonl`);
  const ofCheckpoint = Map.groupBy(
    sessions.flatMap((session) => session.checkpoints.map(({ id }) => ({ id, session: session.session_id }))),
    ({ id }) => id,
  );
  const sessionsOf = (checkpoints: readonly string[] | null): Set<string> =>
    new Set((checkpoints ?? []).flatMap((id) => ofCheckpoint.get(id)?.map(({ session }) => session) ?? []));
  return { commits, sessions, fixes, sessionsOf };
}
type History = ReturnType<typeof read>;

/** What a client would send of a session: its commits, prompts and edits, and perhaps the files its checkpoints list. */
function sessionBody({ commits }: History, session: RealSession, withFiles: boolean): object {
  const made = commits.filter((commit) =>
    commit.checkpoints.some((id) => session.checkpoints.some((one) => one.id === id)),
  );
  const checkpointed = session.checkpoints.map(({ created_at }) => created_at).sort();
  return {
    id: session.session_id,
    outcome: "unknown",
    startedAt: session.first_event ?? checkpointed[0],
    endedAt: session.last_event ?? checkpointed.at(-1),
    prompts: session.prompts.map(({ ts, text }) => ({ at: ts, text })),
    commits: made.map(({ sha, commit_date }) => ({ sha, at: commit_date })),
    files: withFiles ? session.checkpoints.flatMap(({ files_touched }) => files_touched) : [],
    spans: session.edits.map(({ ts, file }, i) => ({ id: `e${i}`, startedAt: ts, edits: [{ path: file }] })),
  };
}

const naming = (files: readonly string[]) => `It broke in:\n\n${files.map((file) => `- \`${file}\``).join("\n")}`;

/** The one commit that the entry names is the remedy, and no word says so: by rule it is taken for the cause. Shown, not held. */
const FIX_ALONE = "fix, no word of it";
/** Commits that no captured session made. Whether an agent made them nobody knows; every link counts as wrong. Shown, not held. */
const NOBODYS = "no session's commit";

/** Ways in which people write entries, each with what is right. */
function ways({ commits, sessions, fixes, sessionsOf }: History): Record<string, Example[]> {
  const captured = commits.filter((one) => one.files.length > 0 && sessionsOf(one.checkpoints).size > 0);
  const others = commits.filter((one) => one.files.length > 0 && one.checkpoints.length === 0);
  const filesOf = (commit: RealCommit) => commit.files.map(({ path }) => path);
  const byCommit = (text: (commit: RealCommit) => string, later: number, of = captured) =>
    of.map((commit) => ({
      date: dayOf(commit.commit_date, later),
      text: text(commit),
      truth: sessionsOf(commit.checkpoints),
    }));
  const known = fixes.filter((fix) => fix.introduced_by.every(({ checkpoints }) => checkpoints !== null));
  const byFix = (of: readonly RealFix[], text: (fix: RealFix) => string) =>
    of.map((fix) => ({
      date: dayOf(fix.fix_date),
      text: text(fix),
      truth: new Set(fix.introduced_by.flatMap(({ checkpoints }) => [...sessionsOf(checkpoints)])),
    }));
  const introduced = ({ introduced_by }: RealFix) => [...new Set(introduced_by.flatMap(({ files }) => files))].sort();
  const checkpoints = sessions.flatMap((session) => session.checkpoints).filter((one) => one.files_touched.length > 0);
  return {
    "commit, called the cause": byCommit(({ sha }) => `Introduced in ${sha.slice(0, 9)}.`, 2),
    "commit, no word of it": byCommit(({ sha }) => `See commit ${sha.slice(0, 7)}.`, 0),
    "culprit and fix": fixes.map((fix) => {
      const [first] = fix.introduced_by;
      return {
        date: dayOf(fix.fix_date),
        text: `Broken since ${first?.sha.slice(0, 8)}.\n\n**Fix:** ${fix.fix.slice(0, 8)}.`,
        truth: sessionsOf(first?.checkpoints ?? []),
      };
    }),
    "files, same day": byCommit((commit) => naming(filesOf(commit)), 0),
    "files, next day": byCommit((commit) => naming(filesOf(commit)), 1),
    "files, five days later": byCommit((commit) => naming(filesOf(commit)), 5),
    "checkpoint's files": checkpoints.map((one) => ({
      date: dayOf(new Date(one.created_at).toISOString()),
      text: naming(one.files_touched),
      truth: sessionsOf([one.id]),
    })),
    "blame: files": byFix(known, (fix) => naming(introduced(fix))),
    "blame: files and fix": byFix(
      known,
      (fix) => `${naming(introduced(fix))}\n\n**Fix:** done in ${fix.fix.slice(0, 8)}.`,
    ),
    [FIX_ALONE]: byFix(known, (fix) => `See commit ${fix.fix.slice(0, 9)}.`),
    [NOBODYS]: byCommit((commit) => naming(filesOf(commit)), 0, others),
  };
}

interface Figure {
  readonly way: string;
  readonly entries: number;
  /** Entries of which a right session is known. */
  readonly answerable: number;
  readonly strong: readonly [right: number, all: number];
  readonly probable: readonly [right: number, all: number];
  /** Of the answerable entries without a better link, those with a right one among the candidates. */
  readonly weak: readonly [right: number, all: number];
}

function figureOf(way: string, examples: readonly Example[], links: readonly Link[]): Figure {
  const of = Map.groupBy(links, (link) => Number(/ (\d+)$/.exec(link.heading)?.[1]));
  const rightOf = (band: string): [number, number] => {
    const all = links.filter((link) => link.band === band);
    const isRight = (link: Link) =>
      examples[Number(/ (\d+)$/.exec(link.heading)?.[1])]?.truth.has(link.sessionId ?? "") ?? false;
    return [all.filter(isRight).length, all.length];
  };
  const possible = examples.flatMap((example, i) => {
    const own = of.get(i) ?? [];
    return own.length > 0 && own.every(({ band }) => band === "weak") ? [{ example, own }] : [];
  });
  return {
    way,
    entries: examples.length,
    answerable: examples.filter(({ truth }) => truth.size > 0).length,
    strong: rightOf("strong"),
    probable: rightOf("probable"),
    weak: [
      possible.filter(({ example, own }) => own.some(({ sessionId }) => example.truth.has(sessionId ?? ""))).length,
      possible.length,
    ],
  };
}

/** Ways in which what is right follows from the commit's own checkpoint. */
const BY_FACT = /^(?:files|checkpoint)/;

const share = ([right, all]: readonly [number, number]) => (all === 0 ? "–" : (right / all).toFixed(2));

async function measure(repository: string, withFiles: boolean): Promise<Figure[]> {
  const history = read(repository);
  const { t, token, team } = await startWithDevice({ settings: { limitTraces: "10000/60" } });
  const sessions = history.sessions.map((session) => sessionBody(history, session, withFiles));
  for (let i = 0; i < sessions.length; i += 50) {
    const json = { repoKey: repository, sessions: sessions.slice(i, i + 50) };
    expect((await t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  }
  const examples = Object.entries(ways(history));
  const files = examples.map(([, own], way) => ({
    path: `way-${way}/errors.md`,
    content: own.map(({ date, text }, i) => `## ${date} Entry ${i}\n\n${text}\n`).join("\n"),
  }));
  const sent = await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: repository, files } });
  expect(sent.status).toBe(200);
  await catchUp(t.instance.core, linksProjection);
  const { links } = await listLinks(t.instance.core, team.id, { limit: Number.POSITIVE_INFINITY });
  return examples.map(([way, own], i) =>
    figureOf(
      way,
      own,
      links.filter(({ path }) => path === `way-${i}/errors.md`),
    ),
  );
}

describeReal("links on real histories", () => {
  it.each([
    ["entireio__cli", true],
    ["entireio__cli", false],
    ["EntityProcess__agentv", true],
    ["EntityProcess__agentv", false],
  ] as const)(
    "are right in %s (files of checkpoints told: %s)",
    { timeout: 120_000 },
    async (repository, withFiles) => {
      const figures = await measure(repository, withFiles);
      const rows = figures.map(({ way, entries, answerable, strong, probable, weak }) =>
        [
          way.padEnd(26),
          `${entries} entries, ${answerable} answerable`.padEnd(34),
          `strong ${strong.join("/")} (recall ${share([strong[0], answerable])})`.padEnd(32),
          `probable ${probable.join("/")} = ${share(probable)} (recall ${share([probable[0], answerable])})`.padEnd(44),
          `weak: right one among ${weak.join("/")}`,
        ].join(" "),
      );
      process.stdout.write(
        `${repository}, files of checkpoints ${withFiles ? "told" : "not told"}\n${rows.join("\n")}\n`,
      );
      for (const { way, strong } of figures)
        if (way !== FIX_ALONE) expect([way, strong[1] - strong[0]]).toEqual([way, 0]);
      // Together with what blame says, which alone has too few links to hold anything by.
      const known = figures.filter(({ way }) => way !== NOBODYS);
      const right = known.reduce((sum, { probable }) => sum + probable[0], 0);
      const all = known.reduce((sum, { probable }) => sum + probable[1], 0);
      process.stdout.write(`probable, all ways but "${NOBODYS}": ${right}/${all} = ${share([right, all])}\n`);
      expect(right / all).toBeGreaterThanOrEqual(0.9);
      const byFact = figures.filter(({ way }) => BY_FACT.test(way));
      for (const { way, probable } of byFact)
        if (probable[1] >= 10) expect([way, probable[0] / probable[1] >= 0.9]).toEqual([way, true]);
      expect(figures.reduce((sum, { strong }) => sum + strong[1], 0)).toBeGreaterThan(0);
      expect(all).toBeGreaterThan(0);
    },
  );
});

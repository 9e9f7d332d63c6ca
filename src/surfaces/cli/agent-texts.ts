import { styleText } from "node:util";
import type { ConnectPlan, examine, importTranscripts, PassResult, Scanned, Status } from "../../capture/capture.ts";
import { counted, oneLine } from "../../kit/strings.ts";
import { facts, printable, table } from "./output.ts";

/** What the commands of the capture client print for people. */

/** Bytes in the largest unit that leaves at least one, powers of 1,000. */
function size(bytes: number): string {
  if (bytes < 1_000) return `${bytes} B`;
  const power = Math.min(4, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1_000 ** power).toFixed(1)} ${["", "kB", "MB", "GB", "TB"][power]}`;
}

/** What connecting reads and changes, for whoever is asked to agree. */
export function planLines({ url, found, timer, brain }: ConnectPlan, isDryRun: boolean): string {
  const [sends, changes] = isDryRun ? ["Connecting would send", "It would change"] : ["This sends", "It changes"];
  const lines = found.map(
    ({ name, transcripts, bytes }) =>
      `  ${name}: ${counted(transcripts, "transcript")} (${size(bytes)}), and each new session`,
  );
  if (found.length === 0) lines.push("  nothing yet: no coding agent was found on this machine");
  lines.unshift(`${sends} to ${url}:`);
  lines.push(
    "Prompts, answers, commands with their output, edits, commits and tokens; secrets are taken out first.",
    `Of each repository that agents work in, as far as git does not ignore it: ${brain.join(", ")}.`,
    "",
  );
  const files = [...found.flatMap((one) => one.changes), ...timer];
  lines.push(files.length === 0 ? "No settings change." : `${changes}:`);
  for (const { file, kind, diff } of files) {
    const detail = kind === "create" ? [] : diff.trimEnd().split("\n").slice(2);
    lines.push(`  ${kind} ${file}`, ...detail.map((line) => `    ${line}`));
  }
  for (const { name, problem } of found) if (problem !== undefined) lines.push(`  ${name}: ${problem}`);
  return lines.join("\n");
}

const moveText = ({ from, to, at, problem }: NonNullable<Status["move"]>) =>
  problem === null ? `from ${from} to ${to}: followed on ${at}` : `to ${to}: not followed, ${problem}`;

/** What a pass did. */
export function passLine(result: PassResult | undefined): string {
  if (!result) return "Another pass is running; it takes in what is new.";
  const parts = [`${counted(result.recorded, "new event")}, ${counted(result.sessionsSent, "session")} sent.`];
  if (result.quiet !== undefined) parts.push(QUIET[result.quiet]);
  return printable(parts.join(" "));
}

/** What a pass could not do, and why; "" where it did all. */
export function troubleLine(result: PassResult | undefined): string {
  const reason = result?.stopped ?? result?.waits;
  const parts = reason === undefined ? [] : [`Not everything was sent: ${reason.replace(/\.$/, "")}. It waits here.`];
  for (const { path, reason } of result?.unreadable ?? []) parts.push(`${path} cannot be read: ${reason}.`);
  return printable(parts.join(" "));
}

const QUIET: Readonly<Record<NonNullable<PassResult["quiet"]>, string>> = {
  paused: "Recording is paused.",
  policy: "The team's policy is to record nothing.",
  "no-since": "Nothing was read: connect with a new code.",
  "no-policy": "The team's policy is not known yet, so nothing was read.",
  "outbox-full": "The outbox is full: reading goes on once the server has taken some of it.",
};

const TITLE_CHARS = 60;

export function scanLines(sessions: readonly Scanned[]): string {
  const rows = sessions.map(({ agent, repo, startedAt, prompts, bytes, redacted, usage, title }) => [
    startedAt?.slice(0, 16).replace("T", " ") ?? "-",
    agent,
    repo || "-",
    prompts,
    usage.input + usage.cacheWrite + usage.cacheRead,
    usage.output,
    size(bytes),
    redacted,
    oneLine(title ?? "", TITLE_CHARS),
  ]);
  const headings = ["BEGAN", "AGENT", "REPOSITORY", "PROMPTS", "TOKENS IN", "OUT", "SIZE", "REDACTED", "FIRST PROMPT"];
  const bytes = sessions.reduce((sum, session) => sum + session.bytes, 0);
  const sum = `${counted(sessions.length, "session")}, ${size(bytes)}; nothing was sent. --json shows every document as it would leave.`;
  return table(headings, rows, "No sessions.") + (process.stdout.isTTY ? `\n${sum}` : "");
}

const orNever = (instant: string | null) => instant ?? "never";

const NOT_CONNECTED = 'Not connected: run "reckon agent connect URL CODE".';

/** What a person who ended a pause has to know. */
export function resumedLine({ connected, quiet }: Status): string {
  if (!connected) return `No longer paused. ${NOT_CONNECTED}`;
  return quiet ? "No longer paused, but the team's policy is to record nothing." : "Recording again.";
}

export function statusLines(status: Status): string {
  if (!status.connected) return NOT_CONNECTED;
  const { waiting, trouble, quiet } = status;
  const watched = status.watched.map(({ agent, transcripts }) => `${agent} (${transcripts})`).join(", ");
  const rows: [string, string | number | null][] = [
    ["server", `${status.url} (${status.team})`],
    [
      "recording",
      quiet
        ? `${quiet.reason === "policy" ? "off by policy" : "paused"} until ${quiet.until ?? "further notice"}`
        : (status.captureMode ?? "nothing, until the policy is known"),
    ],
    ["transcripts", watched || "none yet"],
    ["sessions", status.sessions],
    [
      "waiting",
      `${counted(waiting.sessions, "session")}, ${counted(waiting.entries, "entry", "entries")}, ${size(waiting.bytes)}`,
    ],
    ["refused", status.rejected],
    ["unknown records", status.unknown.reduce((sum, { count }) => sum + count, 0)],
    ["last pass", orNever(status.lastPass)],
    ["last contact", orNever(status.lastContact)],
    ["token expires", status.tokenExpiresAt],
  ];
  for (const { repo, files } of status.ignoredBrains)
    rows.push([
      "brain kept here",
      `${repo}: ${files === null ? "git does not answer there; git status says why" : `git ignores ${counted(files, "file")} of it`}`,
    ]);
  if (status.isFull) rows.push(["outbox", "full: reading goes on once the server has taken some of it"]);
  if (status.move !== null) rows.push(["team moved", moveText(status.move)]);
  if (status.serverWasRestored !== null)
    rows.push(["server restored", `${status.serverWasRestored}: what it had lost was sent again`]);
  if (status.stateWasOlder !== null)
    rows.push([
      "state was older",
      `${status.stateWasOlder}: the local state was an older copy, so numbers go on after those of the server`,
    ]);
  if (trouble) {
    const { reason, until } = trouble;
    const next = until === null ? ": connect again with a new code" : `; next try ${until}`;
    // Some reasons of a server end with this advice already.
    rows.push(["trouble", reason.endsWith("with a new code") ? reason : reason + next]);
  }
  return facts(rows);
}

const MARKS = { ok: ["green", "ok"], warning: ["yellow", "warning"], failed: ["red", "failed"] } as const;

export function checkLines(checks: Awaited<ReturnType<typeof examine>>): string {
  const width = Math.max(...checks.map(({ name }) => name.length));
  return checks
    .map(({ name, state, message }) => {
      const [colour, word] = MARKS[state];
      const mark = process.stdout.isTTY ? styleText(colour, word.padEnd(7)) : word.padEnd(7);
      return `${mark}  ${name.padEnd(width)}  ${oneLine(message, 400)}`;
    })
    .join("\n");
}

export function importLines(imported: Awaited<ReturnType<typeof importTranscripts>>): string {
  const rows = imported.map(({ path, agent, recorded, problem }) => [
    agent ?? (problem === null ? "not a transcript" : "not readable"),
    recorded,
    problem === null ? path : `${path}: ${problem}`,
  ]);
  return `${table(["AGENT", "NEW EVENTS", "FILE"], rows, "No files.")}`;
}

import { spawn } from "node:child_process";
import {
  accessSync,
  closeSync,
  constants,
  existsSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { isAbsolute, join } from "node:path";
import { writeFileAtomically } from "../kit/files.ts";
import { helperCommand } from "../kit/respawn.ts";
import { shellQuoted } from "../kit/strings.ts";
import { BRIEFING_FILE, printedBriefing } from "./brain/briefing-files.ts";
import { agentHome, type Machine, type Places, placesIn } from "./home.ts";
import type { HookCommand } from "./install/agents.ts";
import { MAX_WAITING_BYTES } from "./sources/rings.ts";
import { MAX_RECORD_BYTES } from "./sources/tail.ts";

/** Bytes that are read of what an agent says. */
const MAX_PAYLOAD_BYTES = 256 * 1024;
/** The agent whose hooks say what stands in no transcript; what the others say is not kept. */
const SPEAKING_AGENT = "cursor";
/** Its words hold the texts of an edit, maybe a whole file before and after. So they may be as long as a record. */
const MAX_NOTE_BYTES = MAX_RECORD_BYTES;
/** Milliseconds for which a hook listens to the agent. */
const LISTEN_MS = 150;

/** What agents call: a script beside the state where there is a shell, which starts faster than any program of ours could. */
export function hookCommand({ platform }: Machine, { hook }: Places): HookCommand {
  if (platform === "win32") {
    const { file, args } = helperCommand("agent", ["hook"]);
    return {
      line: (agent, event) => `${forWindows(agent, [file, ...args])} ${agent} ${event}`,
      owns: (line) => /reckon[^"']*["']? (?:["'][^"']*["'] )?["']?agent["']? ["']?hook["']? /i.test(line),
    };
  }
  const script = shellQuoted(hook);
  return {
    line: (agent, event) => `[ -x ${script} ] && ${script} ${agent} ${event} || true`,
    owns: (line) => line.startsWith(`[ -x ${script} ]`) || /^\[ -x '[^']*\/reckon\/agent\/hook' \] && /.test(line),
  };
}

/** Agents that run hooks in PowerShell on Windows, which takes what begins with a quote for a text. */
const IN_POWERSHELL = new Set(["gemini-cli", "copilot-cli"]);

/**
 * A command in the shell of an agent on Windows. Claude Code's is bash where Git is installed and PowerShell elsewhere; both take plain
 * words.
 */
function forWindows(agent: string, words: readonly string[]): string {
  if (IN_POWERSHELL.has(agent)) return ["&", ...words.map((word) => `'${word.replaceAll("'", "''")}'`)].join(" ");
  const plain = words.map((word) => word.replaceAll("\\", "/"));
  if (agent === "claude-code" && plain.every((word) => /^[\w.:/-]+$/.test(word))) return plain.join(" ");
  return words.map((word) => `"${word}"`).join(" ");
}

/** As `hookCommand`, for every person of a machine: it does nothing for those who are not connected. */
export function hookForAll(system: NodeJS.Platform): HookCommand {
  // As in `agentHome`. Where an agent has the variable, its client has it, too.
  const folder = system === "darwin" ? "$HOME/Library/Application Support" : `\${XDG_STATE_HOME:-$HOME/.local/state}`;
  const script = `"${folder}/reckon/agent/hook"`;
  return {
    line(agent, event) {
      const call = `reckon agent hook ${agent} ${event}`;
      if (system !== "win32") return `[ -x ${script} ] && ${script} ${agent} ${event} || true`;
      if (IN_POWERSHELL.has(agent)) return `if (Get-Command reckon -ErrorAction Ignore) { ${call} }`;
      // In bash that would make a file of the name "nul".
      if (agent === "claude-code") return `command -v reckon >/dev/null && ${call} || true`;
      return `where reckon >nul 2>nul && ${call}`;
    },
    owns: () => false,
  };
}

/** Writes the script that `hookCommand` names. Nothing on Windows, where agents call the program itself. */
export function writeHookScript({ platform }: Machine, places: Places): void {
  if (platform === "win32") return;
  rmSync(places.hook, { force: true });
  writeFileAtomically(places.hook, hookScript(places), true, 0o700);
}

/**
 * Why the script does nothing, though agents call it: it is gone, or the program that it starts is, as after an update to another folder.
 * @returns undefined where all is there
 */
export function whyHookIsIdle({ platform }: Machine, places: Places): string | undefined {
  if (platform === "win32") return undefined;
  let script: string;
  try {
    accessSync(places.hook, constants.X_OK);
    script = readFileSync(places.hook, "utf8");
  } catch {
    return `${places.hook}, which cannot be run`;
  }
  const started = /exec setsid ((?:(?:'[^']*'|\\')+ ?)+)/.exec(script)?.[1] ?? "";
  const words = started.match(/(?:'[^']*'|\\')+/g) ?? [];
  const paths = words.map((word) => word.replace(/'([^']*)'|\\'/g, (quote, text) => text ?? quote.slice(1)));
  const missing = paths.find((path) => isAbsolute(path) && !existsSync(path));
  return missing === undefined ? undefined : `${places.hook}, which starts ${missing}, and that is not there`;
}

/**
 * Leaves a note, starts a pass beside, prints the briefing that lies ready, and ends. It uses no network, never fails, and waits for
 * nothing. What the agent says is read to its end by the process beside, because a pipe that closes early is an error to the agent. Where
 * the program is gone, the script leaves only what no transcript holds, up to a bound. Of the hooks of one second whose notes nobody heard
 * yet, the first by name starts a pass, which hears the others: fifty programs that start would keep fifty agents waiting.
 */
function hookScript({ home }: Places): string {
  const { file, args } = helperCommand("agent", ["run", "--background"]);
  const start = [file, ...args].map(shellQuoted).join(" ");
  const isThere = [file, ...args]
    .filter((part) => isAbsolute(part))
    .map((part) => `[ -e ${shellQuoted(part)} ]`)
    .join(" && ");
  return `#!/bin/sh
# Called by coding agents: tells Reckon that there is something new to read. It always succeeds.
# "reckon agent disconnect" removes it.
home=${shellQuoted(home)}
[ -d "$home/spool" ] || exit 0
program=gone
if ${isThere}; then program=there; fi
(exec 3<&0) 2>/dev/null || exec </dev/null
exec 3<&0
(
  if [ $program = gone ] && { [ "$1" != ${SPEAKING_AGENT} ] || [ "$(du -sk "$home/spool" | cut -f1)" -ge ${MAX_WAITING_BYTES / 1024} ]; }; then
    cat <&3 >/dev/null
    exit
  fi
  umask 077
  export RECKON_AGENT_HOME="$home"
  now=$(date +%s)
  note="$home/spool/$now-$$-$1-$2"
  if [ "$1" = ${SPEAKING_AGENT} ]; then head -c ${MAX_NOTE_BYTES} <&3; fi >"$note.tmp"
  cat <&3 >/dev/null &
  mv "$note.tmp" "$note"
  exec 3<&-
  for other in "$home/spool/$now-"*; do
    case $other in *.tmp | *.heard) ;; "$note") break ;; *) exit ;; esac
  done
  if command -v setsid >/dev/null 2>&1; then exec setsid ${start}; else exec nohup ${start}; fi
) </dev/null >/dev/null 2>&1 &
exec 3<&-
if [ $program = there ] && { [ "$2" = SessionStart ] || [ "$2" = sessionStart ]; }; then
  ${PRINT_BRIEFING}
fi
exit 0
`;
}

/**
 * Prints the briefing of the work tree that the agent was started in (see brain/briefing-files.ts). It looks from that folder upwards, with
 * the shell's own commands. Where agents name the project's folder, that one counts, because their hooks may run in another. A new work
 * tree gets the briefing of the one that git made it from.
 */
const PRINT_BRIEFING = `dir=$(cd -- "\${CLAUDE_PROJECT_DIR:-\${CURSOR_PROJECT_DIR:-.}}" 2>/dev/null && pwd -P)
  went=
  while [ -n "$dir" ]; do
    if [ -f "$home/briefings/$1$dir/${BRIEFING_FILE}" ]; then
      cat "$home/briefings/$1$dir/${BRIEFING_FILE}"
      break
    fi
    if [ -e "$dir/.git" ]; then
      main=
      if [ -z "$went" ] && [ -f "$dir/.git" ]; then { read -r main <"$dir/.git"; } 2>/dev/null; fi
      went=there
      case $main in "gitdir: "*/.git/worktrees/*) ;; *) break ;; esac
      main=\${main#gitdir: }
      dir=$(cd -- "$dir" && cd -- "\${main%/.git/worktrees/*}" 2>/dev/null && pwd -P)
    else
      dir=\${dir%/*}
    fi
  done`;

/**
 * Rings without a shell: for platforms that have none, and for trying it out. Never throws.
 * @returns the briefing that lies ready, where the agent is to be told one
 */
export function ring(machine: Machine, agent: string, event: string, now: number): string {
  let briefing = "";
  try {
    const places = placesIn(agentHome(machine));
    if (/^sessionStart$/i.test(event)) briefing = printedBriefing(places, agent, process.cwd());
    const note = join(places.spool, `${Math.floor(now / 1000)}-${process.pid}-${agent}-${event}`);
    const isKept = agent === SPEAKING_AGENT;
    const payload = readPayload(isKept ? MAX_NOTE_BYTES : MAX_PAYLOAD_BYTES);
    writeFileSync(`${note}.tmp`, isKept ? payload : "", { mode: 0o600 });
    renameSync(`${note}.tmp`, note);
    const { file, args } = helperCommand("agent", ["run", "--background"]);
    spawn(file, args, { detached: true, stdio: "ignore", windowsHide: true }).unref();
  } catch {
    // The transcript has it all; the next sweep finds it.
  }
  return briefing;
}

/** What the agent says on its standard input, as far as it comes at once. */
function readPayload(most: number): Buffer {
  const buffer = Buffer.alloc(most);
  let at = 0;
  const until = performance.now() + LISTEN_MS;
  try {
    const fd = openSync("/dev/stdin", "r");
    try {
      for (let read = 1; read > 0 && at < buffer.length && performance.now() < until; at += read)
        read = readSync(fd, buffer, at, buffer.length - at, null);
    } finally {
      closeSync(fd);
    }
  } catch {
    // Nothing said.
  }
  return buffer.subarray(0, at);
}

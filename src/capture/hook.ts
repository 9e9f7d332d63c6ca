import { spawn } from "node:child_process";
import { closeSync, openSync, readSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { helperCommand } from "../kit/respawn.ts";
import { BRIEFING_FILE, printedBriefing } from "./brain/briefing-files.ts";
import type { Places } from "./home.ts";

/** More than this of what an agent says is not looked at. */
const MAX_PAYLOAD_BYTES = 256 * 1024;
/** Longer than this an agent is not listened to. */
const LISTEN_MS = 150;

/** The shell's way of putting a text into a command line as it stands (POSIX Shell Command Language 2.2.2). */
export const quoted = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/**
 * The script that agents' hooks call: it leaves a note, starts a pass beside, prints the briefing that lies ready, and ends. It never
 * touches the network, never fails, and answers within milliseconds, because a shell starts faster than any program of ours could.
 * @param start the command that starts a pass which outlives the hook
 */
export function hookScript({ home }: Places, start: string): string {
  return `#!/bin/sh
# Called by coding agents: tells Reckon that there is something new to read. It always succeeds.
# Removed by "reckon agent disconnect".
home=${quoted(home)}
[ -d "$home/spool" ] || exit 0
exec 3<&0
(
  umask 077
  note="$home/spool/$(date +%s)-$$-$1-$2"
  head -c ${MAX_PAYLOAD_BYTES} <&3 >"$note.tmp" && mv "$note.tmp" "$note"
  ${start}
) </dev/null >/dev/null 2>&1 &
if [ "$2" = SessionStart ] || [ "$2" = sessionStart ]; then
  ${PRINT_BRIEFING}
fi
exit 0
`;
}

/**
 * Prints the briefing of the work tree that the agent was started in (see brain/briefing-files.ts), looking from its folder upwards with
 * what the shell knows by itself. Where agents name the project's folder, their hooks may run in another.
 */
const PRINT_BRIEFING = `dir=$(cd -- "\${CLAUDE_PROJECT_DIR:-\${CURSOR_PROJECT_DIR:-.}}" 2>/dev/null && pwd -P)
  while [ -n "$dir" ]; do
    if [ -f "$home/briefings/$1$dir/${BRIEFING_FILE}" ]; then
      cat "$home/briefings/$1$dir/${BRIEFING_FILE}"
      break
    fi
    [ -e "$dir/.git" ] && break
    dir=\${dir%/*}
  done`;

/** The command that starts a pass in a session of its own, so that it does not end with the agent. */
export function startCommand(): string {
  const { file, args } = helperCommand("agent", ["run", "--background"]);
  const command = [file, ...args].map(quoted).join(" ");
  return `if command -v setsid >/dev/null 2>&1; then setsid ${command}; else nohup ${command}; fi`;
}

/**
 * Rings without a shell: for platforms that have none, and for trying it out. Never throws.
 * @returns the briefing that lies ready, where the agent is to be told one
 */
export function ring(places: Places, agent: string, event: string, now: number): string {
  try {
    const note = join(places.spool, `${Math.floor(now / 1000)}-${process.pid}-${agent}-${event}`);
    writeFileSync(`${note}.tmp`, readPayload(), { mode: 0o600 });
    renameSync(`${note}.tmp`, note);
    const { file, args } = helperCommand("agent", ["run", "--background"]);
    spawn(file, args, { detached: true, stdio: "ignore", windowsHide: true }).unref();
  } catch {
    // The transcript has it all; the next sweep finds it.
  }
  return /^sessionStart$/i.test(event) ? printedBriefing(places, agent, process.cwd()) : "";
}

/** What the agent says on its standard input, as far as it says it at once. */
function readPayload(): Buffer {
  const buffer = Buffer.alloc(MAX_PAYLOAD_BYTES);
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

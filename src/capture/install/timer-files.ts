/** The files and commands that describe each system's timer. */

/** Minutes between two runs. */
export const TIMER_MINUTES = 15;
export const SYSTEMD_UNIT = "reckon-agent";
export const LAUNCHD_LABEL = "dev.reckon.agent";
export const TASK_NAME = "Reckon agent";

/** What a timer runs. */
export interface TimerCommand {
  /** The program's absolute path and its arguments. */
  readonly argv: readonly string[];
  /** Variables that a timer would not have: where agents and the capture client keep their files. */
  readonly env: Readonly<Record<string, string>>;
}

/** A unit file (systemd.service(5)): runs once, at low priority. */
export function systemdService({ argv, env }: TimerCommand): string {
  const variables = Object.entries(env).map(([name, value]) => `Environment=${systemdQuoted(`${name}=${value}`)}\n`);
  return `[Unit]
Description=Reckon: look for new agent sessions

[Service]
Type=oneshot
ExecStart=${systemdCommand(argv)}
${variables.join("")}Nice=10
IOSchedulingClass=idle
`;
}

/** A timer unit (systemd.timer(5)). Machines do not all run it in the same second. */
export function systemdTimer(): string {
  return `[Unit]
Description=Reckon: look for new agent sessions every ${TIMER_MINUTES} minutes

[Timer]
OnCalendar=*:0/${TIMER_MINUTES}
RandomizedDelaySec=120
Persistent=true

[Install]
WantedBy=timers.target
`;
}

/**
 * A command line as systemd reads it (systemd.service(5)): `$` begins a variable, except in the program's path. The path cannot hold a
 * quote, a backslash or a line break; a shell runs such a program.
 */
function systemdCommand([program = "", ...args]: readonly string[]): string {
  const words = (list: readonly string[]) =>
    list.map((word) => ` ${systemdQuoted(word).replaceAll("$", "$$$$")}`).join("");
  return /["'\\\p{Cc}]/u.test(program)
    ? `/bin/sh${words(["-c", 'exec "$0" "$@"', program, ...args])}`
    : systemdQuoted(program) + words(args);
}

/** Quotes a word as systemd reads it (systemd.syntax(7)): C escapes, and `%` for its own specifiers. */
const systemdQuoted = (word: string) =>
  `"${word.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n").replaceAll("%", "%%")}"`;

/** A property list for launchd (launchd.plist(5)). */
export function launchAgent({ argv, env }: TimerCommand): string {
  const text = (value: string) => `<string>${value.replaceAll("&", "&amp;").replaceAll("<", "&lt;")}</string>`;
  const variables = Object.entries(env).map(([name, value]) => `\n    <key>${name}</key>${text(value)}`);
  return `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
  <key>Label</key>${text(LAUNCHD_LABEL)}
  <key>ProgramArguments</key>
  <array>${argv.map((word) => `\n    ${text(word)}`).join("")}
  </array>
  <key>EnvironmentVariables</key>
  <dict>${variables.join("")}
  </dict>
  <key>StartInterval</key><integer>${TIMER_MINUTES * 60}</integer>
  <key>ProcessType</key><string>Background</string>
  <key>LowPriorityIO</key><true/>
</dict>
</plist>
`;
}

/**
 * The arguments of schtasks that make the task. Without `conhost --headless` a window would open at every run. Variables cannot
 * be given: on Windows those of the person's own settings hold everywhere.
 */
export function createTask({ argv }: TimerCommand): string[] {
  const words = argv.map((word) => `"${word}"`).join(" ");
  return [
    "/create",
    "/f",
    "/tn",
    TASK_NAME,
    "/sc",
    "minute",
    "/mo",
    String(TIMER_MINUTES),
    "/tr",
    `conhost.exe --headless ${words}`,
  ];
}

import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { InstallTarget } from "../../../../src/capture/install/agents.ts";
import { installTimer, planTimer, removeTimer, TimerError, timerState } from "../../../../src/capture/install/timer.ts";

const command = { argv: ['/opt/50% off/rec"kon$', "agent", "run"], env: { CODEX_HOME: "/srv/a b<&" } };
let root: string;
const calls = () =>
  existsSync(join(root, "calls")) ? readFileSync(join(root, "calls"), "utf8").trim().split("\n") : [];

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reckon-timer-"));
});
afterEach(() => rmSync(root, { recursive: true }));

/** A machine whose timer program notes what it is called with, and succeeds except where a pattern matches. */
function machine(platform: NodeJS.Platform, program: string, fails = "nothing"): InstallTarget {
  const bin = join(root, "bin");
  mkdirSync(bin, { recursive: true });
  const script = `#!/bin/sh\nprintf "%s\\n" "$*" >> ${root}/calls\ncase "$*" in *${fails}*) exit 1;; esac\n`;
  writeFileSync(join(bin, program), script);
  chmodSync(join(bin, program), 0o755);
  return { home: join(root, "home"), env: { PATH: bin, PATHEXT: ";" }, platform, backups: join(root, "backups") };
}

const judge = spawnSync("systemd-analyze", ["--version"]).status === 0;

describe("the timer", () => {
  it.skipIf(!judge).each(["plain", "it's $HOME", '50% "off"', "a\\b\nc;d"])(
    "is a unit that systemd takes, whatever the program's folder is called: %j",
    (name) => {
      const linux = machine("linux", "systemctl");
      const program = join(root, name, "reckon");
      mkdirSync(join(root, name));
      writeFileSync(program, "#!/bin/sh\n", { mode: 0o755 });
      installTimer(linux, { argv: [program, "agent", "run", "$1"], env: { CODEX_HOME: join(root, name) } });
      const unit = join(linux.home, ".config", "systemd", "user", "reckon-agent.service");
      const { status, stderr } = spawnSync("systemd-analyze", ["verify", "--man=no", unit], { encoding: "utf8" });
      expect([status, stderr]).toEqual([0, ""]);
    },
  );

  it("is two units of systemd, which come, stand and go", () => {
    const linux = machine("linux", "systemctl");
    const folder = join(linux.home, ".config", "systemd", "user");
    const files = [join(folder, "reckon-agent.service"), join(folder, "reckon-agent.timer")];
    expect(planTimer(linux, command).map(({ file, kind }) => [file, kind])).toEqual(
      files.map((file) => [file, "create"]),
    );
    expect(existsSync(linux.home)).toBe(false);
    expect(installTimer(linux, command).map(({ file }) => file)).toEqual(files);
    expect(readFileSync(files[0] as string, "utf8").split("\n")).toEqual(
      expect.arrayContaining([
        "Type=oneshot",
        'ExecStart=/bin/sh "-c" "exec \\"$$0\\" \\"$$@\\"" "/opt/50%% off/rec\\"kon$$" "agent" "run"',
        'Environment="CODEX_HOME=/srv/a b<&"',
        "Nice=10",
      ]),
    );
    expect(readFileSync(files[1] as string, "utf8")).toContain("OnCalendar=*:0/15\n");
    expect(calls().slice(-2)).toEqual(["--user daemon-reload", "--user enable --now reckon-agent.timer"]);
    expect(timerState(linux, command).state).toBe("installed");
    expect(timerState(linux, { ...command, argv: ["/new/reckon"] }).state).toBe("outdated");
    expect(installTimer(linux, command)).toEqual([]);
    expect(removeTimer(linux).map(({ kind }) => kind)).toEqual(["delete", "delete"]);
    expect(calls().slice(-2)).toEqual(["--user disable --now reckon-agent.timer", "--user daemon-reload"]);
    expect([existsSync(linux.home), existsSync(linux.backups)]).toEqual([false, false]);
  });

  it("is refused with another way where systemd has no session, and nothing is written", () => {
    const silent = machine("linux", "systemctl", "show-environment");
    for (const linux of [silent, { ...silent, env: { PATH: join(root, "nothing") } }]) {
      const install = () => installTimer(linux, command);
      expect(install).toThrow(TimerError);
      expect(install).toThrow(`*/15 * * * * CODEX_HOME='/srv/a b<&' '/opt/50\\% off/rec"kon$' agent run`);
      expect(existsSync(linux.home)).toBe(false);
      expect(removeTimer(linux)).toEqual([]);
    }
  });

  it("is off when systemd says so", () => {
    const linux = machine("linux", "systemctl", "is-active");
    installTimer(linux, command);
    expect(timerState(linux, command)).toMatchObject({ state: "disabled" });
  });

  it("is a property list for launchd", () => {
    const mac = machine("darwin", "launchctl");
    const file = join(mac.home, "Library", "LaunchAgents", "dev.reckon.agent.plist");
    expect(installTimer(mac, command).map((change) => change.file)).toEqual([file]);
    const plist = readFileSync(file, "utf8");
    expect(plist).toContain(
      '<string>/opt/50% off/rec"kon$</string>\n    <string>agent</string>\n    <string>run</string>',
    );
    expect(plist).toContain("<key>CODEX_HOME</key><string>/srv/a b&lt;&amp;</string>");
    expect(plist).toContain("<key>StartInterval</key><integer>900</integer>");
    expect(calls().at(-1)).toBe(`bootstrap gui/${process.getuid?.()} ${file}`);
    removeTimer(mac);
    expect(calls().at(-1)).toBe(`bootout gui/${process.getuid?.()}/dev.reckon.agent`);
    expect(existsSync(file)).toBe(false);
  });

  it("is a task of Windows, which opens no window", () => {
    const windows = machine("win32", "schtasks");
    expect(timerState({ ...windows, env: { PATH: "", PATHEXT: ";" } }, command).state).toBe("absent");
    expect(installTimer(windows, { argv: ["C:\\Program Files\\reckon.exe", "agent", "run"], env: {} })).toEqual([]);
    expect(calls().at(-1)).toBe(
      '/create /f /tn Reckon agent /sc minute /mo 15 /tr conhost.exe --headless "C:\\Program Files\\reckon.exe" "agent" "run"',
    );
    expect(timerState(windows, command).state).toBe("installed");
    removeTimer(windows);
    expect(calls().at(-1)).toBe("/delete /f /tn Reckon agent");
  });

  it("does not take a file of the same name", () => {
    const linux = machine("linux", "systemctl");
    const folder = join(linux.home, ".config", "systemd", "user");
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, "reckon-agent.service"), "[Service]\n");
    expect(() => installTimer(linux, command)).toThrow("not of Reckon");
    expect(removeTimer(linux)).toEqual([]);
    expect(readFileSync(join(folder, "reckon-agent.service"), "utf8")).toBe("[Service]\n");
  });
});

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  type HookCommand,
  INSTALLERS,
  type InstallTarget,
  SettingsError,
} from "../../../../src/capture/install/agents.ts";
import { trustHash } from "../../../../src/capture/install/codex.ts";
import { managedSettings } from "../../../../src/capture/install/managed-settings.ts";

const hook: HookCommand = {
  line: (agent, event) => `[ -x '/state/reckon/hook' ] && '/state/reckon/hook' ${agent} ${event} || true`,
  owns: (line) => line.includes("reckon/hook"),
};
const older: HookCommand = { ...hook, line: (agent, event) => `/old/reckon/hook ${agent} ${event}` };

let root: string;
let machine: InstallTarget;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "reckon-install-"));
  machine = {
    home: join(root, "home"),
    env: { PATH: join(root, "bin") },
    platform: "linux",
    backups: join(root, "backups"),
  };
  mkdirSync(machine.home);
});
afterEach(() => rmSync(root, { recursive: true }));

const installer = (agent: string) => {
  const found = INSTALLERS.find((one) => one.agent === agent);
  if (!found) throw new Error(agent);
  return found;
};
const put = (path: string, content: string | Uint8Array) => {
  const file = join(machine.home, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
};
/** All below the home: paths, and what files hold. */
const tree = () =>
  readdirSync(machine.home, { recursive: true, encoding: "utf8" })
    .sort()
    .map((path) => [
      path,
      statSync(join(machine.home, path)).isFile() ? readFileSync(join(machine.home, path), "latin1") : "",
    ]);

describe.each(INSTALLERS)("the hook of $name", (one) => {
  it("is installed once, stays when installed again, and is removed without a trace", () => {
    expect(one.find(machine)).toBe(false);
    expect(one.state(machine, hook).state).toBe("absent");
    const plan = one.plan(machine, hook);
    expect([tree(), existsSync(machine.backups)]).toEqual([[], false]);
    expect(one.install(machine, hook)).toEqual(plan);
    expect(plan.every(({ file, kind }) => kind === "create" && existsSync(file))).toBe(true);
    expect(plan.map(({ diff }) => diff).join("")).toContain("reckon/hook");
    expect(one.find(machine)).toBe(true);
    const after = tree();
    expect([one.install(machine, hook), tree()]).toEqual([[], after]);
    expect(one.remove(machine, hook).map(({ kind }) => kind)).toEqual(plan.map(() => "delete"));
    expect([tree(), existsSync(machine.backups), one.remove(machine, hook)]).toEqual([[], false, []]);
  });

  it("is renewed when its path has changed", () => {
    one.install(machine, older);
    expect(one.state(machine, hook).state).toBe("outdated");
    one.install(machine, hook);
    expect(one.state(machine, hook).state).toBe(one.agent === "codex" ? "disabled" : "installed");
    expect(JSON.stringify(tree())).not.toContain("/old/");
    one.remove(machine, hook);
    expect(tree()).toEqual([]);
  });

  it("is found by the program on PATH, too", () => {
    const names = { "claude-code": "claude", "gemini-cli": "gemini", "copilot-cli": "copilot" } as Record<
      string,
      string
    >;
    const program = join(root, "bin", names[one.agent] ?? one.agent);
    mkdirSync(dirname(program));
    writeFileSync(program, "");
    expect(one.find(machine)).toBe(false);
    chmodSync(program, 0o755);
    expect(one.find(machine)).toBe(true);
  });
});

describe("settings", () => {
  const claude = installer("claude-code");
  const settings = '{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": []}\r\n}\r\n';

  it("keep link, mode, line ends and every byte", () => {
    const target = put("dotfiles/claude.json", settings);
    chmodSync(target, 0o640);
    const link = join(machine.home, ".claude", "settings.json");
    mkdirSync(dirname(link));
    symlinkSync(target, link);
    claude.install(machine, hook);
    expect(claude.state(machine, hook).state).toBe("installed");
    expect([lstatSync(link).isSymbolicLink(), statSync(target).mode & 0o777]).toEqual([true, 0o640]);
    expect(readFileSync(target, "utf8").replaceAll("\r\n", "")).not.toContain("\n");
    expect(statSync(machine.backups).mode & 0o777).toBe(0o700);
    expect(readdirSync(dirname(target))).toEqual(["claude.json"]);
    claude.remove(machine, hook);
    expect([lstatSync(link).isSymbolicLink(), statSync(target).mode & 0o777]).toEqual([true, 0o640]);
    expect(readFileSync(target, "utf8")).toBe(settings);
  });

  it("are read again after the plan, and removal takes away only our part after others changed them", () => {
    const file = put(".claude/settings.json", settings);
    claude.plan(machine, hook);
    writeFileSync(file, '{"model": "haiku"}');
    claude.install(machine, hook);
    const theirs = { hooks: [{ type: "command", command: "theirs" }] };
    const parsed = JSON.parse(readFileSync(file, "utf8"));
    parsed.hooks.Stop.unshift(theirs);
    writeFileSync(file, JSON.stringify(parsed, null, 4));
    claude.remove(machine, hook);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ model: "haiku", hooks: { Stop: [theirs] } });
  });

  it("are cleaned also when our backup of them is gone", () => {
    const file = put(".claude/settings.json", settings);
    claude.install(machine, hook);
    rmSync(machine.backups, { recursive: true });
    claude.remove(machine, hook);
    expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({ model: "opus" });
  });

  it.each([
    ["a broken text", '{\n"a": }', 2],
    ["bytes that are no text", new Uint8Array([0x7b, 0xff, 0x7d]), undefined],
    ["more than settings ever are", `{"a":"${"x".repeat(5 * 1024 * 1024)}"}`, undefined],
  ])("are left alone with %s", (_what, content, line) => {
    const file = put(".claude/settings.json", content);
    const before = tree();
    for (const act of [claude.plan, claude.install, claude.remove, claude.state]) {
      let error: unknown;
      try {
        act(machine, hook);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(SettingsError);
      expect((error as Error).message).toContain(line === undefined ? `${file}: ` : `${file}:${line}: `);
    }
    expect([tree(), existsSync(machine.backups)]).toEqual([before, false]);
  });

  it("are left alone where their path is a folder or a broken link", () => {
    const file = join(machine.home, ".claude", "settings.json");
    mkdirSync(file, { recursive: true });
    expect(() => claude.install(machine, hook)).toThrow("it is no file");
    rmSync(file, { recursive: true });
    symlinkSync("/nowhere/settings.json", file);
    expect(() => claude.install(machine, hook)).toThrow("there is no such file");
  });

  it("lie where the variables of each agent say", () => {
    const env = {
      CLAUDE_CONFIG_DIR: "/a",
      CODEX_HOME: "/b",
      GEMINI_CLI_HOME: "/c",
      COPILOT_HOME: "/d",
      XDG_CONFIG_HOME: "/e",
    };
    const files = INSTALLERS.flatMap((one) => one.plan({ ...machine, env }, hook).map(({ file }) => file));
    expect(files).toEqual([
      "/a/settings.json",
      "/b/hooks.json",
      "/b/config.toml",
      "/c/.gemini/settings.json",
      "/e/opencode/plugin/reckon.js",
      "/d/hooks/reckon.json",
      join(machine.home, ".cursor", "hooks.json"),
    ]);
  });
});

describe("a hook that is not called", () => {
  it.each([
    ["claude-code", ".claude/settings.json", '{"disableAllHooks": true}', "disableAllHooks"],
    ["gemini-cli", ".gemini/settings.json", '{"hooksConfig": {"enabled": false}}', "/hooks enable-all"],
    [
      "gemini-cli",
      ".gemini/settings.json",
      `{"hooksConfig": {"disabled": [${JSON.stringify(hook.line("x", "y"))}]}}`,
      "/hooks enable-all",
    ],
    ["copilot-cli", ".copilot/settings.json", '{"disableAllHooks": true}', "disableAllHooks"],
    ["codex", ".codex/config.toml", "[features]\nhooks = false\n", "hooks = false"],
  ])("is reported for %s", (agent, path, content, advice) => {
    put(path, content);
    installer(agent).install(machine, hook);
    expect(installer(agent).state(machine, hook)).toEqual({
      state: "disabled",
      message: expect.stringContaining(advice),
    });
  });

  it("of Codex is reported as not called until somebody trusts it, under its place and in its form", () => {
    const codex = installer("codex");
    const config = put(".codex/config.toml", 'model = "gpt"\n');
    codex.install(machine, hook);
    expect(codex.state(machine, hook)).toEqual({ state: "disabled", message: expect.stringContaining("/hooks") });
    const entry = (event: string, command: string, more = "") =>
      `\n[hooks.state."${machine.home}/.codex/hooks.json:${event}:0:0"]\n${more}trusted_hash = "${trustHash(event, command)}"\n`;
    const installed = readFileSync(config, "utf8");
    const start = entry("session_start", hook.line("codex", "SessionStart"));
    const trust = (stop: string) => {
      writeFileSync(config, installed + start + stop);
      return codex.state(machine, hook).state;
    };
    expect(trust("")).toBe("disabled");
    expect(trust(entry("stop", "something else"))).toBe("disabled");
    expect(trust(entry("stop", hook.line("codex", "Stop"), "enabled = false\n"))).toBe("disabled");
    expect(trust(entry("stop", hook.line("codex", "Stop")))).toBe("installed");
    codex.remove(machine, hook);
    expect(readFileSync(config, "utf8").startsWith('model = "gpt"\n\n[hooks.state')).toBe(true);
  });

  it("has the hash that Codex 0.169 computed", () => {
    // From its app-server's hooks/list, for a command with a letter outside ASCII.
    expect(trustHash("session_start", "echo 'é' EV >> $HOME/hook.log")).toBe(
      "sha256:dba15d6082fc8f0e44a0f81aff24a74a170a080d759604ddea516ef6fc507fc1",
    );
  });
});

describe("the slot `notify` of Codex", () => {
  const codex = installer("codex");

  it.each(["", '# mine\nmodel = "x"\r\n[tui]\r\n', '\uFEFFmodel = "x"'])("is taken and given back in %j", (config) => {
    const file = put(".codex/config.toml", config);
    codex.install(machine, hook);
    expect(readFileSync(file, "utf8")).toMatch(/^\uFEFF?notify = \["sh","-c","\[ -x '\/state\/reckon\/hook' \]/);
    codex.remove(machine, hook);
    expect(readFileSync(file, "utf8")).toBe(config);
  });

  it("is recognised and given back after another program wrote the file anew, as Git AI does", () => {
    const file = put(".codex/config.toml", 'model = "x"\n');
    codex.install(machine, hook);
    const list = ["sh", "-c", hook.line("codex", "notify")].map((text) => `    ${JSON.stringify(text)},\n`).join("");
    writeFileSync(file, `model = "x"\nnotify = [\n${list}]\nsandbox_mode = "read-only"\n`);
    expect(codex.state(machine, hook).message).toContain("sessions arrive after each turn");
    codex.remove(machine, hook);
    expect(readFileSync(file, "utf8")).toBe('model = "x"\nsandbox_mode = "read-only"\n');
  });

  it.each([
    ['model = "x\n', 1],
    ["# it's mine\nmodel = 'x\n[tui]\n", 2],
    ['a = """\n"two"\n"""\nb = """ \n', 4],
    ["a = [\n1,\n[tui]\n", 4],
    ['model = "x"\n[tui\na = 1\n', 2],
    ["a = 1\n<<<<<<< HEAD\nb = 1\n=======\n", 2],
    ["a = 1\nb\n", 2],
    ["a = 1\nb =\n", 2],
    ["a = 1]\n", 1],
    ['{"model": "x"}\n', 1],
  ])("is not taken where the file is no TOML, and nothing else is changed: %j, line %i", (config, line) => {
    const file = put(".codex/config.toml", config);
    const before = tree();
    const says = `${file}:${line}: this is no TOML; it is left as it is`;
    expect(() => codex.plan(machine, hook)).toThrow(new SettingsError(file, "this is no TOML", line));
    expect(() => codex.install(machine, hook)).toThrow(says);
    expect(tree()).toEqual(before);
    // What is ours is taken out all the same.
    writeFileSync(file, `${config}notify = ${JSON.stringify(["sh", "-c", hook.line("codex", "notify")])}\n`);
    codex.remove(machine, hook);
    expect(readFileSync(file, "utf8")).toBe(config);
  });

  it("is taken in whatever TOML has", () => {
    const config = `\t"a key".'b' = 'C:\\new' # it's a "comment" [
d = """
It's "quoted" \\""" and \\
[not a table
""""
e = '''don't ] "'''
f = [ [1, 2], # one ]
  { a = "}", b = 1979-05-27 07:32:00 },
]
g = ""
h = {}

[[x.y]]
  [ t."u.v" . 'w' ]  # and a comment
i = +inf
[projects."/home/kim/it's [here]"]
trust_level = "trusted"`;
    const file = put(".codex/config.toml", config);
    codex.install(machine, hook);
    expect(readFileSync(file, "utf8")).toMatch(/^notify = /);
  });

  it.each(['notify = ["say"]\n', 'a = [\n[1],\n]\n  "notify"=["say"]\n'])("is left to its owner in %j", (config) => {
    const file = put(".codex/config.toml", config);
    expect(codex.install(machine, hook).map((change) => change.file)).toEqual([
      join(machine.home, ".codex", "hooks.json"),
    ]);
    expect(readFileSync(file, "utf8")).toBe(config);
  });
});

describe("a file of our own", () => {
  it.each([
    ["opencode", ".config/opencode/plugin/reckon.js"],
    ["copilot-cli", ".copilot/hooks/reckon.json"],
  ])("of %s does not take another's name", (agent, path) => {
    const file = put(path, '{"theirs": true}');
    expect(() => installer(agent).install(machine, hook)).toThrow("not of Reckon");
    expect([installer(agent).remove(machine, hook), readFileSync(file, "utf8")]).toEqual([[], '{"theirs": true}']);
  });

  it("keeps folders in which others have put something", () => {
    installer("opencode").install(machine, hook);
    put(".config/opencode/opencode.json", "{}");
    installer("opencode").remove(machine, hook);
    expect(tree().map(([path]) => path)).toEqual([".config", ".config/opencode", ".config/opencode/opencode.json"]);
  });
});

describe("settings for a fleet", () => {
  it("are files of the system with the hook of every event", () => {
    const linux = INSTALLERS.flatMap(({ agent }) => managedSettings(agent, "linux", hook));
    expect(linux.map(({ file }) => file)).toEqual([
      "/etc/claude-code/managed-settings.json",
      "/etc/codex/requirements.toml",
      "/etc/gemini-cli/settings.json",
      "/etc/opencode/reckon.js",
      "/etc/opencode/opencode.json",
      "/etc/github-copilot/policy.d/reckon.json",
      "/etc/cursor/hooks.json",
    ]);
    expect(linux[1]?.content).toContain(
      `[[hooks.Stop.hooks]]\ntype = "command"\ncommand = "${hook.line("codex", "Stop")}"\ntimeout = 10\n`,
    );
    const windows = managedSettings("opencode", "win32", hook);
    expect(windows.map(({ file }) => file)).toEqual([
      "C:\\ProgramData\\opencode\\reckon.js",
      "C:\\ProgramData\\opencode\\opencode.json",
    ]);
    expect(JSON.parse(windows[1]?.content ?? "")).toEqual({ plugin: ["file:///C:/ProgramData/opencode/reckon.js"] });
    expect(managedSettings("codex", "win32", hook)).toEqual([]);
  });
});

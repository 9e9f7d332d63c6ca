import { join } from "node:path";
import { sha256Hex } from "../../kit/hash.ts";
import { AGENT_FOLDERS } from "../agent-folders.ts";
import { findHooks } from "./hook-text.ts";
import { type HookCommand, type Installer, type InstallTarget, SettingsError } from "./installer.ts";
import { type JsonAgent, jsonInstaller } from "./json-installer.ts";
import type { JsonNode } from "./json-tree.ts";
import { applyEdit, type Edit, planEdit, readSettings } from "./settings-file.ts";

/** Seconds. */
const TIMEOUT = 10;
const folder = AGENT_FOLDERS.codex;
const hooksFile = (machine: InstallTarget) => join(folder(machine), "hooks.json");
const configFile = (machine: InstallTarget) => join(folder(machine), "config.toml");

export const codex: JsonAgent = {
  agent: "codex",
  name: "Codex",
  settings: hooksFile,
  folders: (machine) => [folder(machine)],
  programs: ["codex"],
  dialect: { comments: false, trailingCommas: false, byteOrderMark: false },
  events: ["SessionStart", "Stop"],
  entry: (command) => ({ hooks: [{ type: "command", command, timeout: TIMEOUT }] }),
  frame: {},
  disabled,
};

const inHooks = jsonInstaller(codex);

/**
 * Codex silently skips hooks that nobody has trusted in its own dialogue. Trust is the person's to give and is not written here. Until then
 * `notify`, one command that is called after each turn and needs no trust, rings as well, unless the person uses it for something else.
 */
export const codexInstaller: Installer = {
  ...inHooks,
  plan: (machine, hook) => [...inHooks.plan(machine, hook), ...planEdit(machine, notifying(machine, hook))],
  install(machine, hook) {
    // Both files are understood before one of them is changed.
    planEdit(machine, notifying(machine, hook));
    return [...inHooks.install(machine, hook), ...applyEdit(machine, notifying(machine, hook), false)];
  },
  // In reverse: the backup of the file that was written first lists the folders that were made.
  remove: (machine, hook) => [
    ...applyEdit(machine, unnotifying(machine, hook), true),
    ...inHooks.remove(machine, hook),
  ],
};

/** The value of `notify`. Codex adds the event as the last argument, which `sh -c` takes for its own name ($0). */
const notifyLine = (hook: HookCommand) =>
  `notify = ${JSON.stringify(["sh", "-c", hook.line("codex", "notify")])}`.replaceAll("\u007f", "\\u007f");

function notifying(machine: InstallTarget, hook: HookCommand): Edit {
  return {
    file: configFile(machine),
    isOurs: (text) => withoutNotify(text, hook) !== text,
    change(text) {
      const rest = withoutNotify(text ?? "", hook);
      // Windows has no shell that takes others' text safely as an argument. A second `notify` would keep Codex from starting, so any line
      // that may be one counts.
      if (machine.platform === "win32" || /^[ \t]*["']?notify["']?[ \t]*=/m.test(rest)) return text;
      const line = notifyLine(hook) + (rest.includes("\r\n") ? "\r\n" : "\n");
      if (text?.includes(line)) return text;
      const wrong = wrongTomlLine(rest);
      if (wrong !== undefined) throw new SettingsError(configFile(machine), "this is no TOML", wrong);
      // Before all tables: a line there belongs to the root.
      const start = rest.startsWith("\uFEFF") ? 1 : 0;
      return rest.slice(0, start) + line + rest.slice(start);
    },
  };
}

function unnotifying(machine: InstallTarget, hook: HookCommand): Edit {
  return {
    file: configFile(machine),
    isOurs: () => true,
    change(text, before) {
      if (text === undefined) return undefined;
      const rest = withoutNotify(text, hook);
      return rest === "" && text !== "" && before && before.text === undefined ? undefined : rest;
    },
  };
}

/** What may hold signs that mean something elsewhere: strings and comments (toml.io 1.0). */
const TOML_TEXT = /"""(?:\\[\s\S]|[^\\])*?"{3,5}|'''[\s\S]*?'{3,5}|"(?:\\.|[^"\\\n])*"|'[^'\n]*'|#.*/g;
/** A table's name, or a key and the beginning of its value. */
const TOML_LINE = /^(?:\[.*\]|[^=[\]{},]+=\s*\S.*)?$/;

/** The first line, from 1, by which a text is no TOML. Only quotes, brackets and the form of lines are judged, not what values hold. */
function wrongTomlLine(text: string): number | undefined {
  // Line breaks within a string become \v, so that they are counted and end no line.
  const bare = text.replace(TOML_TEXT, (found) =>
    found[0] === "#" ? "" : `0${found.replace(/[^\n]+/g, "").replaceAll("\n", "\v")}`,
  );
  let [line, depth] = [0, 0];
  for (const part of bare.split("\n")) {
    line++;
    if (/["']/.test(part) || (depth === 0 && !TOML_LINE.test(part.trim()))) return line;
    for (const [sign] of part.matchAll(/[[\]{}\v]/g)) {
      if (sign === "\v") line++;
      else depth += "[{".includes(sign) ? 1 : -1;
    }
    if (depth < 0) return line;
  }
  return depth === 0 ? undefined : line;
}

/** A configuration without our `notify`, also where another program spread it over several lines. */
function withoutNotify(text: string, hook: HookCommand): string {
  return text.replace(
    /^(\uFEFF?)notify = \[\s*"sh",\s*"-c",\s*("(?:[^"\\\n]|\\.)*"),?\s*\]\r?\n/gm,
    (line, mark: string, command: string) => {
      try {
        return hook.owns(JSON.parse(command) as string) ? mark : line;
      } catch {
        return line;
      }
    },
  );
}

/** The names of events in the keys under which Codex keeps trust. */
const EVENT_KEYS: Readonly<Record<string, string>> = { SessionStart: "session_start", Stop: "stop" };

function disabled(settings: JsonNode, machine: InstallTarget, hook: HookCommand): string | undefined {
  const config = readSettings(configFile(machine)) ?? "";
  if (/^[ \t]*(?:features\.)?(?:codex_)?hooks[ \t]*=[ \t]*false\b/m.test(config))
    return `Codex calls no hooks: take "hooks = false" out of ${configFile(machine)}.`;
  const trusted = findHooks(settings, codex, hook).every(({ event, path }) => {
    const key = `${hooksFile(machine)}:${EVENT_KEYS[event]}:${path[2]}:0`;
    return isTrusted(config, key, trustHash(EVENT_KEYS[event] as string, hook.line("codex", event)));
  });
  if (trusted) return undefined;
  const until =
    withoutNotify(config, hook) === config
      ? "Until then only a timer finds its sessions (connect --timer)."
      : "Until then sessions arrive after each turn, and without a briefing.";
  return `Codex skips hooks that nobody has trusted: start codex, enter /hooks and trust the two of Reckon. ${until}`;
}

/**
 * The hash by which Codex knows a trusted hook: of its definition and the event's name, as JSON without white space and with sorted names
 * (openai/codex, codex-rs/hooks/src/engine/discovery.rs and codex-rs/config/src/fingerprint.rs).
 */
export function trustHash(event: string, command: string): string {
  const handler = { async: false, command, timeout: TIMEOUT, type: "command" };
  return `sha256:${sha256Hex(JSON.stringify({ event_name: event, hooks: [handler] }))}`;
}

/** Whether a table of that key in `config.toml` has that hash, and does not switch the hook off. */
function isTrusted(config: string, key: string, hash: string): boolean {
  const headers = [`[hooks.state.${JSON.stringify(key)}]`, `[hooks.state.'${key}']`];
  const lines = config.split(/\r?\n/).map((line) => line.trim());
  const at = lines.findIndex((line) => headers.includes(line));
  if (at < 0) return false;
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => line.startsWith("["));
  const table = end < 0 ? rest : rest.slice(0, end);
  return table.includes(`trusted_hash = "${hash}"`) && !table.includes("enabled = false");
}

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { claudeCode } from "../../../../src/capture/install/claude-code.ts";
import { cursor } from "../../../../src/capture/install/cursor.ts";
import {
  findHooks,
  isComplete,
  parseSettings,
  withHooks,
  withoutHooks,
} from "../../../../src/capture/install/hook-text.ts";
import { type HookCommand, SettingsError } from "../../../../src/capture/install/installer.ts";

const hookAt = (path: string): HookCommand => ({
  line: (agent, event) => `'${path}' ${agent} ${event}`,
  owns: (line) => line.includes("reckon"),
});
const hook = hookAt("/state/reckon/hook");
const FILE = "/home/ada/settings.json";
const backup = (text: string) => ({ file: FILE, text, folders: [] });
/** Accepts all that any agent does, so that one property covers all of it. */
const form = { ...claudeCode, dialect: { comments: true, trailingCommas: true, byteOrderMark: true } };

const others = [
  { hooks: [{ type: "command", command: "say done" }] },
  {
    matcher: "startup",
    hooks: [
      { type: "command", command: "lint" },
      { type: "http", url: "http://localhost/x" },
    ],
  },
];
const lists = fc.record(
  { Stop: fc.subarray(others), SessionStart: fc.subarray(others), PostToolUse: fc.subarray(others) },
  { requiredKeys: [] },
);
const settings = fc.record(
  {
    model: fc.constant('a "quoted" \\ }] // name'),
    permissions: fc.constant({ allow: ["Bash(ls *)", "Read"], deny: [] }),
    hooks: lists,
    env: fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.string(), { maxKeys: 3 }),
    empty: fc.constant({}),
  },
  { requiredKeys: [] },
);

/** Spells a value in one of the many ways in which people and programs do. */
function spell(
  value: unknown,
  indent: string,
  newline: string,
  gaps: () => string,
  trailing: boolean,
  level = 1,
): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const isList = Array.isArray(value);
  const items = Object.entries(value).map(
    ([name, item]) =>
      (isList ? "" : `${JSON.stringify(name)}:${gaps()}`) + spell(item, indent, newline, gaps, trailing, level + 1),
  );
  const [open, close] = isList ? "[]" : "{}";
  if (items.length === 0) return `${open}${gaps()}${close}`;
  const lead = (depth: number) => (newline === "" ? "" : newline + indent.repeat(depth));
  const end = trailing ? "," : "";
  return `${open}${lead(level)}${items.map((item) => `${item}${gaps()}`).join(`,${gaps()}${lead(level)}`)}${end}${gaps()}${lead(level - 1)}${close}`;
}

const spelled = fc
  .record({
    value: settings,
    indent: fc.constantFrom("", " ", "  ", "    ", "\t"),
    newline: fc.constantFrom("\n", "\r\n", ""),
    gaps: fc.infiniteStream(fc.constantFrom("", "", "", " ", " /* why */", " // so\n", "\n")),
    plain: fc.boolean(),
    trailing: fc.boolean(),
    around: fc.constantFrom(
      ["", ""],
      ["", "\n"],
      ["\uFEFF", "\r\n"],
      ["// settings of Ada\n", "\n\n"],
      [" \n", " /* end */"],
    ),
  })
  .map(({ value, indent, newline, gaps, plain, trailing, around: [before, after] }) => {
    const gap = () => {
      const next = gaps.next().value ?? "";
      return plain ? next.replace(/[^ ]/g, "").slice(0, 1) : next;
    };
    return { value, text: before + spell(value, indent, newline, gap, trailing && !plain) + after };
  });

describe("hooks in settings", () => {
  it("come and go without touching another byte, however the settings are spelled", () => {
    fc.assert(
      fc.property(spelled, ({ text, value }) => {
        const added = withHooks(FILE, text, form, hook, undefined);
        const root = parseSettings(FILE, added, form);
        expect(isComplete(findHooks(root, form, hook), form)).toBe(true);
        const { hooks: _, ...rest } = root.value as Record<string, unknown>;
        const { hooks: __, ...expected } = value as Record<string, unknown>;
        expect(rest).toEqual(expected);
        expect(withHooks(FILE, added, form, hook, backup(text))).toBe(added);
        expect(withoutHooks(FILE, added, form, hook, backup(text))).toBe(text);
      }),
      { numRuns: 300 },
    );
  });

  it("keep every other entry where it was, in its order and spelling", () => {
    const text = '{"hooks":{"Stop":[{"hooks":[{"command":"say 1.0","n":1.0}]}]},"a":1e3}';
    const added = withHooks(FILE, text, claudeCode, hook, undefined);
    expect(added.startsWith('{"hooks":{"Stop":[{"hooks":[{"command":"say 1.0","n":1.0}]}, {"hooks":')).toBe(true);
    expect(added.endsWith(',"a":1e3}')).toBe(true);
  });

  it("take the place of an older form of ours, and of what an older version asked for", () => {
    fc.assert(
      fc.property(spelled, ({ text }) => {
        const old = {
          ...form,
          events: ["Stop", "UserPromptSubmit"],
          entry: (command: string) => ({ hooks: [{ type: "command", command }] }),
        };
        const renewed = withHooks(
          FILE,
          withHooks(FILE, text, old, hookAt("/old/reckon"), undefined),
          form,
          hook,
          backup(text),
        );
        const found = findHooks(parseSettings(FILE, renewed, form), form, hook);
        expect([...found.map(({ event, exact }) => `${event} ${exact}`)].sort()).toEqual(
          form.events.map((event) => `${event} true`).sort(),
        );
        expect(renewed).not.toContain("/old/reckon");
        const removed = withoutHooks(FILE, renewed, form, hook, backup(text)) ?? "";
        expect(parseSettings(FILE, removed, form).value).toEqual(parseSettings(FILE, text, form).value);
      }),
      { numRuns: 100 },
    );
  });

  it("replace an older form where it stands, between those of others", () => {
    const text =
      '{\n "hooks": {\n  "Stop": [\n   {"hooks": [{"command": "a"}]},\n   {"hooks": [{"command": "/old/reckon x"}]},\n   {"hooks": [{"command": "b"}]}\n  ]\n }\n}';
    const root = parseSettings(FILE, withHooks(FILE, text, claudeCode, hook, undefined), claudeCode);
    const { hooks } = root.value as { hooks: { Stop: { hooks: { command: string }[] }[] } };
    expect(hooks.Stop.map((group) => group.hooks[0]?.command)).toEqual(["a", hook.line("claude-code", "Stop"), "b"]);
  });

  it("leave only what others wrote meanwhile, in lists and groups that were ours", () => {
    const added = withHooks(FILE, "{}\n", claudeCode, hook, undefined);
    const mine = JSON.stringify(hook.line("claude-code", "Stop"));
    const edited = added
      .replace(`"command": ${mine}`, (found) => `"command": "theirs" }, { "type": "command", ${found}`)
      .replace('"PreCompact": [', '"Other": 1, "PreCompact": [ { "hooks": [] },');
    const removed = withoutHooks(FILE, edited, claudeCode, hook, backup("{}\n")) ?? "";
    expect(JSON.parse(removed)).toEqual({
      hooks: { Stop: [{ hooks: [{ type: "command", command: "theirs" }] }], Other: 1, PreCompact: [{ hooks: [] }] },
    });
  });

  it("do not let a comment swallow what stands behind them", () => {
    const text =
      '{"hooks": {"Stop": [\n// theirs follows\n{"hooks": [{"command": "/x/reckon"}]}, {"hooks": [{"command": "b"}]}]}}';
    const removed = withoutHooks(FILE, text, form, hook, undefined) ?? "";
    expect(parseSettings(FILE, removed, form).value).toEqual({ hooks: { Stop: [{ hooks: [{ command: "b" }] }] } });
    expect(removed).toContain("// theirs follows\n");
  });

  it("make a file that others may go on with, and that goes when nobody did", () => {
    const made = withHooks(FILE, undefined, cursor, hook, undefined);
    expect(JSON.parse(made).version).toBe(1);
    const absent = { file: FILE, text: undefined, folders: [] };
    expect(withoutHooks(FILE, made, cursor, hook, absent)).toBeUndefined();
    const used = made.replace('"version": 1,', '"version": 1, "theirs": true,');
    expect(JSON.parse(withoutHooks(FILE, used, cursor, hook, absent) ?? "")).toEqual({ version: 1, theirs: true });
    for (const blank of ["", "\n", "{}", " { }\n"])
      expect(withoutHooks(FILE, withHooks(FILE, blank, cursor, hook, undefined), cursor, hook, backup(blank))).toBe(
        blank,
      );
  });

  it.each([
    ['{\n "a": 1,\n "a": 2\n}', 3, "second time"],
    ['{\n "hooks": []\n}', 2, "not an object"],
    ['{\n "hooks": {\n  "Stop": {}\n }\n}', 3, "not a list"],
    ["[]", 1, "not an object"],
    ["{\n\n // note\n}", 3, "comments"],
    ['{\n "a": 1,\n}', 2, "before a closing bracket"],
    ['{\n "a": 01\n}', 2, "value is expected"],
    ['{\n "a": "x\n"}', 2, "does not end"],
    ['{\n "a": "\\x"}', 2, "not valid JSON"],
    ['{ "a": 1 "b": 2 }', 1, "comma"],
    ['{ "a" 1 }', 1, "colon"],
    ["{ a: 1 }", 1, "name in quotes"],
    ['{"a": 1}\n}', 2, "after the end"],
    ['{"a": [1,\n', 2, "too early"],
    [`[${"[".repeat(100)}`, 1, "deep"],
  ])("are not put into %j: line %i, %s", (text, line, reason) => {
    const error = (() => {
      try {
        return withHooks(FILE, text, claudeCode, hook, undefined);
      } catch (thrown) {
        return thrown;
      }
    })();
    expect(error).toBeInstanceOf(SettingsError);
    const { message } = error as Error;
    expect([message.startsWith(`${FILE}:${line}: `), message]).toEqual([true, expect.stringContaining(reason)]);
  });

  it("are found in any text that JSON allows, and in no other", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.json(),
          fc.string(),
          fc.json().map((text) => text.slice(1)),
        ),
        (text) => {
          const parse = (read: () => unknown) => {
            try {
              return JSON.stringify({ value: read() });
            } catch {
              return undefined;
            }
          };
          expect(parse(() => parseSettings(FILE, `{"x":${text}\n}`, claudeCode).value)).toBe(
            parse(() => JSON.parse(`{"x":${text}\n}`)),
          );
        },
      ),
      { numRuns: 1_000 },
    );
  });
});

import { readFileSync } from "node:fs";
import { Command } from "commander";
import { expect, it } from "vitest";
import { COMMANDS } from "../../src/surfaces/cli/commands.ts";
import { type Cli, HERE } from "../../src/surfaces/cli/context.ts";
import { PROCESS_IO } from "../../src/surfaces/cli/output.ts";
import { nameOf, REMOTE } from "../../src/surfaces/cli/remote.ts";

const text = readFileSync("docs/remote.md", "utf8");

/** Every command that does something. */
function leaves(): Command[] {
  const cli: Cli = { env: {}, io: PROCESS_IO, place: HERE, exitCode: 0 };
  const program = new Command("reckon");
  for (const add of COMMANDS) add(program, cli);
  const below = (command: Command): Command[] =>
    command.commands.length === 0 ? [command] : command.commands.flatMap(below);
  return below(program).filter((command) => !command.name().startsWith("_"));
}

it("says of every command which token takes it, or that it works on the server's own machine alone", () => {
  const names = leaves().map(nameOf);
  expect(Object.keys(REMOTE).filter((name) => !names.includes(name))).toEqual([]);
  const rows = [...text.matchAll(/^\| `([a-z-]+)` \| (.*?) ?\| (.*?) ?\| (.*?) ?\|$/gm)];
  const said = rows.flatMap(([, group, ...cells]) =>
    cells.flatMap((cell, i) =>
      [...(cell ?? "").matchAll(/`([a-z-]+)`/g)].map(([, name]) => [
        name === group ? name : `${group} ${name}`,
        ["read team", "admin team", "admin all"][i],
      ]),
    ),
  );
  const declared = Object.entries(REMOTE).map(([name, { scope, of }]) => [name, `${scope} ${of}`]);
  expect(said.sort()).toEqual(declared.sort());
  const alone = /on the server's own machine alone: ([\s\S]*?)\./.exec(text)?.[1] ?? "";
  const local = [...alone.matchAll(/`([a-z -]+)`/g)].map(([, name]) => name as string);
  const unsaid = names.filter((name) => !(name in REMOTE) && !local.some((one) => `${name} `.startsWith(`${one} `)));
  expect(unsaid).toEqual([]);
});

it("lets no command that is run from elsewhere name a file, except those listed here", () => {
  // These are read and written at the client (`readText`, `writeText`, `writeArchive`), or refused (`except`).
  const THOUGHT_OF = ["pack publish readme", "policy set file", "license mint out", "key export out", "export out"];
  const naming = leaves().flatMap((command) => {
    const name = nameOf(command);
    const { except = [] } = REMOTE[name] ?? {};
    return command.options
      .filter((option) => name in REMOTE && /<(?:file|dir|path|folder)/.test(option.flags) && option.name() !== "data")
      .filter((option) => !except.includes(option.name()))
      .map((option) => `${name} ${option.name()}`);
  });
  expect(naming.sort()).toEqual(THOUGHT_OF.sort());
});

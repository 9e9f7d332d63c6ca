import type { Command } from "commander";
import { currentPolicy, parsePolicy, setPolicy } from "../../record/policy/policy.ts";
import { type Cli, type OfTeam, ofTeam, withTeam } from "./context.ts";

export function policyCommands(program: Command, cli: Cli): void {
  const policy = program.command("policy").description("what a team's capture agents may record");

  ofTeam(policy.command("show").description("show the policy in force")).action((options: OfTeam) =>
    withTeam(cli, options, (core, output, { id }) => {
      const found = currentPolicy(core, id);
      output.result(found, () => JSON.stringify(found, null, 2));
    }),
  );

  ofTeam(policy.command("set").description("put a policy in force"))
    .requiredOption("--file <file>", "policy as JSON; - reads standard input")
    .action(async (options: OfTeam & { file: string }) => {
      const text = await cli.place.readText(options.file);
      return withTeam(cli, options, async (core, output, { id }, caller) => {
        const document = parsePolicy(text);
        await setPolicy(core, id, document, caller.by);
        output.result(document, () => JSON.stringify(document, null, 2));
      });
    });
}

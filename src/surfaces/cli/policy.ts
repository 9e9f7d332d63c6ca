import type { Command } from "commander";
import { getTeam } from "../../identity/teams/teams.ts";
import { currentPolicy, parsePolicy, setPolicy } from "../../record/policy/policy.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { readText } from "./texts.ts";

export function policyCommands(program: Command, cli: Cli): void {
  const policy = program.command("policy").description("what a team's capture agents may record");

  common(policy.command("show").description("show the policy in force"))
    .requiredOption("--team <team>", "id or exact name")
    .action((options: CommonOptions & { team: string }) =>
      withCore(cli, options, (core, output) => {
        const found = currentPolicy(core, getTeam(core, options.team).id);
        output.result(found, () => JSON.stringify(found, null, 2));
      }),
    );

  common(policy.command("set").description("put a policy in force"))
    .requiredOption("--team <team>", "id or exact name")
    .requiredOption("--file <file>", "policy as JSON; - reads standard input")
    .action((options: CommonOptions & { team: string; file: string }) =>
      withCore(cli, options, async (core, output) => {
        const document = parsePolicy(await readText(options.file));
        await setPolicy(core, getTeam(core, options.team).id, document);
        output.result(document, () => JSON.stringify(document, null, 2));
      }),
    );
}

import type { Command } from "commander";
import { troubledJobs } from "../../platform/jobs/jobs.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";

export function jobsCommands(program: Command, cli: Cli): void {
  const jobs = program.command("jobs").description("work that the server does in the background");

  common(jobs.command("list").description("list the jobs that failed when they ran last")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        const found = troubledJobs(core);
        output.result(
          found.map(({ job, tries, cause }) => ({ job, tries, lastError: cause })),
          () =>
            table(
              ["JOB", "TRIES", "LAST ERROR"],
              found.map(({ job, tries, cause }) => [job, tries, cause]),
              "Nothing failed.",
            ),
        );
      }),
  );
}

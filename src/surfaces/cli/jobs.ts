import type { Command } from "commander";
import { troubledJobs } from "../../platform/jobs/jobs.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";

export function jobsCommands(program: Command, cli: Cli): void {
  const jobs = program.command("jobs").description("work that the server does in the background");

  common(jobs.command("list").description("list the jobs that failed when they ran last")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) =>
        output.list(troubledJobs(core), {
          json: ({ job, tries, cause }) => ({ job, tries, lastError: cause }),
          headings: ["JOB", "TRIES", "LAST ERROR"],
          cells: ({ job, tries, cause }) => [job, tries, cause],
          empty: "Nothing failed.",
        }),
      ),
  );
}

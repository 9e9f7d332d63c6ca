import type { Command } from "commander";
import { instantOrNull } from "../../kit/clock.ts";
import { unfinishedJobs } from "../../platform/jobs/jobs.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import { table } from "./output.ts";

export function jobsCommands(program: Command, cli: Cli): void {
  const jobs = program.command("jobs").description("work that the server does in the background");

  common(jobs.command("list").description("list the jobs that have work waiting or failed when they ran last")).action(
    (options: CommonOptions) =>
      withCore(cli, options, (core, output) => {
        const found = unfinishedJobs(core);
        output.result(
          found.map(({ job, waiting, tries, cause, nextTryAt }) => ({
            job,
            waiting,
            tries,
            lastError: cause,
            nextTryAt: instantOrNull(nextTryAt),
          })),
          () =>
            table(
              ["JOB", "WAITING", "TRIES", "NEXT TRY", "LAST ERROR"],
              found.map(({ job, waiting, tries, cause, nextTryAt }) => [
                job,
                waiting,
                tries,
                instantOrNull(nextTryAt),
                cause,
              ]),
              "Nothing waits, and nothing failed.",
            ),
        );
      }),
  );
}

import type { Command } from "commander";
import { isoInstant } from "../../kit/clock.ts";
import {
  changeRequest,
  listRequests,
  mergeRequest,
  type RequestFilter,
  type RequestRow,
  STATUSES,
  type Status,
  titleOf,
  unmergeRequest,
} from "../../share/feature-requests/feature-requests.ts";
import { type Cli, type CommonOptions, common, withCore } from "./context.ts";
import type { Output } from "./output.ts";
import { oneOf, wholeNumber } from "./values.ts";

const DEFAULT_LISTED = 100;

function asJson(request: RequestRow) {
  return {
    id: request.id,
    status: request.status,
    text: request.text,
    context: JSON.parse(request.context) as unknown,
    note: request.note,
    mergedInto: request.mergedInto,
    duplicates: request.duplicates,
    createdAt: isoInstant(request.createdAt),
    updatedAt: isoInstant(request.updatedAt),
  };
}

const statusOf = ({ status, mergedInto }: RequestRow) => (mergedInto === null ? status : `merged into ${mergedInto}`);

const show = (output: Output, request: RequestRow) =>
  output.result(asJson(request), () => `${request.id}\t${statusOf(request)}`);

export function requestCommands(program: Command, cli: Cli): void {
  const request = program.command("request").description("what people and agents ask of the product");

  common(request.command("list").description("list requests, newest first"))
    .option("--status <status>", `one of ${STATUSES.join(", ")}, merged`, oneOf([...STATUSES, "merged"] as const))
    .option("--search <text>", "part of the text, the context, the note or the id")
    .option("--limit <n>", "how many at most", wholeNumber, DEFAULT_LISTED)
    .action((options: CommonOptions & { status?: RequestFilter["status"]; search?: string; limit: number }) =>
      withCore(cli, options, async (core, output) => {
        const filter = { status: options.status, text: options.search };
        const { rows, older } = await listRequests(core, filter, Math.max(1, options.limit));
        await output.list(rows, {
          json: asJson,
          headings: ["ID", "STATUS", "RECEIVED", "TEXT"],
          cells: (one) => [one.id, statusOf(one), isoInstant(one.createdAt), titleOf(one)],
          empty: "No such requests.",
        });
        if (older !== undefined) output.note(`There are more than ${rows.length}: raise --limit to see them.`);
      }),
    );

  common(
    request
      .command("set")
      .argument("<id>", "the request")
      .argument("<status>", `one of ${STATUSES.join(", ")}`, oneOf(STATUSES))
      .description("say what becomes of a request; whoever asks for it by its id is told"),
  )
    .option("--note <text>", "a remark that only operators see; an empty one takes it away")
    .action((id: string, status: Status, options: CommonOptions & { note?: string }) =>
      withCore(cli, options, async (core, output, { by }) =>
        show(output, await changeRequest(core, id, { status, note: options.note }, by)),
      ),
    );

  common(
    request
      .command("merge")
      .argument("<id>", "the request that repeats another")
      .argument("<into>", "the other one, whose status it has from then on")
      .description("mark a request as a duplicate"),
  ).action((id: string, into: string, options: CommonOptions) =>
    withCore(cli, options, async (core, output, { by }) => show(output, await mergeRequest(core, id, into, by))),
  );

  common(request.command("unmerge").argument("<id>", "the request").description("undo a merge")).action(
    (id: string, options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by }) => show(output, await unmergeRequest(core, id, by))),
  );
}

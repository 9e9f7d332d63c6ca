import { writeFileSync } from "node:fs";
import type { Command } from "commander";
import { readReceipts } from "../../capture/capture.ts";
import { isoInstant } from "../../kit/clock.ts";
import { counted } from "../../kit/strings.ts";
import { withCapture } from "./agent-context.ts";
import type { Cli, CommonOptions } from "./context.ts";
import { table, withJson } from "./output.ts";

const SHOWN_CHARS = 40;

/** Prints the receipts that the server signed for deliveries. */
export function receiptsCommand(agent: Command, cli: Cli): void {
  withJson(agent.command("receipts").description("the server's receipts for what was delivered in the last 30 days"))
    .option("--out <file>", "write them to a file instead, each as a line of JSON")
    .action((options: CommonOptions & { out?: string }) =>
      withCapture(cli, options, (capture, output) => {
        const receipts = readReceipts(capture).map(({ at, ...receipt }) => ({ at: isoInstant(at), ...receipt }));
        if (options.out !== undefined) {
          const lines = receipts.map((receipt) => `${JSON.stringify(receipt)}\n`);
          writeFileSync(options.out, lines.join(""), { mode: 0o600 });
          return output.result(
            { file: options.out, receipts: receipts.length },
            () => `${counted(receipts.length, "receipt")}.`,
          );
        }
        const rows = receipts.map(({ at, path, repo, receipt }) => [at, path, repo, receipt.slice(0, SHOWN_CHARS)]);
        output.result({ receipts }, () => table(["AT", "DELIVERED TO", "REPOSITORY", "RECEIPT"], rows, "No receipts."));
      }),
    );
}

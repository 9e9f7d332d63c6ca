import type { Command } from "commander";
import { isoInstant } from "../../kit/clock.ts";
import { ensureSigningKey, exportKeys, listKeys, rotateKey, wrapKeys } from "../../platform/keys/keys.ts";
import { type Cli, type CommonOptions, common, readSecret, withCore } from "./context.ts";

export function keyCommands(program: Command, cli: Cli): void {
  const key = program.command("key").description("signing keys");
  const asJson = (row: ReturnType<typeof listKeys>[number]) => ({
    kid: row.kid,
    alg: row.alg,
    createdAt: isoInstant(row.createdAt),
    status: row.retiredAt === null ? "active" : "retired",
  });

  common(key.command("show").description("list the keys, the active one first")).action((options: CommonOptions) =>
    withCore(cli, options, async (core, output) => {
      if (core.config.signing === "on") await ensureSigningKey(core);
      await output.list(listKeys(core).map(asJson), {
        json: (row) => row,
        headings: ["KID", "ALG", "CREATED", "STATUS"],
        cells: (row) => [row.kid, row.alg, row.createdAt, row.status],
        empty: "No keys yet.",
      });
    }),
  );

  common(key.command("rotate").description("make a new signing key; what the old one signed still verifies")).action(
    (options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by }) => {
        const made = asJson(await rotateKey(core, by));
        output.result(made, () => `${made.kid} signs from now on`);
        output.note(`Give its public key to offline verifiers: ${output.reckon("key export")}`);
      }),
  );

  common(key.command("wrap").description("put the private keys into the database under a passphrase, for a replica"))
    .requiredOption("--passphrase-stdin", "read the passphrase from standard input")
    .action((options: CommonOptions) =>
      withCore(cli, options, async (core, output, { by }) => {
        const passphrase = await readSecret(cli, "passphrase", "key wrap --passphrase-stdin");
        const wrapped = await wrapKeys(core, passphrase, (await ensureSigningKey(core)).kid, by);
        output.result({ wrapped }, () => `${wrapped.join(" and ")} lie in the database, under the passphrase`);
        output.note("Keep the passphrase where the replica is not. Run this again after each key rotate.");
      }),
    );

  common(key.command("export").description("print the public keys (SPKI, PEM), the active one first"))
    .option("--out <file>", "write them to a file instead")
    .option("--active", "only the active key", false)
    .action((options: CommonOptions & { out?: string; active: boolean }) =>
      withCore(cli, options, async (core, output) => {
        const active = await ensureSigningKey(core);
        const pem = options.active ? active.publicPem : exportKeys(core);
        if (options.out !== undefined) await cli.place.writeText(options.out, pem);
        output.result(
          listKeys(core).map((row) => ({ ...asJson(row), pubkey: row.publicPem })),
          () => (options.out === undefined ? pem : ""),
        );
        if (options.out !== undefined) output.note(`Written to ${options.out}.`);
      }),
    );
}

import type { Command } from "commander";
import { CONTRACT } from "../contract.ts";
import { openApiDocument } from "../http/openapi.ts";
import { baseUrlOf } from "../kit/base-url.ts";
import { type Cli, type CommonOptions, common, configOf, outputOf } from "./context.ts";

export function openapiCommand(program: Command, cli: Cli): void {
  common(program.command("openapi").description("print the OpenAPI 3.1 document")).action((options: CommonOptions) => {
    const document = openApiDocument(CONTRACT, baseUrlOf(configOf(cli, options)));
    outputOf(options).result(document, () => JSON.stringify(document, null, 2));
  });
}

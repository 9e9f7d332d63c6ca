import type { Command } from "commander";
import { baseUrlOf } from "../../kit/base-url.ts";
import { type Cli, type CommonOptions, common, configOf, outputAt } from "./context.ts";

export function openapiCommand(program: Command, cli: Cli): void {
  common(program.command("openapi").description("print the OpenAPI 3.1 document")).action(
    async (options: CommonOptions) => {
      const { API } = await import("../../app.ts");
      const { openApiDocument } = await import("../../platform/http/openapi.ts");
      const document = openApiDocument(API, baseUrlOf(configOf(cli, options)));
      outputAt(cli, options).result(document, () => JSON.stringify(document, null, 2));
    },
  );
}

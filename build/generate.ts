import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SETTINGS } from "../src/config.ts";
import { CONTRACT } from "../src/contract.ts";
import { faultsOf } from "../src/http/endpoint.ts";
import { openApiDocument } from "../src/http/openapi.ts";

const FOLDER = join(import.meta.dirname, "../docs/generated");
const EXAMPLE_URL = "https://reckon.example.com";

const cell = (text: string) => text.replaceAll("|", "\\|");

function configurationTable(): string {
  const rows = Object.values(SETTINGS).map((row) => {
    const fallback = "shown" in row && row.shown ? row.shown : String(row.fallback);
    const flag = "flag" in row && row.flag ? ` (\`${row.flag}\`)` : "";
    return `| \`${row.env}\`${flag} | \`${fallback}\` | ${cell(row.says)} |`;
  });
  return [
    "# Configuration",
    "",
    "Flags come before the environment, the environment before defaults. `NAME_FILE` names a file that holds the value of `NAME`.",
    "",
    "| Variable | Default | Meaning |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function faultTable(): string {
  const rows = CONTRACT.flatMap((endpoint) =>
    faultsOf(endpoint).map(
      (fault) =>
        `| ${endpoint.spec.method} ${endpoint.spec.path} | ${fault.status} | \`${fault.code}\` | ${fault.shape} | ${cell(fault.says)} |`,
    ),
  );
  return [
    "# Faults",
    "",
    "Every way in which a request can be refused. The text may be more precise than shown; its wording may change.",
    "",
    "| Endpoint | Status | Code | Shape | Text |",
    "|---|---|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** What is generated from the declarations, by file name under docs/generated. */
export function generatedFiles(): Record<string, string> {
  return {
    "openapi.json": `${JSON.stringify(openApiDocument(CONTRACT, EXAMPLE_URL), null, 2)}\n`,
    "configuration.md": configurationTable(),
    "faults.md": faultTable(),
  };
}

if (import.meta.main) {
  mkdirSync(FOLDER, { recursive: true });
  for (const [name, content] of Object.entries(generatedFiles())) writeFileSync(join(FOLDER, name), content);
}

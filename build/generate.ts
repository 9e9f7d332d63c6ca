import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { API, CONTRACT } from "../src/app.ts";
import { SETTINGS } from "../src/config.ts";
import { MIN_CHARS, withoutTail } from "../src/identity/sign-in/password-rules.ts";
import { faultsOf } from "../src/platform/http/endpoint.ts";
import { openApiDocument } from "../src/platform/http/openapi.ts";
import { commonPasswords } from "./common-passwords.ts";

const ROOT = join(import.meta.dirname, "..");
const EXAMPLE_URL = "https://reckon.example.com";

const cell = (text: string) => text.replaceAll("|", "\\|");

function configurationTable(): string {
  const rows = Object.values(SETTINGS).map((row) => {
    const fallback = "shown" in row && row.shown ? row.shown : String(row.fallback);
    const flag = "flag" in row && row.flag ? ` (\`${row.flag}\`)` : "";
    return `| \`${row.env}\`${flag} | \`${fallback}\` | ${cell(row.description)} |`;
  });
  return [
    "# Configuration",
    "",
    "Flags come before the environment, the environment before defaults. `NAME_FILE` names a file that holds the value of `NAME`. Quotas (`RECKON_LIMIT_…`) are `COUNT/SECONDS`, or `off`; a daily quota is a number. Other variables that begin with `RECKON_`, which nothing reads, are named in the log (`settings_unknown`).",
    "",
    "| Variable | Default | Meaning |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

/** A list of operations; where most are in it, those that are not. */
function operationsInWords(ids: readonly string[]): string {
  const others = CONTRACT.map(({ spec }) => spec.id).filter((id) => !ids.includes(id));
  if (others.length === 0) return "every operation";
  return others.length < ids.length / 2 ? `every operation but ${others.join(", ")}` : ids.join(", ");
}

function faultTable(): string {
  const listed = CONTRACT.flatMap((endpoint) =>
    faultsOf(endpoint).map((fault) => ({
      key: `| ${fault.status} | \`${fault.code}\` | ${fault.shape} | ${cell(fault.message)} |`,
      operation: endpoint.spec.id,
    })),
  );
  const rows = [...Map.groupBy(listed, ({ key }) => key)].map(([key, at]) => {
    return `${key} ${operationsInWords(at.map(({ operation }) => operation))} |`;
  });
  return [
    "# Faults",
    "",
    "Every way in which a request can be refused, and by which operations. The text may be more precise than shown; its wording may change.",
    "",
    "| Status | Code | Shape | Text | Operations |",
    "|---|---|---|---|---|",
    ...rows.sort((a, b) => Number(a.slice(2, 5)) - Number(b.slice(2, 5))),
    "",
  ].join("\n");
}

/** What is generated, by its path in the repository. */
export function generatedFiles(): Record<string, string> {
  return {
    "src/assets/common-passwords.txt": commonPasswords(MIN_CHARS, withoutTail),
    "docs/generated/openapi.json": `${JSON.stringify(openApiDocument(API, EXAMPLE_URL), null, 2)}\n`,
    "docs/generated/configuration.md": configurationTable(),
    "docs/generated/faults.md": faultTable(),
  };
}

if (import.meta.main) {
  for (const [name, content] of Object.entries(generatedFiles())) writeFileSync(join(ROOT, name), content);
}

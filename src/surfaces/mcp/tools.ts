import * as v from "valibot";
import { schemaOf } from "../../platform/http/openapi.ts";
import type { Answer } from "./answer.ts";
import { brainBriefing, errorsRecurring } from "./brain-tools.ts";
import { promptForLineTool } from "./line-tool.ts";
import { type Reader, recordVisit, type Visit } from "./reader.ts";
import { recordError } from "./record-tool.ts";
import { brainSearch } from "./search-tool.ts";
import { spendTool } from "./spend-tool.ts";
import type { Tool } from "./tool.ts";

const TOOLS: readonly Tool[] = [brainSearch, brainBriefing, errorsRecurring, promptForLineTool, spendTool, recordError];

/** No tool changes anything, or asks anybody outside. */
const annotations = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false };

const listed = TOOLS.map(({ name, title, description, args }) => ({
  name,
  title,
  description,
  inputSchema: schemaOf(args) as { readonly type: "object" },
  annotations: { title, ...annotations },
}));

const mayCall = (reader: Reader, tool: Tool | undefined) => !tool?.deviceOnly || reader.kind === "device";

/** The tools that a reader may call, in the form of `tools/list`. */
export const listTools = (reader: Reader) => listed.filter((_, i) => mayCall(reader, TOOLS[i]));

/** @returns undefined when the reader has no such tool */
export const findTool = (reader: Reader, name: string): Tool | undefined =>
  TOOLS.find((tool) => tool.name === name && mayCall(reader, tool));

/** The answer of a tool; or what is wrong with its arguments, in words for the model. */
export async function callTool(visit: Visit, tool: Tool, args: unknown): Promise<Answer | { readonly wrong: string }> {
  const read = v.safeParse(tool.args, args ?? {}, { abortEarly: true });
  if (!read.success) {
    const [issue] = read.issues;
    const path = v.getDotPath(issue) ?? "The arguments";
    return { wrong: `${path.slice(0, 100)}: ${issue.message.slice(0, 200)}` };
  }
  const answer = await tool.call(visit, read.output as never);
  await recordVisit(visit, { tool: tool.name, ...answer });
  return answer;
}

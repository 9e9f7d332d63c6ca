import * as v from "valibot";
import { fail, invalid } from "../../kit/problem.ts";
import { ANSWER_BYTES, quoted } from "./answer.ts";
import { briefingOf, recurringOf } from "./brain-tools.ts";
import { recordVisit, type Visit } from "./reader.ts";
import { REPO, shortText } from "./tool.ts";

/** Prompts that a person may choose (MCP 2026-07-28, "Prompts"). */

const MAX_BRIEFING_BYTES = 6_500;
/** Bytes for what surrounds the list of a postmortem. */
const FRAME_BYTES = 2_600;
const MAX_WHAT_CHARS = 500;

const repo = {
  name: "repo",
  description: "Key of the repository, such as github.com/acme/shop; all without it.",
  required: false,
};

export const PROMPTS = [
  {
    name: "briefing",
    title: "Briefing",
    description: "What to know before working here: open errors, rules from those that came again, newest decisions.",
    arguments: [repo],
  },
  {
    name: "postmortem",
    title: "Postmortem",
    description: "Find out why something went wrong, and write it up for the team's errors file.",
    arguments: [repo, { name: "what", description: "What went wrong, in a few words.", required: false }],
  },
];

const Args = v.object({ repo: REPO, what: v.optional(shortText(MAX_WHAT_CHARS, "What went wrong.")) });

/** @returns undefined when there is no such prompt @throws Problem invalid for arguments that will not do */
export async function getPrompt(visit: Visit, name: string, args: unknown) {
  const chosen = PROMPTS.find((prompt) => prompt.name === name);
  if (!chosen) return undefined;
  const read = v.safeParse(Args, args ?? {});
  if (!read.success) return fail(invalid, "The arguments are texts: repo of 512 characters at most, what of 500.");
  const { repo, what } = read.output;
  const isBriefing = name === "briefing";
  const { texts, total, shown } = isBriefing
    ? await briefingOf(visit, { repo }, MAX_BRIEFING_BYTES)
    : await recurringOf(visit, { repo }, ANSWER_BYTES - FRAME_BYTES);
  await recordVisit(visit, { tool: `prompt ${name}`, question: `prompt ${name} ${repo ?? ""}`.trim(), total, shown });
  const [lead, tail] = isBriefing
    ? [BRIEFING, ""]
    : [POSTMORTEM + (what ? `\n\nIt is about this:\n\n${quoted(what)}` : ""), "\n\n"];
  const text = `${lead}\n\n${tail}${texts.join("\n\n")}`;
  return {
    description: chosen.description,
    messages: [{ role: "user" as const, content: { type: "text" as const, text } }],
  };
}

const BRIEFING =
  "Before you work here, take note of what the team has on record, and tell me what of it matters for the task.";

const POSTMORTEM = `Write a postmortem of what went wrong.

1. Find out what happened, from the code, its history and this conversation; do not guess.
2. Search the brain (brain_search) for earlier errors of the kind, and use prompt_for_line where it helps to know why the code is as it is.
3. State the root cause, the fix with its commit, and the files.
4. Find one prevention rule: what must be done, always, so that it does not happen again. Use the words of an earlier rule where it is the same.
5. Call record_error where you have it, and put the Markdown it returns at the top of the errors file; else write the entry yourself.`;

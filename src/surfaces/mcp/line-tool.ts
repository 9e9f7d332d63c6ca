import * as v from "valibot";
import { evidenceProjection, promptForLine } from "../../insight/causes/causes.ts";
import { isoInstant } from "../../kit/clock.ts";
import { commit } from "../../platform/http/fields.ts";
import { requireCaughtUp } from "../../platform/projections/projections.ts";
import { fitted, NOTICE, quoted, word } from "./answer.ts";
import { wholeBrainsOf } from "./reader.ts";
import { REPO, shortText, TEAM, tool } from "./tool.ts";

const MAX_MATCHES = 20;
const MAX_LINE = 999_999_999;

export const promptForLineTool = tool({
  name: "prompt_for_line",
  title: "Prompt that a line comes from",
  description:
    "Find which agent session, and which prompt in it, a line of code comes from. Use it to learn why code is as it is before changing it.",
  args: v.object({
    path: shortText(1_024, "Of the file, from the repository's root."),
    line: v.pipe(
      v.number(),
      v.integer(),
      v.minValue(1),
      v.maxValue(MAX_LINE),
      v.description("1-based, as the file stands now, or at the commit."),
    ),
    repo: REPO,
    commit: v.optional(commit("Only edits at or before this commit.")),
    team: TEAM,
  }),
  async call(visit, { path, line, repo, commit, team }) {
    const { repoKey, teams } = wholeBrainsOf(visit, { repo, team });
    const { behind } = await requireCaughtUp(visit.core, evidenceProjection);
    const found: ({ readonly name: string } & Awaited<ReturnType<typeof promptForLine>>[number])[] = [];
    for (const { id, name } of teams)
      for (const match of await promptForLine(visit.core, id, { repoKey, path, line, commit }))
        found.push({ ...match, name });
    const parts = found
      .slice(0, MAX_MATCHES)
      .map(({ prompt, sessionId, at, commit, band, name }) =>
        [
          quoted(prompt ?? "(no prompt was recorded)"),
          `> session ${word(sessionId)}${at === null ? "" : `, edited ${isoInstant(at)}`}${commit === null ? "" : `, commit ${commit}`}`,
          `${band} match${teams.length > 1 ? `, team ${word(name)}` : ""}`,
        ].join("\n"),
      );
    const late = behind ? " Newest sessions are not in it yet." : "";
    const head =
      found.length === 0
        ? `No recorded edit covers this line.${late}`
        : `Where ${word(path)}:${line} comes from, newest first.${late} ${NOTICE}`;
    const { text, shown } = fitted(head, parts, { count: found.length });
    return { texts: [text], question: `prompt_for_line ${path}:${line}`, total: found.length, shown };
  },
});

import * as v from "valibot";
import { askWithin, type ContextHit } from "../../insight/ask/ask.ts";
import { counted } from "../../kit/strings.ts";
import { fitted, NOTICE, placeLine, quoted, word } from "./answer.ts";
import { reachOf, repoWithin } from "./reader.ts";
import { REPO, shortText, tool } from "./tool.ts";

const DEFAULT_HITS = 5;
const MAX_HITS = 20;
const NO_BRAIN = "Nothing was found: this token opens no brain. Its team's tier or its person's role includes none.";

export const brainSearch = tool({
  name: "brain_search",
  title: "Search the team's brain",
  description:
    "Search what the team wrote down: errors and their causes, decisions, conventions. Returns cited sections (repository, path, line). Ask before work in an unfamiliar place, and when an error looks familiar.",
  args: v.object({
    query: shortText(1_024, "A question, or words to look for; 16 words of it are searched for."),
    repo: REPO,
    limit: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(1),
        v.maxValue(MAX_HITS),
        v.description(`Sections at most; ${DEFAULT_HITS} by default.`),
      ),
    ),
  }),
  async call(visit, { query, repo, limit = DEFAULT_HITS }) {
    const repoKey = repo === undefined ? undefined : repoWithin(visit, repo);
    const reach = reachOf(visit);
    const { total, hits } = await askWithin(visit.core, reach, query, { repoKey, limit });
    const { length: teams } = reach.teams();
    const nothing = teams > 0 ? "Nothing was found." : NO_BRAIN;
    const head = total === 0 ? nothing : `${counted(total, "section")} found. ${NOTICE}`;
    const parts = hits.map((hit) => sectionOf(hit, teams > 1));
    const { text, shown } = fitted(head, parts, { count: hits.length });
    return { texts: [text], question: query, total, shown };
  },
});

function sectionOf({ snippet, filePath, repoKey, line, teamName, source }: ContextHit, severalTeams: boolean): string {
  const by = source === undefined ? "" : `, published by ${source.deviceId}`;
  const of = severalTeams ? `, team ${word(teamName)}` : "";
  return `${quoted(snippet)}\n${placeLine({ repoKey, path: filePath, line }, by + of)}`;
}

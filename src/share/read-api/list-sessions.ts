import * as v from "valibot";
import { sourcesOf } from "../../identity/ownership/ownership.ts";
import { Count, line } from "../../platform/http/fields.ts";
import { listSessions } from "../../record/traces/traces.ts";
import { filter, PAGED, PERIOD, PERSON, pageOf, REPO, spanOf } from "./fields.ts";
import { reading } from "./reading.ts";
import { EXAMPLE_SESSION, factsOf, SessionFacts } from "./session-facts.ts";

const MAX_CHARS = 1_000;
const MaybeCount = v.nullable(Count);

const Item = v.object({
  ...SessionFacts.entries,
  spans: Count,
  labels: Count,
  prompts: v.pipe(
    MaybeCount,
    v.description("Null, like the members that follow, for a session too large to be read for a list."),
  ),
  files: MaybeCount,
  commits: MaybeCount,
  firstPrompt: v.pipe(
    v.nullable(v.string()),
    v.description("What it was asked first, or else its title; 160 characters."),
  ),
});

/** The team's agent sessions, the one that started last first. */
export const sessionList = reading(
  {
    id: "readSessions",
    path: "/api/sessions",
    summary: "List agent sessions",
    query: v.strictObject({
      repo: REPO,
      device: filter("The device's id."),
      person: PERSON,
      agent: filter("The agent's name.", MAX_CHARS),
      model: filter("The model's name.", MAX_CHARS),
      branch: filter("The branch's name.", MAX_CHARS),
      outcome: v.optional(
        v.pipe(
          line(MAX_CHARS),
          v.description("How it ended, as its agent says; empty for those of which none is known, as while they run."),
        ),
      ),
      text: filter("A text in the session, its spans apart, in upper or lower case.", MAX_CHARS),
      ...PERIOD,
      ...PAGED,
    }),
    ok: pageOf(Item),
    example: {
      query: { agent: "claude-code", limit: "1" },
      ok: {
        ok: true,
        items: [
          {
            ...EXAMPLE_SESSION,
            spans: 42,
            labels: 0,
            prompts: 3,
            files: 5,
            commits: 1,
            firstPrompt: "Fix the login loop",
          },
        ],
        next: "YTFiMmMzZDRlNWY2WzAsMTc2MzcxMTk0MDAwMCw3XQ",
      },
    },
  },
  async ({ core, teamId, query, limit, place, next }) => {
    const { repo, device, person, agent, model, branch, outcome, text } = query;
    const { rows, older } = await listSessions(core, teamId, {
      repoKey: repo,
      deviceId: device,
      sources: person === undefined ? undefined : sourcesOf(core, teamId, person),
      ...{ agent, model, branch, outcome, text },
      ...spanOf(query),
      cursor: place,
      limit,
    });
    const items = rows.map((row) => {
      const { spans, labels, prompts, files, commits, firstPrompt } = row;
      return { ...factsOf(core, row), spans, labels, prompts, files, commits, firstPrompt };
    });
    return { items, next: next(older) };
  },
);

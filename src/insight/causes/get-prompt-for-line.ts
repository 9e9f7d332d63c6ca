import * as v from "valibot";
import { teamDevice } from "../../identity/sight/sight.ts";
import { instantOrNull } from "../../kit/clock.ts";
import { forbidden } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { commit, Instant, identifier, RepoKey, whole } from "../../platform/http/fields.ts";
import { Behind, requireCaughtUp, stillReading } from "../../platform/projections/projections.ts";
import { evidenceProjection } from "./follow-sessions.ts";
import { CONFIDENCES } from "./judge.ts";
import { promptForLine } from "./prompt-for-line.ts";

/** The prompts that a line of code comes from. */
export const promptForLineEndpoint = endpoint(
  {
    id: "promptForLine",
    method: "GET",
    path: "/api/prompt-for-line",
    summary: "Find the prompt that a line of code comes from",
    tag: "Causes",
    auth: teamDevice,
    query: v.object({
      repoKey: v.optional(RepoKey),
      path: v.pipe(identifier(1_024), v.description("Of the file; folders above the repository may be left out.")),
      line: whole(1, 999_999_999, "1-based, as the file stands now, or at the commit."),
      commit: v.optional(commit("Only edits at or before this commit, as far as sessions told when it was made.")),
    }),
    ok: v.object({
      ok: v.boolean(),
      matches: v.pipe(
        v.array(
          v.object({
            sessionId: v.pipe(v.string(), v.description("As its agent named it.")),
            spanId: v.pipe(
              v.string(),
              v.description("The edit's span; where only a note has it, the note's id for it."),
            ),
            prompt: v.pipe(
              v.nullable(v.string()),
              v.description(
                "The session's last prompt at or before the edit, on one line, its first 2,000 characters.",
              ),
            ),
            commit: v.nullable(v.string()),
            at: v.nullable(Instant),
            band: v.pipe(
              v.picklist(CONFIDENCES),
              v.description(
                "strong: the commit's note names the session, or an edit covers the line, and it is known how later ones moved it; probable: some later ones do not say so, but none of these lies above; weak: the file was edited.",
              ),
            ),
          }),
        ),
        v.description("Newest first."),
      ),
      behind: Behind,
    }),
    faults: [forbidden, stillReading],
    limits: [],
    example: {
      query: { path: "src/login.ts", line: "12" },
      ok: {
        ok: true,
        matches: [
          {
            sessionId: "s-1",
            spanId: "a",
            prompt: "Set the session cookie after login",
            commit: null,
            at: "2026-11-20T14:00:05.000Z",
            band: "strong",
          },
        ],
      },
    },
  },
  async ({ core, principal, query: { repoKey, path, line, commit } }) => {
    const standing = await requireCaughtUp(core, evidenceProjection);
    const matches = await promptForLine(core, principal.teamId, { repoKey, path, line: Number(line), commit });
    return {
      ok: true,
      matches: matches.map(({ sessionNumber: _, at, ...match }) => ({ ...match, at: instantOrNull(at) })),
      ...standing,
    };
  },
);

import * as v from "valibot";
import type { Core } from "../../core.ts";
import { type DevicePrincipal, findDeviceOf } from "../../identity/devices/devices.ts";
import { isOwnOnly } from "../../identity/sight/sight.ts";
import { fail, forbidden, malformed, unauthorized } from "../../kit/problem.ts";
import { cooperative } from "../../kit/yield.ts";
import { type Call, endpoint, Reply } from "../../platform/http/endpoint.ts";
import { commitNotes } from "../traces/traces.ts";
import { COMMIT } from "./commit.ts";
import { apiKey } from "./credential.ts";

const MAX_COMMITS = 100;

const Notes = v.object({
  notes: v.pipe(v.record(v.string(), v.string()), v.description("Notes by their commits, as they were sent.")),
});

/** Gives the notes of commits back, to any device of the team. */
export const notesRead = endpoint(
  {
    id: "gitAiNotesRead",
    method: "GET",
    path: "/adapters/git-ai/worker/notes",
    alias: "/adapters/git-ai/worker/notes/",
    summary: "Read notes of commits",
    tag: "Git AI",
    auth: apiKey,
    query: v.object({
      commits: v.pipe(v.string(), v.description(`Up to ${MAX_COMMITS}, with commas between them.`)),
    }),
    ok: Notes,
    also: [{ status: 404, description: "None of them has a note.", schema: Notes, example: { notes: {} } }],
    faults: [forbidden],
    limits: [],
    example: {
      query: { commits: "80281eb75be77fc3cf9ef8a3c250f98444c42f16" },
      ok: {
        notes: {
          "80281eb75be77fc3cf9ef8a3c250f98444c42f16": 'src/login.ts\n  h_31dce776f88375 1-10\n---\n{"prompts":{}}',
        },
      },
    },
  },
  ({ core, principal, query }: Call<DevicePrincipal, { readonly commits: string }>) => {
    const { teamId } = principal;
    requireSight(core, principal);
    const commits = query.commits.split(",").filter((commit) => commit !== "");
    if (commits.length > MAX_COMMITS) fail(malformed, `At most ${MAX_COMMITS} commits can be asked for at once.`);
    if (!commits.every((commit) => COMMIT.test(commit)))
      fail(malformed, "Each commit must have 4 to 64 hexadecimal digits.");
    const known = commitNotes.known(core, teamId, commits);
    if (known.length === 0) return new Reply({ notes: {} }, { status: 404 });
    return new Reply({ notes: {} }, { content: document(core, principal, known) });
  },
);

/** @throws Problem forbidden, or unauthorized once the device is not connected any more */
function requireSight(core: Core, device: DevicePrincipal): void {
  const { status } = findDeviceOf(core, device.teamId, device.deviceId) ?? {};
  if (status !== "active") fail(unauthorized, "The device was disconnected.");
  if (isOwnOnly(core, device)) fail(forbidden, "This device's person sees only what their own devices sent.");
}

/** Of a note at once, in UTF-16 units: its escapes may be six times as long. */
const PIECE_CHARS = 256 * 1024;

/**
 * Piece by piece, because a hundred notes may be larger than one text can be, and even one keeps others waiting. A slow reader gets no more
 * once the device is told nothing of the team any more.
 */
async function* document(core: Core, device: DevicePrincipal, commits: readonly string[]): AsyncGenerator<string> {
  const yieldNow = cooperative(core.clock);
  let before = '{"notes":{';
  for (const commit of commits) {
    const content = commitNotes.contentOf(core, device.teamId, commit);
    // It may be erased by now.
    if (content === undefined) continue;
    yield `${before}${JSON.stringify(commit)}:"`;
    for (let from = 0; from < content.length; from += PIECE_CHARS) {
      await yieldNow();
      requireSight(core, device);
      // A character that two pieces share is written as two escapes, which are one again when they are read.
      yield JSON.stringify(content.slice(from, from + PIECE_CHARS)).slice(1, -1);
    }
    before = '",';
  }
  yield before === '",' ? '"}}' : `${before}}}`;
}

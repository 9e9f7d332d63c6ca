import { kindOf } from "../../formats/brain-kinds.ts";
import { fail, invalid, notFound } from "../../kit/problem.ts";
import { currentBrains, readFile, sourceFinder } from "../../record/brain/brain.ts";
import { ANSWER_BYTES, cutLines, sizeOf, word } from "./answer.ts";
import { reachOf, recordVisit, type Visit } from "./reader.ts";

/** Files of the brains as resources (MCP 2026-07-28, "Resources"). */

export const TEMPLATE = {
  uriTemplate: "brain://{repoKey}/{path}",
  name: "brain-file",
  title: "A file of a repository's brain",
  description:
    "Both parts percent-encoded; #L120 at the end begins at that line. What is longer than an answer is cut, and the answer tells where.",
  mimeType: "text/markdown",
};

const PAGE = 50;
/** Of an address, in bytes of JSON, because an answer has it twice: enough for a key and a path of 512 bytes each, percent-encoded. */
const MAX_URI_BYTES = 3_200;
/** Bytes for the line that says whose words a file is. */
const NOTE_BYTES = 1_000;

const uriOf = (repoKey: string, path: string) =>
  `brain://${encodeURIComponent(repoKey)}/${path.split("/").map(encodeURIComponent).join("/")}`;

/** Whether a file can be read by its address. Each of its characters becomes nine at most, so few are spelled out for this. */
const hasRoom = (repoKey: string, path: string) =>
  9 * (repoKey.length + path.length + 10) < MAX_URI_BYTES || sizeOf(uriOf(repoKey, path)) <= MAX_URI_BYTES;

const resourceOf = (repoKey: string, path: string) => ({
  uri: uriOf(repoKey, path),
  name: word(path),
  title: word(`${repoKey} ${path}`.trim()),
  mimeType: "text/markdown",
});

/** A file as a scope judges it. Its kind is computed only when asked for. */
const fileAt = (repoKey: string, path: string) => ({
  repoKey,
  path,
  get kind() {
    return kindOf(path);
  },
});

/**
 * The files that a reader may open, each once. There may be tens of thousands, so a file is remembered only while a further team may have
 * the same.
 */
function* filesReached(visit: Visit): Generator<readonly [repoKey: string, path: string]> {
  const { teams, keep } = reachOf(visit);
  const reached = teams();
  const known = new Set<string>();
  for (const [i, { id }] of reached.entries())
    for (const { repoKey, files } of currentBrains(visit.core, id))
      for (const [path] of files) {
        if (!hasRoom(repoKey, path) || !keep(fileAt(repoKey, path)) || (i > 0 && known.has(`${repoKey}\n${path}`)))
          continue;
        if (i < reached.length - 1) known.add(`${repoKey}\n${path}`);
        yield [repoKey, path];
      }
}

/** A page of the files that a reader may open. @param cursor of the page before @throws Problem invalid for one that is none */
export async function listResources(visit: Visit, cursor = "0") {
  if (!/^\d{1,7}$/.test(cursor)) fail(invalid, "The cursor is not valid: leave it out to begin anew.");
  const from = Number(cursor);
  const resources: ReturnType<typeof resourceOf>[] = [];
  let total = 0;
  for (const [repoKey, path] of filesReached(visit)) {
    // Only resources of this page are spelled out.
    if (total >= from && resources.length < PAGE) resources.push(resourceOf(repoKey, path));
    total++;
  }
  const next = from + PAGE < total ? { nextCursor: `${from + PAGE}` } : {};
  const question = `resources/list from ${from}`;
  await recordVisit(visit, { tool: "resources/list", question, total, shown: resources.length });
  return { resources, ...next };
}

/**
 * A file of a current brain, from a line on, with a note whose words it is. The repository's key and the path may be percent-encoded or
 * not.
 * @throws Problem notFound when the reader reaches no such file, or it has no such line; invalid for an address that leaves no room in an answer
 */
export async function readResource(visit: Visit, uri: string) {
  if (sizeOf(uri) > MAX_URI_BYTES) fail(invalid, `The address is too long: it may have ${MAX_URI_BYTES} bytes.`);
  const [, place = "", fragment = "1"] = /^brain:\/\/([^#]*)(?:#L([1-9]\d{0,8}))?$/.exec(uri) ?? [];
  const found = findFile(visit, decoded(place));
  if (!found) return fail(notFound, "There is no such file in the brains that this token opens.");
  const { teamId, repoKey, path, content, withheld } = found;
  const first = Number(fragment);
  const lines = content.split("\n");
  if (first > lines.length) fail(notFound, `The file has ${lines.length} lines: there is no line ${first}.`);
  const rest = lines.slice(first - 1).join("\n");
  const { text, lines: shown } = cutLines(rest, ANSWER_BYTES - NOTE_BYTES - 2 * sizeOf(uri));
  // Only a line that is too long by itself is shown in part.
  const part =
    shown === 1 && text !== lines[first - 1] ? ` Line ${first} is too long to be shown whole: it ends early.` : "";
  const source = sourceFinder(visit.core, teamId)({ repoKey, path });
  const beyond = first - 1 + shown < lines.length ? ` More follows from #L${first + shown} on.` : "";
  const note = withheld
    ? "The capture policy withheld what the file holds."
    : `${source?.says ?? ""} Lines ${first} to ${first - 1 + shown} of ${lines.length}, published by ${source?.deviceId ?? "nobody"}.${part}${beyond}`;
  const question = `resources/read ${word(`${repoKey} ${path}`)}`;
  await recordVisit(visit, { tool: "resources/read", question, total: 1, shown: 1 });
  return {
    contents: [
      { uri, mimeType: "text/plain", text: note },
      { uri, mimeType: "text/markdown", text },
    ],
  };
}

/** @returns "" where the text is not validly encoded */
function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}

/** The first file that a text of key, slash and path can mean. */
function findFile(visit: Visit, place: string) {
  const { teams, keep } = reachOf(visit);
  for (const { id: teamId } of teams())
    for (const { repoKey } of currentBrains(visit.core, teamId)) {
      const path = place.slice(repoKey.length + 1);
      if (!place.startsWith(`${repoKey}/`) || !keep({ repoKey, path, kind: kindOf(path) })) continue;
      const file = readFile(visit.core, teamId, repoKey, path);
      if (file) return { teamId, repoKey, path, content: file.content, withheld: file.withheldSha256 !== null };
    }
  return undefined;
}

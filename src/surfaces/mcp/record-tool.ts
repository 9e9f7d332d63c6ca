import * as v from "valibot";
import { isFromPack, kindOf } from "../../formats/brain-kinds.ts";
import { freshenEntries, onWire, parseFile, wholeClass } from "../../insight/defects/defects.ts";
import { isoDate } from "../../kit/clock.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { visibleLine } from "../../kit/strings.ts";
import { currentBrains } from "../../record/brain/brain.ts";
import { redactText } from "../../redact/redact.ts";
import { ANSWER_BYTES, word } from "./answer.ts";
import { repoWithin, teamsOf, type Visit } from "./reader.ts";
import { REPO, shortText, tool } from "./tool.ts";

const MAX_TITLE_CHARS = 200;
const MAX_RULE_CHARS = 1_000;
const MAX_BODY_CHARS = 5_000;
/** Bytes for the words around the entry. */
const NOTE_BYTES = 600;
const USUAL_FILE = ".claude/brain/errors.md";

export const recordError = tool({
  name: "record_error",
  title: "Write up an error",
  description:
    "Make the entry for the team's errors file from what went wrong. Returns Markdown for you to put at the top of that file; nothing is stored or edited by this call.",
  args: v.object({
    title: shortText(MAX_TITLE_CHARS, "What went wrong, in a few words."),
    body: shortText(MAX_BODY_CHARS, "Markdown: what happened, the cause, the fix, with commits and files by name."),
    prevention_rule: shortText(
      MAX_RULE_CHARS,
      "What must be done, always, so that it does not happen again; one sentence.",
    ),
    repo: REPO,
  }),
  deviceOnly: true,
  async call(visit, { title, body, prevention_rule, repo }) {
    const repoKey = repoWithin(visit, repo);
    const [rule, heading] = [clean(prevention_rule, MAX_RULE_CHARS), clean(title, MAX_TITLE_CHARS)];
    const date = isoDate(visit.core.clock.now());
    const text = redactText(body.toWellFormed()).text.trim();
    const entry = `## ${date} – ${heading}\n\n${text}\n\n**Prevention rule:** ${rule}\n`;
    const { entries, skipped } = parseFile(entry);
    const [read, ...others] = entries;
    // An entry that does not read back as one entry would be none, or several, once it stands in the file.
    if (!read || others.length > 0 || skipped > 0 || read.rule !== rule || read.title === "")
      return fail(
        invalid,
        "This would not be read back as one entry: the title needs words, and the body must hold no heading of level 1 or 2, no open code fence and no prevention rule of its own.",
      );
    if (Buffer.byteLength(JSON.stringify(entry)) > ANSWER_BYTES - NOTE_BYTES)
      return fail(invalid, "The body is too long: shorten it.");
    const note = await noteFor(visit, repoKey, onWire(read.fingerprint));
    return { texts: [entry, note], question: `record_error ${title}`, total: 1, shown: 1 };
  },
});

/** A line without what looks like a secret: the file goes into the repository. */
const clean = (text: string, most: number) => visibleLine(redactText(text.toWellFormed()).text, most);

/** Says where the entry belongs, and whether there is one like it. */
async function noteFor(visit: Visit, repoKey: string | undefined, fingerprint: string): Promise<string> {
  await freshenEntries(visit.core);
  const [{ id: teamId } = { id: "" }] = teamsOf(visit);
  const brains =
    repoKey === undefined ? [] : currentBrains(visit.core, teamId).filter((one) => one.repoKey === repoKey);
  const paths = brains.flatMap(({ files }) => files.map(([path]) => path));
  const file = paths.find((path) => kindOf(path) === "error" && !isFromPack(path)) ?? USUAL_FILE;
  const { repos } = wholeClass.sums(visit.core, teamId, fingerprint);
  const before = repos.reduce((sum, one) => sum + (one.repoKey === (repoKey ?? one.repoKey) ? one.occurrences : 0), 0);
  return [
    `Put the entry above into ${word(file)}, as the first one below the file's title; the server did not edit it.`,
    ...(before > 0 ? [`The same rule stands in ${before} earlier entries: this came again.`] : []),
  ].join(" ");
}

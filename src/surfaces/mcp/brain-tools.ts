import * as v from "valibot";
import { defectsOfClass, freshenEntries, makeBriefing, recurringClasses } from "../../insight/defects/defects.ts";
import { beginning } from "../../kit/strings.ts";
import { ANSWER_BYTES, type Answer, cutLines, fitted, NOTICE, placeLine, quoted, word } from "./answer.ts";
import { type About, type Visit, wholeBrainsOf } from "./reader.ts";
import { REPO, TEAM, tool } from "./tool.ts";

const MIN_BRIEFING_BYTES = 200;
const MAX_BRIEFING_BYTES = 7_000;
const DEFAULT_BRIEFING_BYTES = 4_000;
const MAX_CLASSES = 20;
const MAX_PLACES = 3;

/** What to know before a session, for each team of the question. */
export async function briefingOf(visit: Visit, { repo, team }: About, maxBytes: number): Promise<Answer> {
  const { repoKey, teams } = wholeBrainsOf(visit, { repo, team });
  await freshenEntries(visit.core);
  const each = Math.max(MIN_BRIEFING_BYTES, Math.floor(maxBytes / teams.length));
  const [parts, counts]: [string[], { total: number; shown: number }] = [[], { total: 0, shown: 0 }];
  for (const { id, name } of teams) {
    const { body, text } = await makeBriefing(visit.core, id, repoKey, { medium: "markdown", maxBytes: each });
    parts.push(teams.length > 1 ? `Team ${word(name)}:\n\n${text}` : text);
    counts.total += body.items.length + body.omitted;
    counts.shown += body.items.length;
  }
  const { text } = cutLines(parts.join("\n"), ANSWER_BYTES);
  return { texts: [text], question: `brain_briefing ${repo ?? ""}`.trim(), ...counts };
}

export const brainBriefing = tool({
  name: "brain_briefing",
  title: "Briefing before a session",
  description:
    "What to know before working in a repository: open errors, prevention rules from errors that came again, newest decisions. Call it once when a session starts.",
  args: v.object({
    repo: REPO,
    team: TEAM,
    maxBytes: v.optional(
      v.pipe(
        v.number(),
        v.integer(),
        v.minValue(MIN_BRIEFING_BYTES),
        v.maxValue(MAX_BRIEFING_BYTES),
        v.description(`Room for the briefing; ${DEFAULT_BRIEFING_BYTES} by default.`),
      ),
    ),
  }),
  call: (visit, { maxBytes = DEFAULT_BRIEFING_BYTES, ...about }) => briefingOf(visit, about, maxBytes),
});

/** Errors that came more than once, the most frequent first. */
export async function recurringOf(visit: Visit, { repo, team }: About, bytes = ANSWER_BYTES): Promise<Answer> {
  const { repoKey, teams } = wholeBrainsOf(visit, { repo, team });
  await freshenEntries(visit.core);
  const parts: string[] = [];
  for (const { id, name } of teams)
    for (const found of await recurringClasses(visit.core, id, repoKey, MAX_CLASSES))
      parts.push(classText(visit, id, found, { repoKey, of: teams.length > 1 ? `, team ${word(name)}` : "" }));
  const head = parts.length === 0 ? "No class of error came more than once." : `Errors that came again. ${NOTICE}`;
  const { text, shown } = fitted(head, parts, { bytes });
  return { texts: [text], question: `errors_recurring ${repo ?? ""}`.trim(), total: parts.length, shown };
}

function classText(
  { core }: Visit,
  teamId: string,
  { fingerprint, occurrences, firstSeen, lastSeen, titles, rule }: Awaited<ReturnType<typeof recurringClasses>>[number],
  { repoKey, of }: { readonly repoKey: string | undefined; readonly of: string },
): string {
  const places = defectsOfClass(core, teamId, fingerprint, { repoKey }).filter(({ kind }) => kind === "error");
  return [
    `${occurrences} times, ${firstSeen} to ${lastSeen}, class ${fingerprint}${of}`,
    ...(rule === null ? [] : [quoted(`Prevention rule: ${shortened(rule)}`)]),
    ...titles.map((title) => quoted(shortened(title))),
    ...places.slice(0, MAX_PLACES).map((place) => placeLine(place)),
  ].join("\n");
}

const MAX_WORDS_CHARS = 400;
const shortened = (text: string) => (text.length > MAX_WORDS_CHARS ? `${beginning(text, MAX_WORDS_CHARS)}…` : text);

export const errorsRecurring = tool({
  name: "errors_recurring",
  title: "Errors that came again",
  description:
    "Classes of errors that the team recorded more than once, with how often, when, where they are written down, and the prevention rule.",
  args: v.object({ repo: REPO, team: TEAM }),
  call: recurringOf,
});

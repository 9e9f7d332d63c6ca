import * as v from "valibot";
import { freshenLinks, linksOfEntry } from "../../insight/causes/causes.ts";
import { DEFECT_KINDS, type Defect, defectsOfClass, findClass } from "../../insight/defects/defects.ts";
import { standingOfClass, standingOfEntry } from "../../insight/triage/triage.ts";
import { pageSize } from "../../kit/page.ts";
import { fail, notFound } from "../../kit/problem.ts";
import { Count, repoKeyOf } from "../../platform/http/fields.ts";
import { ClassFacts, EXAMPLE_CLASS, factsOf, StandingFacts, standingOf } from "./error-facts.ts";
import { Id, PAGED, pageOf, REPO, RepoKey, Text } from "./fields.ts";
import { CauseLink, EXAMPLE_LINK, linkOf, MAX_LINKS } from "./links.ts";
import { reading } from "./reading.ts";

const Item = v.object({
  id: v.pipe(Id, v.description("Stays while the entry does.")),
  kind: v.picklist(DEFECT_KINDS),
  repoKey: RepoKey,
  path: v.string(),
  line: Count,
  date: v.pipe(v.string(), v.isoDate()),
  heading: v.string(),
  title: v.string(),
  open: v.boolean(),
  rule: Text,
  commits: v.array(v.string()),
  files: v.array(v.string()),
  ...StandingFacts.entries,
  links: v.pipe(v.array(CauseLink), v.description("Its causes, the most certain first; 100 at most.")),
});

/** A class with its entries, newest first, and the sessions that each is put down to. */
export const errorOne = reading(
  {
    id: "readError",
    path: "/api/errors/:id",
    summary: "Read one class of errors with its entries and their causes",
    query: v.strictObject({ repo: REPO, ...PAGED }),
    ok: v.object({ ...ClassFacts.entries, ...pageOf(Item).entries }),
    example: {
      ok: {
        ok: true,
        ...EXAMPLE_CLASS,
        items: [
          {
            id: 3,
            kind: "error",
            repoKey: "github.com/acme/shop",
            path: ".claude/brain/errors.md",
            line: 1,
            date: "2026-11-21",
            heading: "2026-11-21 Login loop",
            title: "Login loop",
            open: true,
            rule: "Set SameSite on every cookie",
            commits: [],
            files: ["src/login.ts"],
            ...{ state: "again", owner: null, snoozedUntil: null, tracker: null },
            links: [EXAMPLE_LINK],
          },
        ],
        next: null,
      },
    },
  },
  async ({ core, teamId, query: { repo }, params, limit, place, next }) => {
    await freshenLinks(core);
    const found = await findClass(core, teamId, params.id ?? "", repo);
    const standing = found && standingOfClass(core, teamId, found.fingerprint);
    if (!found || !standing) fail(notFound, "There is no such class of errors.");
    const entries = defectsOfClass(core, teamId, found.fingerprint, { repoKey: repo }).sort(newestFirst);
    const beyond = place === undefined ? entries : entries.filter(isBeyond(place));
    const page = beyond.slice(0, pageSize(limit));
    const last = page.at(-1);
    const items = page.map((entry) => {
      const { id, kind, path, line, date, heading, title, open, rule, commits, files } = entry;
      const links = linksOfEntry(core, teamId, entry).slice(0, MAX_LINKS).map(linkOf);
      return {
        ...{ id, kind, repoKey: repoKeyOf(entry.repoKey), path, line, date, heading, title, open },
        ...{ rule: rule ?? null, commits, files },
        ...standingOf(standingOfEntry(core, teamId, found.fingerprint, entry)),
        links,
      };
    });
    return {
      ...factsOf(found, standing),
      items,
      next: next(last && beyond.length > page.length ? `${last.date} ${last.id}` : undefined),
    };
  },
);

const newestFirst = (a: Pick<Defect, "date" | "id">, b: Pick<Defect, "date" | "id">) =>
  Number(a.date < b.date) - Number(a.date > b.date) || b.id - a.id;

/** Tells whether an entry follows the one at which a page ended, which may be gone by now. */
function isBeyond(place: string): (entry: Defect) => boolean {
  const [date = "", id] = place.split(" ");
  return (entry) => newestFirst({ date, id: Number(id) }, entry) < 0;
}

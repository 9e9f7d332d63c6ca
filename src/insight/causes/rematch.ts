import { type Defect, titleOfHeading } from "../defects/defects.ts";
import { entryText } from "./keys.ts";
import type { LinkRow } from "./link-rows.ts";

/** Somebody said so, or said that it is not so. */
export const isSaid = ({ origin, verdict }: LinkRow): boolean => origin === "person" || verdict !== null;

/**
 * The entry that each link is of now. One that is there keeps its number, so links go by it. For what people said of one that
 * is gone, an entry is looked for that came back: at most one for each, and none of which anything was said since. It has
 * 1. the same date, title and fingerprint; or of those that came after it was found to be gone
 * 2. the same date and title, or
 * 3. the same date and fingerprint,
 * if it is the only one that has, older ones too. It stands in the same file, or that file has no entries any more, or all three are the same.
 * @param defects all of the repository
 */
export function homesOf(links: readonly LinkRow[], defects: readonly Defect[]): Map<LinkRow, Defect> {
  const byId = new Map(defects.map((defect) => [defect.id, defect]));
  const homes = new Map<LinkRow, Defect>();
  const lost: LinkRow[] = [];
  for (const link of links) {
    const home = byId.get(link.entryId);
    if (home) homes.set(link, home);
    else if (isSaid(link)) lost.push(link);
  }
  if (lost.length > 0) findReturned(lost, defects, homes);
  return homes;
}

type Fits = (lost: Lost, one: Candidate) => boolean;

interface Candidate {
  readonly defect: Defect;
  readonly title: string;
}

interface Lost {
  readonly links: readonly LinkRow[];
  readonly link: LinkRow;
  readonly title: string;
  /** Nobody has looked for the entry yet. */
  readonly justNow: boolean;
}

const sameTitle: Fits = (lost, one) => lost.title !== "" && lost.title === one.title;
const sameFingerprint: Fits = ({ link }, { defect }) => link.fingerprint.equals(defect.fingerprint);
/** Among equal headings of one file those that stayed are no candidates; those read anew have the same places again. */
const samePlace: Fits = ({ link, justNow }, { defect }) =>
  !justNow || defect.path !== link.path || defect.ordinal === link.ordinal;

/** Adds the homes of links whose entry is back. */
function findReturned(links: readonly LinkRow[], defects: readonly Defect[], homes: Map<LinkRow, Defect>): void {
  const paths = new Set(defects.map(({ path }) => path));
  const taken = new Set([...homes].flatMap(([link, { id }]) => (isSaid(link) ? [id] : [])));
  const byDate = Map.groupBy(defects, ({ date }) => date);
  const titles = new Map<Defect, string>();
  const titleOf = (defect: Defect) => {
    const title = titles.get(defect) ?? titleOfHeading(defect.heading);
    titles.set(defect, title);
    return title;
  };
  const groups = [...Map.groupBy(links, (link) => `${link.entryId} ${entryText(link)}`).values()];
  let open = groups.map((own): Lost => {
    const link = own[0] as LinkRow;
    return { links: own, link, title: titleOfHeading(link.heading), justNow: link.goneAfter === null };
  });
  const stage = (fits: Fits, whole = false) => {
    const found = open.flatMap((lost): [Lost, Defect][] => {
      const sameDay = byDate.get(lost.link.date) ?? [];
      const like = sameDay.filter((defect) => fits(lost, { defect, title: titleOf(defect) }));
      const [home, ...more] = like.filter(({ id }) => id > (lost.link.goneAfter ?? lost.link.entryId));
      return home && more.length === 0 && !taken.has(home.id) && (whole || like.length === 1) ? [[lost, home]] : [];
    });
    const claims = Map.groupBy(found, ([, { id }]) => id);
    for (const [lost, home] of found) {
      if (claims.get(home.id)?.length !== 1) continue;
      for (const link of lost.links) homes.set(link, home);
      taken.add(home.id);
      open = open.filter((one) => one !== lost);
    }
  };
  const near: Fits = ({ link, justNow }, { defect }) =>
    !justNow && (defect.path === link.path || !paths.has(link.path));
  stage((lost, one) => lost.title === one.title && sameFingerprint(lost, one) && samePlace(lost, one), true);
  stage((lost, one) => near(lost, one) && sameTitle(lost, one));
  stage((lost, one) => near(lost, one) && sameFingerprint(lost, one));
}

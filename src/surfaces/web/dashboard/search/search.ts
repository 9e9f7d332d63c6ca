import { unturned } from "../../../../kit/escape-invisible.ts";
import { type Html, html } from "../../../../kit/html.ts";
import { beginning } from "../../../../kit/strings.ts";
import { cooperative } from "../../../../kit/yield.ts";
import { page } from "../../../../platform/http/page.ts";
import { filters } from "../../ui/list.ts";
import { anchor, empty, pageHead, section } from "../../ui/parts.ts";
import { frame } from "../frame.ts";
import type { Member, Person } from "../shared/call.ts";
import { soughtIn } from "../shared/text.ts";
import {
  brainHits,
  deviceHits,
  errorHits,
  type Found,
  findPages,
  type Hit,
  peopleHits,
  repositoryHits,
  sessionHits,
} from "./sources.ts";

/** Search over everything that somebody may open: a page, and the same as JSON for the dialog that the script makes of it. */

/** Fewer letters are in nearly everything. */
const MIN_CHARS = 3;
const MAX_CHARS = 100;

type Source = (call: Member, text: string) => Found | Promise<Found>;

/** Each is looked through for whoever may open the page that it leads to. */
const SOURCES: readonly (readonly [path: string, source: Source])[] = [
  ["/sessions", sessionHits],
  ["/errors", errorHits],
  ["/brain", brainHits],
  ["/repositories", repositoryHits],
  ["/devices", deviceHits],
  ["/people", peopleHits],
];

const typedIn = ({ query }: Person): string => beginning((query.get("q") ?? "").toWellFormed(), MAX_CHARS).trim();

/** What there is, by kind; kinds of which nothing is found are left out. */
async function findAll(call: Person, typed: string): Promise<Found[]> {
  if (typed.length < MIN_CHARS) return [];
  const text = soughtIn(typed).toLowerCase();
  const { session } = call;
  const [pages, docs] = findPages(call, text) as [Found, Found];
  const found = [pages];
  if (session.team) {
    const member: Member = { ...call, session: { ...session, team: session.team } };
    const yieldNow = cooperative(call.core.clock);
    for (const [path, source] of SOURCES) {
      if (!call.opens("GET", path)) continue;
      found.push(await source(member, text));
      await yieldNow();
    }
  }
  return [...found, docs].filter(({ hits }) => hits.length > 0);
}

async function searchPage(call: Person): Promise<Html> {
  const typed = typedIn(call);
  const found = await findAll(call, typed);
  const main = html`${pageHead({ title: "Search" })}
${filters({
  action: call.href("/search"),
  label: "Search everything",
  filters: [
    {
      kind: "search",
      name: "q",
      label: "Search everything",
      value: typed,
      placeholder: "Sessions, errors, brain, devices, people, docs",
    },
  ],
  live: "#found",
})}
<div id="found" class="stack" data-count="${found.reduce((sum, { hits }) => sum + hits.length, 0)}">${found.map(group)}${found.length === 0 && nothing(typed)}</div>`;
  return frame(call, { title: "Search", main });
}

const group = ({ label, hits, more }: Found): Html =>
  section({
    title: label,
    actions: more !== undefined && anchor(more, "More"),
    body: html`<ul class="found">${hits.map(hit)}</ul>`,
  });

const hit = ({ title, context, href }: Hit): Html =>
  html`<li><a href="${href}"><bdi>${title}</bdi></a>${context && html` <small class="muted"><bdi>${context}</bdi></small>`}</li>`;

function nothing(typed: string): Html {
  if (typed === "") return html``;
  if (typed.length < MIN_CHARS) return html`<p class="says">Type at least ${MIN_CHARS} letters.</p>`;
  return empty({ title: "Nothing found", intro: html`Nothing that you may open holds “${typed}”.` });
}

export const searchPages = [
  page({ id: "search", method: "GET", path: "/search", access: "person", narrows: true }, searchPage),
  page(
    { id: "searchJson", method: "GET", path: "/search.json", access: "person", formless: true, narrows: true },
    async (call) => {
      const query = typedIn(call);
      return {
        media: "application/json",
        body: unturned(JSON.stringify({ query, groups: await findAll(call, query) })),
      };
    },
  ),
];

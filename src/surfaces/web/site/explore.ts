import { html } from "../../../kit/html.ts";
import { explore, type PackEntry } from "../../../share/packs/packs.ts";
import { empty } from "../ui/parts.ts";
import type { Visit } from "./frame.ts";
import { bullets, escapeMarkdown } from "./markdown.ts";
import { packCards, packLine, packTabs, tagPath } from "./pack-cards.ts";
import { publicPage } from "./rendition.ts";

const UNREADABLE = "The packs cannot be read at the moment. Try again later.";
const SUMMARY = "Packs worth a look: chosen by the operators, installed most in two weeks, newest, and by stack.";
const NOTHING: Sections = { degraded: true, featured: [], trending: [], new: [], byStack: {} };
/** What there is to discover, and whether it could not be read. */
type Sections = ReturnType<typeof explore> & { readonly degraded?: true };

/** Cards of a section; the marketplace has the rest. */
const PER_SECTION = 6;
const PER_STACK = 4;

/** The page is there even when the packs cannot be read, as its endpoint is. */
function sections(call: Visit): Sections {
  try {
    return explore(call.core);
  } catch (error) {
    call.core.log.error("explore_failed", { cause: String(error) });
    return NOTHING;
  }
}

/** Those that show a pack which none above them shows. */
function shelves({ featured, trending, new: newest }: Sections) {
  const above = new Set<string>();
  return [
    { title: "Featured", intro: "Chosen by the operators of this installation.", packs: featured },
    { title: "Trending", intro: "Installed by most machines in the last two weeks.", packs: trending },
    { title: "New", intro: "Published last.", packs: newest },
  ]
    .map((one) => ({ ...one, packs: one.packs.slice(0, PER_SECTION) }))
    .filter(({ packs }) => {
      const before = above.size;
      for (const { name } of packs) above.add(name);
      return above.size > before;
    });
}

/** The stacks, where there is more than one pack to tell apart by them. */
function stacksOf({ byStack }: Sections) {
  const stacks = Object.entries(byStack).map(([tag, packs]: [string, readonly PackEntry[]]) => ({
    tag,
    packs: packs.slice(0, PER_STACK),
  }));
  const names = new Set(stacks.flatMap(({ packs }) => packs.map(({ name }) => name)));
  return names.size > 1 ? stacks : [];
}

function stackList(call: Visit, stacks: ReturnType<typeof stacksOf>) {
  return html`<section class="band"><h2>By stack</h2><ul class="stacks">${stacks.map(
    ({ tag, packs }) =>
      html`<li><h3><a href="${call.href(tagPath(tag))}">${tag}</a></h3><ul>${packs.map(
        ({ name, title, rank }) =>
          html`<li><a href="${call.href(`/marketplace/${name}`)}">${title}</a><span class="rank"><span class="vh">Trust </span>${rank}</span></li>`,
      )}</ul></li>`,
  )}</ul></section>`;
}

export const explorePages = publicPage({ id: "explorePage", path: "/explore", maxAge: 60 }, (call) => {
  const found = sections(call);
  const shown = shelves(found);
  const stacks = stacksOf(found);
  return {
    title: "Explore",
    summary: SUMMARY,
    look: "plain",
    degraded: found.degraded === true,
    html: () => html`<div class="lead"><h1>Explore</h1><p class="says">${SUMMARY}</p></div>
${packTabs(call)}
${shown.map(
  ({ title, intro, packs }) =>
    html`<section class="band"><h2>${title}</h2><p class="says">${intro}</p>${packCards(call, packs)}</section>`,
)}
${stacks.length > 0 && stackList(call, stacks)}
${
  shown.length === 0 &&
  empty({
    ...(found.degraded
      ? { title: "Not now", intro: UNREADABLE }
      : { title: "Nothing to explore yet", intro: "As soon as a team publishes a pack, it is found here." }),
    actions: html`<a class="button" href="${call.href("/docs/marketplace")}">How packs work</a>`,
  })
}`,
    markdown: () =>
      [
        "# Explore",
        SUMMARY,
        `As JSON: ${call.baseUrl}/api/explore`,
        ...shown.flatMap(({ title, packs }) => [`## ${title}`, bullets(packs.map((one) => packLine(call, one)))]),
        ...(stacks.length > 0 ? ["## By stack"] : []),
        ...stacks.flatMap(({ tag, packs }) => [
          `### ${escapeMarkdown(tag)}`,
          bullets(packs.map((one) => packLine(call, one))),
        ]),
        ...(shown.length === 0 ? [found.degraded ? UNREADABLE : "Nothing to explore yet."] : []),
      ].join("\n\n"),
  };
});

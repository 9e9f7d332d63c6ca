import {
  deleteView,
  isSameQuery,
  listViews,
  PLACES,
  saveView,
  type ViewPlace,
} from "../../../../identity/saved-views/saved-views.ts";
import { attributes, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import { type Page, page, redirect } from "../../../../platform/http/page.ts";
import { button } from "../../ui/button.ts";
import { actButton, hiddenInputs, takes } from "../../ui/confirm.ts";
import { type Tab, tabs } from "../../ui/parts.ts";
import { by, isAdmin, type Member } from "./call.ts";
import { choice, ID, readParams, text, ticked } from "./params.ts";
import { seesOwn } from "./sight.ts";

/** Saved views of a list: as tabs beside its presets, and a menu to save and delete them. */

/** A list's saved views as tabs; those that ask for what is shown are current. */
export function viewTabs(call: Member, place: ViewPlace): Tab[] {
  const { core, session, query, href } = call;
  // What others called their views, and ask them for, may tell of their sessions.
  if (seesOwn(call)) return [];
  return listViews(core, session.team.id, place, session.userId).map((view) => ({
    label: view.name,
    href: href(view.query === "" ? place : `${place}?${view.query}`),
    current: isSameQuery(view.query, query.toString()),
  }));
}

/** A list's own tabs with its saved views behind them. One that asks for what is shown is current instead of theirs. */
export function viewedTabs(
  call: Member,
  place: ViewPlace,
  { label, own }: { readonly label: string; readonly own: readonly Tab[] },
): Html {
  const saved = viewTabs(call, place);
  const isSaved = saved.some(({ current }) => current);
  return tabs(label, [...own.map((one) => ({ ...one, current: one.current && !isSaved })), ...saved]);
}

/** Saves what is shown under a name, and deletes views. */
export function viewMenu(call: Member, place: ViewPlace): Html | false {
  const { core, session, query, href, csrf } = call;
  if (!takes(call, "/views")) return false;
  const mine = listViews(core, session.team.id, place, session.userId).filter(
    ({ userId, shared }) => userId === session.userId || (shared && isAdmin(call)),
  );
  // The script keeps the query up to date when filters change the page.
  const current = html`<input type="hidden" name="query" data-query${attributes({ value: query.toString() })}>`;
  return html`<details class="folded" data-menu><summary class="button">Views</summary><div class="folded-panel views">
<form method="post"${attributes({ action: href("/views") })}>${hiddenInputs({ _csrf: csrf, place })}${current}<div class="filter"><label for="view-name">Save this view as</label><input id="view-name" name="name" required maxlength="60" autocomplete="off"></div>
<div class="filter check"><input type="checkbox" id="view-shared" name="shared" value="on"><label for="view-shared">Share with the team</label></div>${button("Save view", { look: "primary", small: true })}</form>
${
  mine.length > 0 &&
  html`<ul class="view-list">${mine.map(
    ({ id, name, shared }) =>
      html`<li><span>${name}${shared && html` <span class="muted">shared</span>`}</span>${actButton({ csrf, href }, { action: "/views/delete", label: html`Delete<span class="vh"> ${name}</span>`, hidden: { id }, small: true, look: "quiet" })}</li>`,
  )}</ul>`
}</div></details>`;
}

const VIEW = { place: choice(PLACES), name: text(200), query: text(4_000), shared: ticked };

async function save(call: Member) {
  const { core, session } = call;
  const { place, name, query, shared } = readParams(VIEW, call.form);
  if (!place) fail(notFound, "Views of this page are not saved.");
  const draft = { place, name, query, shared: shared === "on" };
  const view = await saveView(core, session.team.id, session.userId, draft, by(call));
  return redirect(view.query === "" ? place : `${place}?${view.query}`, "The view is saved.");
}

async function remove(call: Member) {
  const { core, session } = call;
  const { id } = readParams(ID, call.form);
  const { place } = await deleteView(core, session.team.id, session.userId, id, isAdmin(call), by(call));
  return redirect(place, "The view is deleted.");
}

export const viewPages: Page[] = [
  page({ id: "saveView", method: "POST", path: "/views", access: "member" }, save),
  page({ id: "deleteView", method: "POST", path: "/views/delete", access: "member" }, remove),
];

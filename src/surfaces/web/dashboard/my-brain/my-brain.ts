import { listReadTokens, type ReadTokenFacts, revokeReadToken } from "../../../../identity/read-tokens/read-tokens.ts";
import { actorOf } from "../../../../identity/web-sessions/web-sessions.ts";
import { listReads, readsToday } from "../../../../insight/ask/ask.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { type PageCall, page, redirect } from "../../../../platform/http/page.ts";
import { badge } from "../../ui/badge.ts";
import { buttonLink } from "../../ui/button.ts";
import { confirmButton } from "../../ui/confirm.ts";
import { empty } from "../../ui/empty.ts";
import { filters } from "../../ui/filters.ts";
import { pageHead } from "../../ui/page-head.ts";
import { pager } from "../../ui/pager.ts";
import { section } from "../../ui/section.ts";
import { type Column, table } from "../../ui/table.ts";
import { ago, time } from "../../ui/time.ts";
import { number, plural } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { scopeWords } from "./labels.ts";
import { readTokenPages } from "./token.ts";

/** A person's read tokens, and what they were used for. */

type Person = PageCall<"person">;

const READS_SHOWN = 25;
const ENDED_SHOWN = 50;

function myBrainPage(call: Person): Html {
  const { core, session, href } = call;
  const now = core.clock.now();
  const tokens = listReadTokens(core, session.userId);
  const live = tokens.filter(({ status }) => status === "active");
  const ended = tokens.filter(({ status }) => status !== "active");
  const main = html`${pageHead({
    title: "My Brain",
    says: "Personal read tokens let tools of yours ask your teams’ brains questions and get cited slices back.",
    actions: buttonLink("New read token", href("/my-brain/tokens/new"), { look: "primary" }),
  })}
${
  session.teams.length === 0 &&
  html`<div class="flash warn">You are in no team, so your tokens read nothing. Ask an owner or admin of a team for an invitation.</div>`
}
${section({
  title: "Read tokens",
  says: `They are yours, whatever team you look at. Each reads ${number(core.config.limitReadDaily)} times a day at most, counted from midnight UTC.`,
  body: table({
    caption: "Read tokens",
    columns: [
      ...TOKEN_COLUMNS,
      { label: "Today", numeric: true },
      { label: "Expires" },
      { label: "Actions", hidden: true },
    ],
    rows: live.map((token) => [
      ...tokenCells(call, token, now),
      usedToday(call, token),
      time(token.expiresAt, now),
      revoke(call, token),
    ]),
    empty: empty({
      title: ended.length === 0 ? "No read token yet" : "No read token that works",
      says: "Make one for an assistant, a chat bot or a script that should know what your teams know.",
      actions: buttonLink("New read token", href("/my-brain/tokens/new")),
    }),
  }),
})}
${ended.length > 0 && endedTokens(call, ended, now)}
${tokens.length > 0 && reads(call, [...live, ...ended.slice(0, ENDED_SHOWN)], now)}`;
  return frame(call, { title: "My Brain", main });
}

const TOKEN_COLUMNS: readonly Column[] = [
  { label: "Name", heading: true },
  { label: "May read", grow: true },
  { label: "Last used" },
];

const tokenCells = ({ session }: Person, { name, scope, lastUsedAt }: ReadTokenFacts, now: number): Content[] => [
  name,
  scopeWords(scope, session.teams),
  ago(lastUsedAt, now, "never"),
];

function usedToday({ core }: Person, { id }: ReadTokenFacts): Content {
  const cap = core.config.limitReadDaily;
  const used = readsToday(core, id);
  return html`${number(used)} of ${number(cap)}${used >= cap && html` ${badge("warn", "used up")}`}`;
}

function revoke({ csrf, href }: Person, { id, name }: ReadTokenFacts): Html {
  return confirmButton({
    action: href("/my-brain/tokens/revoke"),
    csrf,
    hidden: { id },
    label: html`Revoke<span class="vh"> ${name}</span>`,
    question: html`Revoke “${name}”? Whatever uses it is refused from now on. This cannot be undone.`,
    confirm: "Revoke token",
    small: true,
  });
}

function endedTokens(call: Person, ended: readonly ReadTokenFacts[], now: number): Html {
  const shown = ended.slice(0, ENDED_SHOWN);
  return html`<details><summary>${plural(ended.length, "token that no longer works", "tokens that no longer work")}</summary>
<div class="stack">${table({
    caption: "Read tokens that no longer work",
    columns: [...TOKEN_COLUMNS, { label: "Ended" }],
    rows: shown.map((token) => [
      ...tokenCells(call, token, now),
      token.status === "revoked"
        ? html`${badge("neutral", "revoked")} ${time(token.revokedAt, now)}`
        : html`${badge("neutral", "expired")} ${time(token.expiresAt, now)}`,
    ]),
    empty: "",
  })}${shown.length < ended.length && html`<p class="says">The newest ${shown.length} are shown.</p>`}</div></details>`;
}

function reads(call: Person, tokens: readonly ReadTokenFacts[], now: number): Html {
  const { core, session, query, href } = call;
  const chosen = tokens.find(({ id }) => id === query.get("token"));
  const before = query.get("before") ?? "";
  const beforeId = /^[1-9]\d{0,14}$/.test(before) ? Number(before) : undefined;
  const page = listReads(core, session.userId, { tokenId: chosen?.id, beforeId, limit: READS_SHOWN });
  const at = (id?: number) => {
    const search = new URLSearchParams({ ...(chosen && { token: chosen.id }), ...(id && { before: String(id) }) });
    return `${href("/my-brain")}${search.size > 0 ? `?${search}` : ""}#reads`;
  };
  return section({
    id: "reads",
    title: "What was read",
    says: "Every read is written down before it is answered. Secrets in a question are taken out first.",
    body: html`${filters({
      action: href("/my-brain"),
      label: "Filter reads",
      filters: [
        {
          kind: "select",
          name: "token",
          label: "Token",
          value: chosen?.id ?? "",
          options: [
            { value: "", label: "All tokens" },
            ...tokens.map(({ id, name, status }) => ({
              value: id,
              label: status === "active" ? name : `${name} (${status})`,
            })),
          ],
        },
      ],
    })}
${table({
  caption: "Reads",
  columns: [
    { label: "When", heading: true },
    { label: "Asked", grow: true },
    { label: "Slices", numeric: true },
    { label: "Token" },
    { label: "From" },
  ],
  rows: page.rows.map(({ at, question, total, shown, tokenName, ip }) => [
    time(at, now),
    question,
    total === 0 ? "none" : `${number(shown)} of ${number(total)}`,
    tokenName,
    ip,
  ]),
  empty: empty({
    title: beforeId === undefined ? "Nothing was read yet" : "Nothing older",
    says: "Every question that a token of yours asks will stand here: when, what, how much it got, and from where.",
  }),
})}${pager({
  first: beforeId === undefined ? undefined : at(),
  older: page.older === undefined ? undefined : at(page.older),
})}`,
  });
}

export const myBrainPages = [
  page({ id: "myBrain", method: "GET", path: "/my-brain", access: "person" }, (call) => myBrainPage(call)),
  ...readTokenPages,
  page({ id: "revokeReadToken", method: "POST", path: "/my-brain/tokens/revoke", access: "person" }, async (call) => {
    const { core, session, form } = call;
    const revoked = await revokeReadToken(core, session.userId, form.get("id") ?? "", actorOf(session, call.ip()));
    return redirect("/my-brain", revoked ? "The token is revoked." : "The token was revoked before.");
  }),
];

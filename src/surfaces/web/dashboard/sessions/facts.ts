import { tokensOfCalls } from "../../../../formats/calls.ts";
import { findDeviceOf } from "../../../../identity/devices/devices.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { findSessionId, type Session } from "../../../../record/traces/traces.ts";
import { anchor, badge, facts, type Stat } from "../../ui/parts.ts";
import { compact, duration, isInstant, number, plural, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { deviceLink, repoName, sessionsOf } from "../shared/links.ts";
import { personName } from "../shared/people.ts";
import { shaText, short } from "../shared/text.ts";
import { dollars } from "../spend/labels.ts";
import type { Usage } from "./turns.ts";

/** The figures of a session. @param files how many it touched */
export function figures(session: Session, files: number, used: Usage): Stat[] {
  const { startedAt, endedAt, prompts, commits, spanCount } = session;
  const known = isInstant(startedAt) && isInstant(endedAt) && endedAt >= startedAt;
  const tokens = tokensIn(session, used);
  const all = tokens && Object.values(tokens).reduce((sum: number, one) => sum + (one ?? 0), 0);
  return [
    { label: "Duration", value: known ? duration(endedAt - startedAt) : "–" },
    { label: "Prompts", value: number(prompts.length), href: prompts.length > 0 ? "#conversation" : undefined },
    { label: "Steps", value: number(spanCount), href: "#steps" },
    {
      label: "Files touched",
      value: number(files),
      href: files > 0 ? "#files" : undefined,
      sub: commits.length > 0 && plural(commits.length, "commit"),
    },
    { label: "Tokens", value: all === undefined ? "–" : compact(all) },
    costStat(session, used),
  ];
}

/** At the prices of its days; where none is known, as the agent says. */
function costStat({ costUsd }: Session, { usd, unpriced, reportedUsd }: Usage): Stat {
  const reported = costUsd ?? reportedUsd;
  if (usd !== null)
    return { label: "Cost", value: dollars(usd), sub: unpriced > 0 && `without ${plural(unpriced, "unpriced call")}` };
  return reported === null
    ? { label: "Cost", value: "–", sub: unpriced > 0 && "no price is known" }
    : { label: "Cost", value: dollars(reported), sub: "as the agent says" };
}

/** What is known of a session as a whole; what nobody said is left out. */
export function factList(call: Member, session: Session, used: Usage): Html {
  const now = call.core.clock.now();
  const { deliveries } = session;
  const person = findDeviceOf(call.core, call.session.team.id, session.deviceId)?.person;
  const redacted = deliveries.reduce((sum, one) => sum + one.redacted, 0);
  return facts([
    { label: "Session", value: html`<span class="copied" data-copy><code>${session.externalId}</code></span>` },
    { label: "Title", value: session.title && short(session.title, 240) },
    { label: "Began in", value: session.parentId !== null && parentLink(call, session, session.parentId) },
    { label: "Agent", value: session.agentVersion && `${session.agent ?? ""} ${session.agentVersion}`.trim() },
    { label: "Device", value: deviceLink(call, session) },
    {
      label: "Person",
      value: person && short(`${personName(person)}${person.name === null ? "" : `, ${person.email}`}`, 200),
    },
    {
      label: "Repository",
      value: anchor(sessionsOf(call, session.repoKey), repoName(session.repoKey)),
    },
    { label: "Branch", value: session.branch && html`<code>${session.branch}</code>` },
    { label: "Started", value: time(session.startedAt, now, "not said") },
    { label: "Ended", value: time(session.endedAt, now, "not said") },
    { label: "Commits", value: commitList(session) },
    { label: "Tokens", value: tokenText(session, used) },
    { label: "First received", value: time(session.createdAt, now) },
    {
      label: "Last received",
      value: html`${time(session.updatedAt, now)}${deliveries.length > 1 && html` <span class="muted">its latest state came in ${plural(deliveries.length, "delivery", "deliveries")}</span>`}`,
    },
    {
      label: "Redacted",
      value:
        redacted > 0 &&
        html`${badge("warn", plural(redacted, "place"))} <span class="muted">in the deliveries that hold it, before they were stored</span>`,
    },
  ]);
}

/** The session that this one was forked from, or whose sub-agent it is; it need not have arrived. */
function parentLink({ core, session: { team }, href }: Member, { deviceId }: Session, parentId: string): Html {
  const name = html`<code>${parentId}</code>`;
  const id = findSessionId(core, team.id, deviceId, parentId);
  if (id === undefined) return html`${name} <span class="muted">which is not here</span>`;
  return html`${anchor(href(`/sessions/${id}`), name)} <span class="muted">as a fork or a sub-agent of it</span>`;
}

const MAX_COMMITS = 20;

function commitList({ commits }: Session): Content {
  if (commits.length === 0) return false;
  const shown = commits
    .slice(0, MAX_COMMITS)
    .map(({ sha }) => html`<code title="${short(sha, 64)}">${shaText(sha)}</code> `);
  return html`${shown}${commits.length > MAX_COMMITS && `and ${number(commits.length - MAX_COMMITS)} more`}`;
}

/** What its model calls used; the session's own account counts only where they tell of nothing. */
const tokensIn = ({ usage }: Session, used: Usage) => used.tokens ?? (usage ? tokensOfCalls([{ usage }]) : undefined);

/** Tokens by kind; nothing that nobody told of. */
function tokenText(session: Session, used: Usage): Content {
  const tokens = tokensIn(session, used);
  if (!tokens) return false;
  const parts = (
    [
      ["input", tokens.input],
      ["output", tokens.output],
      ["cache write", tokens.cacheWrite],
      ["cache read", tokens.cacheRead],
    ] as const
  ).filter(([, count]) => count !== null);
  const read = session.spans.filter(({ document }) => document !== null).length;
  return html`${parts.map(([name, count]) => `${number(count as number)} ${name}`).join(" · ")}${session.spanCount > read && html` <span class="muted">in the first ${number(read)} steps</span>`}`;
}

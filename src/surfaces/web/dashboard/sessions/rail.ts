import { tokensOfCalls } from "../../../../formats/calls.ts";
import { findDeviceOf, withDeviceLabels } from "../../../../identity/devices/devices.ts";
import { peopleBySource } from "../../../../identity/ownership/ownership.ts";
import { viewsOfSession } from "../../../../insight/session-views/session-views.ts";
import { DAY_MS, isoDate } from "../../../../kit/clock.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { findSessionId, runningSessions, type Session, sessionTwins } from "../../../../record/traces/traces.ts";
import { anchor, badge, type Fact, facts, helpMark } from "../../ui/parts.ts";
import { compact, duration, isInstant, number, plural, time } from "../../ui/units.ts";
import { isAdmin } from "../shared/call.ts";
import { deviceLink, deviceName, link, repoName, sessionsOf } from "../shared/links.ts";
import { personName, personParam } from "../shared/people.ts";
import { seesDevice } from "../shared/sight.ts";
import { shaText, short } from "../shared/text.ts";
import { dollars } from "../spend/labels.ts";
import type { Places } from "./conversation.ts";
import { outcomeBadge } from "./labels.ts";
import { downloads } from "./record.ts";
import { filesOf } from "./touched.ts";
import type { Usage } from "./turns.ts";
import { addressOf, type Visit } from "./visit.ts";

/** What is known of a session as a whole, beside its transcript. What nobody said is left out. */

interface Railed {
  readonly used: Usage;
  readonly places: Places;
  /** What it caused and where the brain names it; each a part under its own heading, or nothing. */
  readonly related: readonly Content[];
}

export function rail(visit: Visit, { used, places, related }: Railed): Html {
  const { call, session } = visit;
  return html`<section class="rail" aria-label="Facts">${facts([...figures(visit, used, places), ...who(visit), ...what(visit)])}
${related}
${labelList(session)}
${viewList(visit)}
<div class="rail-part"><div class="titled"><h2>Prove this</h2>${helpMark(html`The proof shows that the log committed to this session as it is stored. Check it on any machine, offline: <code>reckon ledger check session-${session.id}.tlog-proof --key KEY</code>; the key is at <a href="${call.href("/ledger/key")}">/ledger/key</a>.`)}</div><div class="actions">${downloads(visit)}</div></div></section>`;
}

/** A part of the rail; its list is bounded, the rest behind a click. */
export function railList(title: Content, help: Content, items: readonly Html[]): Content {
  if (items.length === 0) return false;
  const [first, rest] = [items.slice(0, SHOWN), items.slice(SHOWN)];
  return html`<div class="rail-part"><div class="titled"><h2>${title}</h2>${help && helpMark(help)}</div><ul>${first}</ul>${rest.length > 0 && html`<details class="numbers"><summary>${number(rest.length)} more</summary><ul>${rest}</ul></details>`}</div>`;
}

const SHOWN = 4;

function figures(visit: Visit, used: Usage, { failures }: Places): Fact[] {
  const { call, session } = visit;
  const { startedAt, endedAt, spanCount, outcome } = session;
  const now = call.core.clock.now();
  const running = runningSessions.runs(call.core, session);
  const until = endedAt ?? (running ? now : null);
  const lasted = isInstant(startedAt) && isInstant(until) && until >= startedAt;
  const steps = plural(spanCount, "step");
  return [
    { label: "Outcome", value: outcomeBadge(outcome, running) },
    { label: "Duration", value: lasted && `${duration(until - startedAt)}${running ? " so far" : ""}` },
    { label: "Cost", value: costText(session, used) },
    { label: "Tokens", value: tokenText(session, used) },
    {
      label: "Steps",
      value: html`${anchor(addressOf(visit, "/waterfall"), steps)}${failures.length > 0 && html` <span class="failed-count">${number(failures.length)} failed</span>`}`,
    },
  ];
}

/** At the prices of its days; where none is known, as the agent says. */
function costText({ costUsd }: Session, { usd, unpriced, reportedUsd }: Usage): Content {
  const reported = costUsd ?? reportedUsd;
  const note = (text: string) => html` <span class="muted">${text}</span>`;
  if (usd !== null) return html`${dollars(usd)}${unpriced > 0 && note(`+ ${plural(unpriced, "unpriced call")}`)}`;
  if (reported !== null) return html`${dollars(reported)}${note("reported by the agent")}`;
  return unpriced > 0 && html`<span class="muted">unpriced</span>`;
}

/** The tokens of a session: the sum of its model calls, or what the session itself reports where no call reports any. */
const tokensIn = ({ usage }: Session, used: Usage) => used.tokens ?? (usage ? tokensOfCalls([{ usage }]) : undefined);

/** All tokens, by kind when pointed at, and the share of what went in that was read from a cache. */
function tokenText(session: Session, used: Usage): Content {
  const tokens = tokensIn(session, used);
  if (!tokens) return false;
  const { input, output, cacheWrite, cacheRead } = tokens;
  const all = [input, output, cacheWrite, cacheRead].reduce((sum: number, count) => sum + (count ?? 0), 0);
  const context = (input ?? 0) + (cacheWrite ?? 0) + (cacheRead ?? 0);
  const kinds = [
    ["input", input],
    ["output", output],
    ["cache write", cacheWrite],
    ["cache read", cacheRead],
  ] as const;
  const parts = kinds.flatMap(([name, count]) => (count === null ? [] : [`${compact(count)} ${name}`]));
  const share = cacheRead !== null && context > 0 && `, ${Math.round((100 * cacheRead) / context)}% cached`;
  const read = session.spans.filter(({ document }) => document !== null).length;
  return html`${compact(all)}${share}<br><small class="muted">${parts.join(" · ")}${session.spanCount > read && `, first ${number(read)} steps`}</small>`;
}

function who(visit: Visit): Fact[] {
  const { call, session } = visit;
  const { agent, agentVersion, model, repoKey, branch, deviceId, userEmail } = session;
  const device = findDeviceOf(call.core, call.session.team.id, deviceId);
  const person = peopleBySource(call.core, call.session.team.id, device ? [device] : [])(userEmail ?? deviceId);
  return [
    {
      label: "Person",
      value:
        person &&
        html`<a href="${link(call, "/sessions", { person: personParam(person) })}" title="${person.email}">${short(personName(person), 120)}</a>`,
    },
    { label: "Device", value: deviceLink(call, session) },
    { label: "Exported", value: twinLinks(visit) },
    { label: "Also told by", value: othersWhole(visit) },
    { label: "Repository", value: anchor(sessionsOf(call, repoKey), short(repoName(repoKey), 200)) },
    { label: "Branch", value: branch && html`<code>${short(branch, 200)}</code>` },
    { label: "Agent", value: agent !== null && agent !== "" && short(`${agent} ${agentVersion ?? ""}`.trim(), 120) },
    { label: "Model", value: model && short(model, 120) },
  ];
}

/** Links between the two tellings of a session: as it was exported over OTLP with another device's token, and as the capture client sent it. */
function twinLinks({ call, session }: Visit): Content {
  const { id, deviceId, externalId } = session;
  const whole = sessionTwins.wholeOf(call.core, deviceId, externalId);
  const [exported] = sessionTwins.exportedOf(call.core, id);
  const twin = whole ?? exported;
  if (!twin || !seesDevice(call, twin.deviceId)) return false;
  const at = call.href(`/sessions/${twin.id}`);
  return whole
    ? html`counted as ${anchor(at, "the session that the capture client tells of")}`
    : anchor(at, "the same, over OpenTelemetry");
}

/** The same session as other devices sent it as a whole; theirs are listed as well. */
function othersWhole({ call, session }: Visit): Content {
  const others = sessionTwins.othersWhole(call.core, session.id).filter(({ deviceId }) => seesDevice(call, deviceId));
  return (
    others.length > 0 &&
    withDeviceLabels(call.core, others).map(
      (other, i) => html`${i > 0 && ", "}${anchor(call.href(`/sessions/${other.id}`), deviceName(other))}`,
    )
  );
}

function what(visit: Visit): Fact[] {
  const { call, session } = visit;
  const now = call.core.clock.now();
  const files = filesOf(session).size;
  const { startedAt, parentId } = session;
  return [
    { label: "Started", value: isInstant(startedAt) && time(startedAt, now) },
    { label: "Forked from", value: parentId !== null && parentLink(visit, parentId) },
    { label: "Files", value: files > 0 && anchor(addressOf(visit, "/files"), plural(files, "file")) },
    { label: "Commits", value: commitList(session) },
    { label: "Telemetry", value: anchor(telemetryOf(visit), "Entries") },
  ];
}

/** The telemetry that names the session. None came before the session, unless a clock is wrong. */
function telemetryOf({ call, session }: Visit): string {
  const { deviceId, externalId, startedAt } = session;
  const from = isInstant(startedAt) ? isoDate(startedAt - DAY_MS) : undefined;
  return link(call, "/telemetry", { device: deviceId, session: externalId, from });
}

/** The session that this one was forked from, or whose sub-agent it is; it need not have arrived. */
function parentLink({ call, session }: Visit, parentId: string): Html {
  const name = html`<code>${short(parentId, 80)}</code>`;
  const id = findSessionId(call.core, call.session.team.id, session.deviceId, parentId);
  return id === undefined
    ? html`${name} <span class="muted">(not received)</span>`
    : anchor(call.href(`/sessions/${id}`), name);
}

const MAX_COMMITS = 12;

function commitList({ commits }: Session): Content {
  if (commits.length === 0) return false;
  const shown = commits
    .slice(0, MAX_COMMITS)
    .map(({ sha }) => html`<code title="${short(sha, 64)}">${shaText(sha)}</code> `);
  return html`${shown}${commits.length > MAX_COMMITS && `and ${number(commits.length - MAX_COMMITS)} more`}`;
}

/** Who opened the session, for its owner and for those who manage the team. */
function viewList({ call, session }: Visit): Content {
  const person = findDeviceOf(call.core, call.session.team.id, session.deviceId)?.personId;
  if (!isAdmin(call) && person !== call.session.userId) return false;
  const now = call.core.clock.now();
  const items = viewsOfSession(call.core, session.id).map(
    ({ viewer, at }) => html`<li>${short(viewer, 120)} <small class="muted">${time(at, now)}</small></li>\n`,
  );
  return railList("Opened by", "Who of the team opened the pages of this session, once a day (UTC).", items);
}

const MAX_LABELS = 40;

function labelList({ labels, labelCount }: Session): Content {
  const items = labels.slice(0, MAX_LABELS).map(({ name, value, comment }) => {
    const says = `${short(name ?? "unnamed", 80)}${value === null ? "" : `: ${short(String(value), 80)}`}`;
    return html`<li>${badge("neutral", says)}${comment && html` <small class="muted">${short(comment, 200)}</small>`}</li>\n`;
  });
  if (labelCount > items.length)
    items.push(html`<li class="muted">${number(labelCount - items.length)} not shown</li>`);
  return railList("Labels", "Marks that people and tools gave this session or a step of it.", items);
}

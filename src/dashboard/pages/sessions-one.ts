import { findMentions } from "../../brain/brain.ts";
import { download, type PageReply } from "../../http/page.ts";
import { Complaint } from "../../kit/complaint.ts";
import { type Content, type Html, html } from "../../kit/html.ts";
import { getSession, promptTitle, type Session, type Span, tokensOf } from "../../traces/traces.ts";
import { frame } from "../frame.ts";
import { badge } from "../parts/badge.ts";
import { buttonLink } from "../parts/button.ts";
import { codeBlock } from "../parts/code.ts";
import { facts } from "../parts/facts.ts";
import { pageHead } from "../parts/page-head.ts";
import { section } from "../parts/section.ts";
import { type Stat, stats } from "../parts/stat.ts";
import { table } from "../parts/table.ts";
import { isInstant, time } from "../parts/time.ts";
import { bytes, compact, duration, number, plural } from "../parts/units.ts";
import { type Span as Drawn, waterfall } from "../parts/waterfall.ts";
import { deviceLink, type Member, repoName, sessionsOf } from "./brain-links.ts";
import { mentionsSection } from "./sessions-brain.ts";
import { timelineSection } from "./sessions-timeline.ts";
import { indentJson, outcomeBadge, shaText, short } from "./sessions-words.ts";

/** One session, whole. */

function sessionOf(call: Member): Session {
  const text = call.params.id ?? "";
  const found = /^[1-9]\d{0,14}$/.test(text) ? getSession(call.core, call.session.team.id, Number(text)) : undefined;
  if (!found) throw new Complaint("This team has no such session.", 404);
  return found;
}

export async function sessionPage(call: Member): Promise<Html> {
  const session = sessionOf(call);
  const files = filesOf(session);
  const mentions = await findMentions(call.core, call.session.team.id, {
    repoKey: session.repoKey,
    commits: session.commits.map(({ sha }) => sha),
    files: [...files.keys()],
  });
  const title = promptTitle(session.prompts[0]) ?? `Session ${session.externalId}`;
  const main = html`${pageHead({
    title,
    says: html`${outcomeBadge(session.outcome)} ${session.agent ?? "An agent that is not named"}${session.model && html` with ${session.model}`} in ${repoName(session.repoKey)}`,
    crumbs: [{ label: "Sessions", href: call.href("/sessions") }, { label: short(session.externalId, 60) }],
    actions: buttonLink("Download record", call.href(`/sessions/${session.id}/record`), { small: true }),
  })}
${stats(figures(session, files.size))}
${section({ title: "Facts", framed: true, body: factList(call, session) })}
${timelineSection(call, session)}
${mentionsSection(call, session, mentions)}
${filesSection(call, session, files)}
${labelsSection(session)}
${section({
  id: "steps",
  title: "Steps",
  says:
    session.spanCount > 0 && "Model calls, tools and edits as the agent traced them, below the step that began them.",
  body: waterfall(session.spans.map(drawn), call.core.clock.now(), session.spanCount),
})}
${recordSection(session)}`;
  return frame(call, { title: short(title, 80), main });
}

function figures(session: Session, files: number): Stat[] {
  const { startedAt, endedAt, prompts, commits, spanCount } = session;
  const known = isInstant(startedAt) && isInstant(endedAt) && endedAt >= startedAt;
  const tokens = tokensOf(session);
  const all = tokens && Object.values(tokens).reduce((sum: number, one) => sum + (one ?? 0), 0);
  return [
    { label: "Duration", value: known ? duration(endedAt - startedAt) : "–" },
    { label: "Prompts", value: number(prompts.length), href: prompts.length > 0 ? "#timeline" : undefined },
    { label: "Steps", value: number(spanCount), href: "#steps" },
    {
      label: "Files touched",
      value: number(files),
      href: files > 0 ? "#files" : undefined,
      sub: commits.length > 0 && plural(commits.length, "commit"),
    },
    { label: "Tokens", value: all === undefined ? "–" : compact(all) },
  ];
}

function factList(call: Member, session: Session): Html {
  const now = call.core.clock.now();
  const { deliveries } = session;
  const redacted = deliveries.reduce((sum, one) => sum + one.redacted, 0);
  return facts([
    { label: "Session", value: html`<code>${session.externalId}</code>` },
    { label: "Device", value: deviceLink(call, session) },
    {
      label: "Repository",
      value: html`<a href="${sessionsOf(call, session.repoKey)}">${repoName(session.repoKey)}</a>`,
    },
    { label: "Branch", value: session.branch && html`<code>${session.branch}</code>` },
    { label: "Started", value: time(session.startedAt, now, "not said") },
    { label: "Ended", value: time(session.endedAt, now, "not said") },
    { label: "Commits", value: commitList(session) },
    { label: "Tokens", value: tokenText(session) },
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

const MOST_COMMITS = 20;

function commitList({ commits }: Session): Content {
  if (commits.length === 0) return false;
  const shown = commits
    .slice(0, MOST_COMMITS)
    .map(({ sha }) => html`<code title="${short(sha, 64)}">${shaText(sha)}</code> `);
  return html`${shown}${commits.length > MOST_COMMITS && `and ${number(commits.length - MOST_COMMITS)} more`}`;
}

/** Tokens by kind; nothing that nobody told of. */
function tokenText(session: Session): Content {
  const tokens = tokensOf(session);
  if (!tokens) return false;
  const parts = (
    [
      ["input", tokens.input],
      ["output", tokens.output],
      ["cache write", tokens.cacheWrite],
      ["cache read", tokens.cacheRead],
    ] as const
  ).filter(([, count]) => count !== null);
  const cut = session.spanCount > session.spans.length;
  return html`${parts.map(([name, count]) => `${number(count as number)} ${name}`).join(" · ")}${cut && html` <span class="muted">in the first ${number(session.spans.length)} steps</span>`}`;
}

function drawn(span: Span): Drawn {
  const { externalId, name, usage, edits, attributes } = span;
  const tool = attributes["gen_ai.tool.name"];
  const said = [
    usage && tokenNote(usage.outputTokens),
    edits.length > 0 && plural(edits.length, "edit"),
    typeof attributes["error.type"] === "string" && short(attributes["error.type"], 40),
  ].filter((one) => typeof one === "string");
  return {
    ...span,
    id: externalId,
    name: short(name ?? (typeof tool === "string" ? tool : ""), 120),
    kind: span.kind === null ? null : short(span.kind, 24),
    note: said.join(" · "),
  };
}

const tokenNote = (output: number | null) => output !== null && `${compact(output)} tokens out`;

interface Touched {
  edits: number;
  listed: boolean;
}

/** Files that the session lists or its steps edited, in the order of their paths. */
function filesOf({ files, spans }: Session): ReadonlyMap<string, Touched> {
  const all = new Map<string, Touched>(files.map((path) => [path, { edits: 0, listed: true }]));
  for (const { edits } of spans)
    for (const { path } of edits) {
      const held = all.get(path) ?? { edits: 0, listed: false };
      held.edits++;
      all.set(path, held);
    }
  return new Map([...all].sort(([a], [b]) => (a < b ? -1 : 1)));
}

const MOST_FILES = 200;

function filesSection(call: Member, session: Session, files: ReadonlyMap<string, Touched>): Content {
  if (files.size === 0) return false;
  const rows = [...files]
    .slice(0, MOST_FILES)
    .map(([path, { edits }]): Content[] => [
      html`<code>${short(path, 512)}</code>`,
      edits > 0 ? edits : "–",
      html`<a href="${sessionsOf(call, session.repoKey, short(path, 256))}">Sessions naming it</a>`,
    ]);
  return section({
    id: "files",
    title: "Files touched",
    body: html`${table({
      caption: "Files touched",
      columns: [
        { label: "File", heading: true, grow: true },
        { label: "Edits traced", numeric: true },
        { label: "More", hidden: true },
      ],
      rows,
      empty: "",
    })}${files.size > rows.length && html`<p class="says">${number(files.size - rows.length)} more files stand in the record.</p>`}`,
  });
}

function labelsSection({ labels, labelCount }: Session): Content {
  if (labelCount === 0) return false;
  return section({
    id: "labels",
    title: "Labels",
    says: "Marks that people and tools gave this session or a step of it.",
    body: html`${table({
      caption: "Labels",
      columns: [
        { label: "Name", heading: true },
        { label: "Value" },
        { label: "Comment", grow: true },
        { label: "Step" },
      ],
      rows: labels.map(({ name, value, comment, spanId }): Content[] => [
        short(name ?? "unnamed", 120),
        value === null ? "–" : short(String(value), 240),
        comment && short(comment, 2_000),
        spanId === null
          ? html`<span class="muted">the whole session</span>`
          : html`<a href="#span-${spanId}">${short(spanId, 40)}</a>`,
      ]),
      empty: "",
    })}${labelCount > labels.length && html`<p class="says">${number(labelCount - labels.length)} more labels are not shown.</p>`}`,
  });
}

const MOST_RECORD_SHOWN = 128 * 1024;

function recordSection({ document, deliveries }: Session): Html {
  const whole = document.length <= MOST_RECORD_SHOWN;
  return section({
    id: "record",
    title: "Record",
    says: `The session as the agent sent it, without its steps, ${bytes(Buffer.byteLength(document))}. ${deliveries.some(({ redacted }) => redacted > 0) ? "Secrets were replaced before it was stored." : ""}`,
    // What is cut is no JSON any more, and is shown as it is.
    body: html`<details><summary>Show the record</summary>
${codeBlock(whole ? indentJson(document) : document.slice(0, MOST_RECORD_SHOWN), { label: "Record of the session", wrap: true, tall: true })}
${!whole && html`<p class="says">Only the beginning is shown. Download the record to read it all.</p>`}</details>`,
  });
}

/** The session, its steps and labels as they were sent, spliced from the stored text. */
export function sessionRecord(call: Member): PageReply {
  const session = sessionOf(call);
  const documents = session.spans.map(({ document }) => document).filter((document) => document !== null);
  const parts = [
    `{"session":${session.document}`,
    `,"spanCount":${session.spanCount},"spans":[${documents.join(",\n")}]`,
    `,"labels":[${session.labels.map(({ document }) => document).join(",\n")}]}\n`,
  ];
  return download(`session-${session.id}.json`, "application/json; charset=utf-8", parts);
}

import { type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, forbidden } from "../../../../kit/problem.ts";
import { type FlagRow, recentFlags } from "../../../../log/log.ts";
import { page } from "../../../../platform/http/page.ts";
import {
  checkpoint,
  currentEpoch,
  lastCheckpoint,
  ledgerKeys,
} from "../../../../platform/transparency/transparency.ts";
import { listStreams, MAX_STREAMS, type Stream, streamFlaws } from "../../../../record/telemetry/telemetry.ts";
import { RETENTION_KINDS, type RetentionKind, retentionOf } from "../../../../share/erasure/erasure.ts";
import { buttonLink } from "../../ui/button.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, codeBlock, columns, empty, facts, pageHead, section } from "../../ui/parts.ts";
import { ago, number, plural, time } from "../../ui/units.ts";
import { frame } from "../frame.ts";
import { isAdmin, type Member } from "../shared/call.ts";
import { deviceLink, repoShort } from "../shared/links.ts";
import { proofPage } from "../shared/proof.ts";
import { streamTable } from "../telemetry/streams.ts";
import { flagPath } from "../telemetry/watch.ts";
import { archiveLine, erasureSection, erasuresIn, holdSection } from "./erasures.ts";
import { howToVerify } from "./verify.ts";

/** Whether the record is complete, and what shows it to somebody who does not believe this server. */

const FLAGS = 200;

const KINDS: Readonly<Record<RetentionKind, string>> = {
  telemetry: "Telemetry",
  traces: "Sessions",
  brain: "Brain",
  reads: "Reads",
  audit: "Audit",
  "web-sessions": "Sign-ins",
};

/** What is missing of the team's record, or was sent twice with other content. */
interface Flaws {
  readonly streams: readonly Stream[];
  /** Of brains, whose numbers nothing fills up later. */
  readonly flags: readonly FlagRow[];
  readonly gaps: number;
  readonly rollbacks: number;
  /** Entries that never arrived. */
  readonly missing: number;
  /** How many of the gaps that the newest flags tell of were filled later. */
  readonly healed: number;
}

function flawsOf({ core, session }: Member): Flaws {
  const team = session.team.id;
  const { gaps, missing, rollbacks } = streamFlaws(core, team);
  const ofTelemetry = recentFlags(core, team, FLAGS, true);
  const flags = recentFlags(core, team, FLAGS, false);
  const flagged = (flag: string) => flags.filter(({ flagged }) => flagged === flag).length;
  return {
    streams: listStreams(core, team, { flawed: true }),
    flags,
    gaps: gaps + flagged("gap"),
    rollbacks: rollbacks + flagged("rollback"),
    missing,
    healed: Math.max(0, ofTelemetry.filter(({ flagged }) => flagged === "gap").length - gaps),
  };
}

/** The answer in one sentence. */
function verdict({ core }: Member, { gaps, rollbacks, missing, healed }: Flaws, size: number | undefined): Html {
  if (size === undefined)
    return html`<p class="verdict">${badge("bad", "Unsigned")} The log cannot be signed: see the server's log.</p>`;
  const signed = html`${plural(size, "leaf", "leaves")}, signed ${ago(lastCheckpoint(core).at, core.clock.now(), "now")}`;
  if (gaps + rollbacks === 0)
    return html`<p class="verdict">${badge("good", "Complete")} The record is complete: ${signed}, no gap and no rollback${healed > 0 && `; ${filled(healed)}`}.</p>`;
  const open = [gaps > 0 && plural(gaps, "gap"), rollbacks > 0 && plural(rollbacks, "rollback")].filter(Boolean);
  const lost = missing > 0 && `, ${plural(missing, "entry", "entries")} missing`;
  return html`<p class="verdict">${badge("warn", "Not complete")} <a href="#open">${open.join(" and ")} ${gaps + rollbacks === 1 ? "is" : "are"} open</a>${lost}${healed > 0 && `; ${filled(healed)}`}. The log is whole: ${signed}.</p>`;
}

const filled = (gaps: number) => `${plural(gaps, "gap was", "gaps were")} filled later`;

/** The newest checkpoint; undefined where the tree that is held cannot be signed. */
function signedHead({ core }: Member) {
  try {
    return checkpoint(core);
  } catch (error) {
    core.log.warn("checkpoint_not_signed", { cause: String(error) });
    return undefined;
  }
}

async function evidencePage(call: Member): Promise<Html> {
  const { core, session } = call;
  const flaws = flawsOf(call);
  const head = signedHead(call);
  const key = ledgerKeys.vkey(core);
  const sees = isAdmin(call) || session.operator;
  const main = html`${pageHead({
    title: "Evidence",
    actions:
      head &&
      html`<a class="button small" href="${call.href("/ledger/checkpoint")}" download="checkpoint.txt">Download checkpoint</a>`,
  })}
${verdict(call, flaws, head?.size)}
${columns(logSection(call, head), retentionSection(call))}
${openSection(call, flaws)}
${sees && (await erasureSection(call, erasuresIn(call)))}
${sees && holdSection(call)}
${howToVerify(call, key)}
${exportSection(call)}`;
  return frame(call, { title: "Evidence", main, wide: true });
}

function logSection({ core }: Member, head: ReturnType<typeof checkpoint>): Html {
  const now = core.clock.now();
  const epoch = currentEpoch(core);
  const key = ledgerKeys.vkey(core);
  const root = head?.root.toString("hex") ?? "";
  return section({
    title: "Log",
    body: html`<div class="card">${facts([
      { label: "Leaves", value: head && number(head.size) },
      { label: "Root", value: root && html`<code title="${root}">${root.slice(0, 16)}…</code>` },
      { label: "Last checkpoint", value: time(lastCheckpoint(core).at, now) },
      { label: "Name", value: epoch && html`<code>${epoch.name}</code>` },
      { label: "Epoch", value: epoch && number(epoch.epoch) },
      { label: "Verified", value: html`<a href="#verify">by command</a>` },
      { label: "Witnesses", value: html`<a href="#verify">keep their own cosignatures</a>` },
    ])}</div>${key && codeBlock(key, { label: "Public key", titled: true, wrap: true })}`,
  });
}

function retentionSection(call: Member): Html {
  const { core, session, href } = call;
  const keeps = retentionOf(core, session.team.id);
  return section({
    title: "Retention",
    framed: true,
    actions: isAdmin(call) && buttonLink("Change", href("/retention"), { small: true }),
    body: facts(
      RETENTION_KINDS.map((kind) => {
        const days = keeps[kind];
        return { label: KINDS[kind], value: days === null ? "for ever" : plural(days, "day") };
      }),
    ),
  });
}

/** What is missing and what contradicts itself, each leading to where it shows. */
function openSection(call: Member, flaws: Flaws): Html {
  const none = empty({ title: "Nothing is open", intro: "Every number of every stream arrived, each once." });
  const now = call.core.clock.now();
  const brains: Content =
    flaws.flags.length > 0 &&
    table({
      caption: "Versions out of order",
      columns: [
        {
          label: "Repository",
          heading: true,
          cell: (flag) => anchor(call.href(flagPath(flag)), repoShort(flag.repoKey)),
        },
        { label: "Device", cell: (flag) => deviceLink(call, flag) },
        {
          label: "What",
          cell: ({ flagged }) => (flagged === "gap" ? badge("warn", "Gap") : badge("bad", "Rollback")),
        },
        { label: "Received", cell: ({ at }) => time(at, now) },
      ],
      rows: flaws.flags,
    });
  return section({
    title: "Gaps and rollbacks",
    id: "open",
    body: html`${(flaws.streams.length > 0 || !brains) && streamTable(call, flaws.streams, "team", none)}${flaws.streams.length === MAX_STREAMS && html`<p class="says">These are the ${number(MAX_STREAMS)} that grew last.</p>`}${brains}`,
  });
}

function exportSection(call: Member): Html {
  const { href, session } = call;
  return section({
    title: "Exports",
    id: "exports",
    actions: [
      buttonLink("Telemetry, JSONL", href("/telemetry/export"), { small: true }),
      isAdmin(call) && buttonLink("Audit, JSONL", href("/audit/export?format=jsonl"), { small: true }),
    ],
    body: session.operator
      ? archiveLine(session.team.name)
      : html`<p class="says">Who runs the installation makes the archive of a team or a repository.</p>`,
  });
}

/** A proof of an event: what was erased is named by nothing else. */
function eventProof(call: Member) {
  const { session } = call;
  if (!isAdmin(call) && !session.operator) fail(forbidden, "Only the team's owners and admins see what was erased.");
  return proofPage("event", call, { teamId: session.operator ? null : session.team.id });
}

export const evidencePages = [
  page({ id: "evidence", method: "GET", path: "/evidence", access: "member" }, evidencePage),
  page({ id: "evidenceEventProof", method: "GET", path: "/evidence/events/:id/proof", access: "member" }, eventProof),
];

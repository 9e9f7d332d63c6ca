import { deviceFinder } from "../../../../identity/devices/devices.ts";
import { type Content, type Html, html } from "../../../../kit/html.ts";
import { shellQuoted } from "../../../../kit/strings.ts";
import { leafOfEvent, listEvents } from "../../../../platform/audit/audit.ts";
import { type ErasureState, erasuresOf, heldOf } from "../../../../share/erasure/erasure.ts";
import { table } from "../../ui/list.ts";
import { anchor, badge, codeBlock, empty, section } from "../../ui/parts.ts";
import { number, time } from "../../ui/units.ts";
import type { Member } from "../shared/call.ts";
import { repoShort } from "../shared/links.ts";
import { short } from "../shared/text.ts";

/** What was erased of the team, with what proves it, and what is held. */

const MOST = 100;
const EVENTS = ["erasure.requested", "erasure.completed"] as const;
const MAX_TEXT = 120;

export const erasuresIn = ({ core, session }: Member): ErasureState[] => erasuresOf(core, session.team.id, MOST);

/** The target of an erasure in words. People and sessions are not named. */
function whatOf({ core }: Member, { target }: ErasureState): string {
  const device = (id: string) => deviceFinder(core)(id)?.label ?? id;
  if (target.kind === "person") return `person ${target.personId}`;
  if (target.kind === "device") return `device ${device(target.deviceId)}`;
  if (target.kind === "session") return `a session of ${device(target.deviceId)}`;
  if (target.kind === "entry") return `entry ${number(target.seq)} of ${repoShort(target.repoKey)}`;
  return `repository ${repoShort(target.repoKey)}`;
}

/** The leaves of the events that tell of each erasure, by its id; of the whole installation for who runs it. */
async function leavesOf({ core, session }: Member): Promise<Map<string, { action: string; leaf: number }[]>> {
  const teamId = session.operator ? null : session.team.id;
  const found = await Promise.all(EVENTS.map((action) => listEvents(core, { teamId, action }, MOST)));
  const all = found
    .flatMap(({ rows }) => rows)
    .flatMap(({ id, targetId, action }) => {
      const leaf = leafOfEvent(core, id);
      return leaf === undefined || targetId === null ? [] : [{ targetId, action, leaf }];
    });
  return Map.groupBy(
    all.sort((a, b) => a.leaf - b.leaf),
    ({ targetId }) => targetId,
  );
}

const state = ({ completedAt }: ErasureState): Html =>
  completedAt === null ? badge("warn", "Under way") : badge("good", "Done");

function went({ counts }: ErasureState): Content {
  const words = Object.entries(counts).map(([name, count]) => `${name} ${number(count)}`);
  return words.length > 0 && html`<br><small>${words.join(", ")}</small>`;
}

/** Erasures that were asked for. */
export async function erasureSection(call: Member, erasures: readonly ErasureState[]): Promise<Html> {
  const now = call.core.clock.now();
  const leaves = erasures.length > 0 ? await leavesOf(call) : new Map<string, { action: string; leaf: number }[]>();
  const proofs = ({ id }: ErasureState): Content => {
    const own = leaves.get(id) ?? [];
    if (own.length === 0) return html`<span class="none">none</span>`;
    return own.map(
      ({ action, leaf }, i) =>
        html`${i > 0 && html`<br>`}<span class="nowrap">${anchor(call.href(`/evidence/events/${leaf}/proof`), action === EVENTS[0] ? "Asked for" : "Done")} <small>leaf ${number(leaf)}</small></span>`,
    );
  };
  return section({
    title: "Erasures",
    id: "erasures",
    body: table({
      caption: "Erasures",
      columns: [
        { label: "What", heading: true, grow: true, cell: (one) => short(whatOf(call, one), MAX_TEXT) },
        { label: "State", cell: state },
        { label: "Ground", grow: true, cell: (one) => html`${one.reason}${went(one)}` },
        {
          label: "Asked for",
          cell: ({ requestedAt, requestedBy }) => html`${time(requestedAt, now)}<br><small>${requestedBy}</small>`,
        },
        { label: "Proof", cell: proofs },
      ],
      rows: erasures,
      empty: empty({ title: "Nothing was erased", intro: "Operators erase on the server's command line." }),
    }),
  });
}

/** What neither runs out nor is erased. */
export function holdSection({ core, session, href }: Member, intro?: string): Html {
  const now = core.clock.now();
  const device = deviceFinder(core);
  return section({
    title: "Holds",
    id: "holds",
    intro,
    body: table({
      caption: "Holds in force",
      columns: [
        {
          label: "Of",
          heading: true,
          cell: ({ kind, deviceId, session: named }) =>
            kind === "team" || deviceId === null
              ? "the whole team"
              : html`${kind === "session" && `session ${short(named ?? "", MAX_TEXT)} of `}${anchor(href(`/devices/${deviceId}`), device(deviceId)?.label ?? deviceId)}`,
        },
        { label: "Reason", grow: true, cell: ({ reason }) => reason },
        { label: "Placed by", cell: ({ placedBy }) => placedBy },
        { label: "Since", cell: ({ placedAt }) => time(placedAt, now) },
      ],
      rows: heldOf(core, session.team.id).all,
      empty: empty({ title: "Nothing is held", intro: "Records go when their retention ends." }),
    }),
  });
}

/** The archive that holds everything of a team or a repository, which only the command line makes. */
export const archiveLine = (team: string): Html =>
  codeBlock(`reckon export --team ${shellQuoted(team)} --out team.tar.zst`, {
    label: "The whole team in one archive, on the server; --repo KEY for one repository",
    titled: true,
  });

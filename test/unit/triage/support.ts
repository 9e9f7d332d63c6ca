import { storeMember } from "../../../src/identity/members/members.ts";
import { entriesProjection } from "../../../src/insight/defects/defects.ts";
import { type Act, act, standingOfClass, timelineOf } from "../../../src/insight/triage/triage.ts";
import type { Actor } from "../../../src/platform/audit/audit.ts";
import { catchUp } from "../../../src/platform/projections/projections.ts";
import { person } from "../../support/cli.ts";
import { startWithDevice } from "../../support/instance.ts";
import { publish } from "../../support/reads.ts";

export const ERRORS = ".claude/brain/errors.md";
export const REPO = "github.com/acme/shop";

export interface Written {
  readonly date: string;
  readonly title: string;
  readonly rule?: string;
  readonly open?: boolean;
}

export const entry = ({ date, title, rule, open }: Written) =>
  `## ${date} ${title}\n\nIt broke.\n${rule === undefined ? "" : `\n**Prevention rule:** ${rule}\n`}${open ? "\n**Status:** open\n" : ""}`;

/** A team with a brain, and somebody in it. */
export async function withTeam() {
  const { t, core, device } = await startWithDevice({ settings: { outbound: "hooks.example.com" } });
  const teamId = device.team.id;
  let version = 0;
  const somebody = async (): Promise<Actor & { readonly id: string }> => {
    const user = await person(t);
    await core.store.write(() => storeMember(core, teamId, user, "member", COMMAND));
    return { kind: "user", id: user.id, label: user.email, ip: null };
  };
  return {
    ...{ t, device, core, teamId, somebody, ada: await somebody() },
    /** Publishes an errors file and reads it. */
    async say(entries: readonly Written[], repoKey = REPO, other: Readonly<Record<string, string>> = {}) {
      const files = entries.length > 0 ? { [ERRORS]: entries.map(entry).join("\n") } : {};
      await publish(t, device, { "notes.md": `${version}`, ...files, ...other }, { repoKey, version: ++version });
      await catchUp(core, entriesProjection);
    },
    classOf: (title: string): string =>
      t.rows("SELECT lower(hex(substr(fingerprint, 1, 4))) AS f FROM defects WHERE title = ?", title)[0]?.f,
    entryId: (title: string): number => t.rows("SELECT id FROM defects WHERE title = ? ORDER BY id", title)[0]?.id,
    act: (fingerprint: string, what: Act, by: Actor, more: { entryId?: number; seen?: number } = {}) =>
      act(core, { teamId, fingerprint, entryId: more.entryId }, what, by, more.seen),
    state: (fingerprint: string) => standingOfClass(core, teamId, fingerprint)?.state,
    standing: (fingerprint: string) => standingOfClass(core, teamId, fingerprint),
    /** What was noted for others of errors that came again. */
    noted: (): { readonly fingerprint: string; readonly title: string; readonly repo: string }[] =>
      t.rows("SELECT data FROM notices WHERE type = 'error.reopened' ORDER BY id").map(({ data }) => JSON.parse(data)),
    timeline: (fingerprint: string) =>
      timelineOf(core, teamId, fingerprint)
        .map(({ kind, actorLabel }) => `${kind} by ${actorLabel}`)
        .reverse(),
  };
}

const COMMAND: Actor = { kind: "command", id: null, label: "command line", ip: null };

export type Kit = Awaited<ReturnType<typeof withTeam>>;

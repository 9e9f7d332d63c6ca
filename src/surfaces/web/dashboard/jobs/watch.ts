import { troubledJobs } from "../../../../platform/jobs/jobs.ts";
import type { Concern, Watch } from "../../../../platform/rooms/rooms.ts";
import { staleBackup } from "../../../../share/maintenance/maintenance.ts";
import { plural } from "../../ui/units.ts";
import { dueConcerns } from "../shared/due.ts";
import { short } from "../shared/text.ts";

const MAX_CAUSE = 120;

/** Background work that fails, backups that nobody makes any more, and what runs short or is due. */
export const watchInstallation: Watch = (call, _, most) => {
  const { core, href } = call;
  const troubled = troubledJobs(core);
  const backup = backupConcern(core, href("/settings#backups"));
  return [
    ...dueConcerns(call, null, "/settings").map((one) => ({
      count: 1,
      says: one.what.toLowerCase(),
      href: one.href,
      list: [one],
    })),
    {
      count: backup ? 1 : 0,
      says: "backup overdue",
      href: href("/settings#backups"),
      list: backup ? [backup] : [],
    },
    {
      count: troubled.length,
      says: plural(troubled.length, "failing job"),
      href: href("/jobs"),
      list: troubled.slice(0, most).map(({ job, cause }) => ({
        kind: "warn",
        what: "Failing job",
        title: job,
        about: short(cause, MAX_CAUSE),
        href: href("/jobs"),
        at: null,
      })),
    },
  ];
};

function backupConcern(core: Parameters<typeof staleBackup>[0], href: string): Concern | undefined {
  const what = "Backup";
  try {
    const stale = staleBackup(core);
    if (!stale) return undefined;
    const title = stale.last === null ? "None was made yet" : "The last one is over 2 days old";
    return { kind: "warn", what, title, href, at: stale.last };
  } catch {
    // There is a note of the last backup, but the server may not read it.
    return { kind: "warn", what, title: "When the last one was made cannot be read", href, at: null };
  }
}

import { setImmediate } from "node:timers/promises";
import { type Core, slot } from "../../../../core.ts";
import { listDevices } from "../../../../identity/devices/devices.ts";
import { memberIds } from "../../../../identity/members/members.ts";
import { currentPrices, type SpendReport, spendReportInSlices, spendVersion } from "../../../../insight/spend/spend.ts";
import { dayNumber } from "../../../../kit/clock.ts";
import { sha256Hex } from "../../../../kit/hash.ts";

type Query = Parameters<typeof spendReportInSlices>[2];

/** Reports that were made last: between two deliveries the same pages are opened again and again, also by their links. */
const made = slot(() => ({ version: "", reports: new Map<string, SpendReport>() }));
const MAX_KEPT = 30;
/** Groups of a report that is kept. Larger reports are made anew, so that they do not fill the memory. */
const MAX_GROUPS = 20_000;

/** Identifies the present owners of devices and members of the team; a digest, because there may be very many. */
async function ownersNow(core: Core, teamId: string): Promise<string> {
  const devices = listDevices(core, teamId);
  await setImmediate();
  const emails = new Map<string, string>();
  let owned = "";
  for (const { id, person } of devices) {
    if (!person) continue;
    owned += `${id} ${person.id}\n`;
    emails.set(person.id, person.email);
  }
  return sha256Hex(JSON.stringify([owned, [...emails], memberIds(core, teamId)]));
}

/** What `spendReportInSlices` says, kept as long as nothing was counted since and prices are the same. */
export async function keptReport(core: Core, teamId: string, query: Query): Promise<SpendReport> {
  const kept = made(core);
  const version = `${spendVersion(core)} ${currentPrices(core).problem}`;
  if (kept.version !== version) {
    kept.version = version;
    kept.reports.clear();
  }
  const { from, to, by, repoKey, deviceIds, sources, daily } = query;
  const owners = by === "person" && (await ownersNow(core, teamId));
  const days = [dayNumber(from), dayNumber(to)];
  const name = JSON.stringify([teamId, days, by, repoKey, deviceIds, sources, daily, owners]);
  const found = kept.reports.get(name);
  if (found) return found;
  const report = await spendReportInSlices(core, teamId, query);
  // Something may have been counted meanwhile.
  if (kept.version !== version) return report;
  const [oldest] = kept.reports.keys();
  if (kept.reports.size >= MAX_KEPT && oldest !== undefined) kept.reports.delete(oldest);
  if (report.groupCount <= MAX_GROUPS) kept.reports.set(name, report);
  return report;
}

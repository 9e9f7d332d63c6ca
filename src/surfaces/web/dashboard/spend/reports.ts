import { setImmediate } from "node:timers/promises";
import { type Core, slot } from "../../../../core.ts";
import { listDevices } from "../../../../identity/devices/devices.ts";
import { memberIds } from "../../../../identity/members/members.ts";
import { currentPrices, type SpendReport, spendReportInSlices, spendVersion } from "../../../../insight/spend/spend.ts";
import { dayNumber } from "../../../../kit/clock.ts";
import { sha256Hex } from "../../../../kit/hash.ts";

type Query = Parameters<typeof spendReportInSlices>[2];

/** Reports that were made last: pages are opened again and again, and led through by their links, between two deliveries. */
const made = slot(() => ({ version: "", reports: new Map<string, SpendReport>() }));
const MAX_KEPT = 30;
/** Larger ones are made anew: they are not to be held for ever. */
const MAX_GROUPS = 20_000;

/** Names whose devices are, and who is in the team, at the moment: shortly, for there may be very many. */
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

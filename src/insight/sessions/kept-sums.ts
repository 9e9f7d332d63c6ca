import { type Core, slot } from "../../core.ts";
import { dayNumber } from "../../kit/clock.ts";
import { KeptByDay } from "../../kit/kept-by-day.ts";
import { placeOfSession, sessionTwins } from "../../record/traces/traces.ts";
import type { SumRow } from "./list-rows.ts";
import { NO_START, rows, type SaidRow, type SessionName } from "./rows.ts";

/** Sums that are kept: some 300 bytes each. */
const MAX_SUMS = 10_000;

/** Sums of the days on which sessions began, kept until something of a day changes; whatever changes a row says so. */
export const keptSums = slot(() => new KeptByDay<SumRow>(MAX_SUMS, () => 1));

/** Row change: keeps what a session's document says of it. It may have gone since that was read, or have left the lists. */
export function putSaid(core: Core, said: SaidRow): void {
  const isListed = sessionTwins.isListed(core, said.sessionId);
  if (isListed === undefined) return;
  noteChanged(core, said);
  const { teamId, deviceId, externalId } = said;
  if (!isListed) {
    rows(core.store).hide.run({ teamId, deviceId, externalId, noStart: NO_START });
    return;
  }
  rows(core.store).putSaid.run(said);
  keptSums(core).change(said.teamId, dayNumber(said.startedAt));
}

/** Row change: stores the owner of a session where that changed though the session did not, because another device tells of it. */
export function putUser(
  core: Core,
  { id, deviceId, externalId }: Pick<SessionName, "deviceId" | "externalId"> & { id: number },
): void {
  const userEmail = placeOfSession(core, deviceId, externalId)?.userEmail ?? "";
  const changed = rows(core.store).setUser.get({ sessionId: id, userEmail });
  if (changed) keptSums(core).change(changed.teamId, dayNumber(changed.startedAt));
}

/** Says that the row of a session changed, or is about to. */
export function noteChanged(core: Core, { teamId, deviceId, externalId }: SessionName): void {
  const start = rows(core.store).start.get(deviceId, externalId);
  if (start !== undefined) keptSums(core).change(teamId, dayNumber(start));
}

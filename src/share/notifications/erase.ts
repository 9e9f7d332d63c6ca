import type { Core } from "../../core.ts";
import { emailKey } from "../../identity/people/people.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { channelOf, GIVEN_UP } from "./channels.ts";
import { rows } from "./rows.ts";

/** Row change: takes a person's address out of all channels; one that nobody is left in is removed. @returns how many changed */
export function eraseAddress(core: Core, email: string): number {
  const sql = rows(core.store);
  const key = emailKey(email);
  let changed = 0;
  for (const channel of sql.mailChannels.all().map(channelOf)) {
    const left = channel.addresses.filter((address) => emailKey(address) !== key);
    if (left.length === channel.addresses.length) continue;
    if (left.length > 0) sql.setTarget.run(JSON.stringify(left), channel.id);
    else {
      sql.giveUp.run(GIVEN_UP.removed, channel.id, MAX_ERASED_ROWS);
      sql.remove.run(core.clock.now(), channel.id);
    }
    if (++changed >= MAX_ERASED_ROWS) break;
  }
  return changed;
}

import type { Core } from "../../core.ts";
import { listCliTokens } from "../../identity/device-flow/device-flow.ts";
import { listDevices } from "../../identity/devices/devices.ts";
import { membershipsOf } from "../../identity/members/members.ts";
import { formerAddresses, type getListedUser } from "../../identity/people/people.ts";
import { listReadTokens } from "../../identity/read-tokens/read-tokens.ts";
import { listFactors } from "../../identity/second-factor/second-factor.ts";
import { everySession } from "../../identity/web-sessions/web-sessions.ts";
import { listReads } from "../../insight/ask/ask.ts";
import { viewsBy } from "../../insight/session-views/session-views.ts";
import { isoInstant } from "../../kit/clock.ts";

type Person = ReturnType<typeof getListedUser>;

const READS_AT_A_TIME = 200;

/** For `JSON.stringify`: instants as people read them. */
export const readable = (name: string, value: unknown): unknown =>
  typeof value === "number" && /^at$|At$|Since$/.test(name) ? isoInstant(value) : value;

/** Somebody's account with what belongs to it: teams, devices, second factors and tokens, none of which can be used with what is told. */
export const accountOf = (core: Core, person: Person): object => ({
  ...person,
  formerAddresses: formerAddresses.of(core, person.id),
  teams: membershipsOf(core, person.id),
  devices: listDevices(core, undefined, person.id),
  secondFactors: listFactors(core, person.id),
  readTokens: listReadTokens(core, person.id),
  cliTokens: listCliTokens(core, person.id),
});

/** What somebody left by using the pages and their read tokens: sign-ins with addresses, questions, sessions that they opened. By the name of a file. */
export function* leftBy(core: Core, { id }: Person): Generator<readonly [name: string, line: object]> {
  for (const signIn of everySession(core, id)) yield ["sign-ins", signIn];
  for (let beforeId: number | undefined; ; ) {
    const { rows, older } = listReads(core, id, { beforeId, limit: READS_AT_A_TIME });
    for (const read of rows) yield ["questions", read];
    if (older === undefined) break;
    beforeId = older;
  }
  for (const view of viewsBy(core, id)) yield ["sessions-opened", view];
}

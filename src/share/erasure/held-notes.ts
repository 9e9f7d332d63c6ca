import type { Core } from "../../core.ts";
import { findUser } from "../../identity/people/people.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { cooperative } from "../../kit/yield.ts";
import type { Portion } from "../../log/log.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { type Hold, heldOf } from "./holds.ts";
import type { Target } from "./journal.ts";
import { addressesOf, EVERYTHING, portionsOf, sessionsNaming, teamsOf } from "./targets.ts";

/**
 * The hold that keeps a note of a commit which would go with a target, whoever sent it. Looked for outside of a transaction, in slices:
 * what names a person is found by looking through the texts.
 */
export async function holdOfNotes(core: Core, target: Target): Promise<Hold | undefined> {
  const yieldNow = cooperative(core.clock);
  let portions: readonly Portion[] | undefined;
  for (const teamId of teamsOf(core, target)) {
    const { all, ofNote } = heldOf(core, teamId);
    if (all.length === 0) continue;
    portions ??= await portionsOf(core, target, EVERYTHING, "");
    for (const ids of notesOf(core, target, teamId, portions)) {
      for (const id of ids) {
        const { deviceId, sessions } = traceErasure.factsOfNote(core, id);
        const hold = ofNote(deviceId, sessions);
        if (hold) return hold;
      }
      await yieldNow();
    }
  }
  return undefined;
}

/** The numbers of the notes of a team that would go, some at a time. */
function* notesOf(
  core: Core,
  target: Target,
  teamId: string,
  portions: readonly Portion[],
): Generator<readonly number[]> {
  if (target.kind === "entry") return;
  for (const portion of portions) {
    if (portion.teamId !== teamId) continue;
    if (target.kind !== "session") yield traceErasure.notesOf(core, portion, [], true);
    for (const some of traceErasure.sessionsOfPortion(core, portion))
      yield traceErasure.notesOf(
        core,
        portion,
        some.filter((one) => target.kind !== "session" || sha256Hex(one.externalId) === target.sessionSha256),
        false,
      );
  }
  for (const some of sessionsNaming(core, target))
    yield traceErasure.notesOfSessions(
      core,
      some.filter((session) => session.teamId === teamId),
    );
  const person = target.kind === "person" ? findUser(core, target.personId) : undefined;
  for (const email of person ? addressesOf(core, person) : []) yield* traceErasure.notesNaming(core, teamId, email);
}

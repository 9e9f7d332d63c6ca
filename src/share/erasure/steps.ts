import type { Core } from "../../core.ts";
import { apiTokenIdsOf, eraseApiTokens } from "../../identity/api-tokens/api-tokens.ts";
import { eraseTokensOf } from "../../identity/device-flow/device-flow.ts";
import { deviceErasure } from "../../identity/devices/devices.ts";
import { eraseDirectoryRecords } from "../../identity/directory/directory.ts";
import { eraseMemberships } from "../../identity/members/members.ts";
import { eraseLinksOf } from "../../identity/one-time-links/one-time-links.ts";
import {
  type ErasedPerson,
  emailKey,
  findUser,
  formerAddresses,
  markOf,
  userErasure,
} from "../../identity/people/people.ts";
import { eraseReadTokens, listReadTokens } from "../../identity/read-tokens/read-tokens.ts";
import { viewErasure } from "../../identity/saved-views/saved-views.ts";
import { eraseFactors } from "../../identity/second-factor/second-factor.ts";
import { eraseIdentities } from "../../identity/sso/sso.ts";
import { eraseSessionsOf } from "../../identity/web-sessions/web-sessions.ts";
import { eraseDeviceReads, eraseReads } from "../../insight/ask/ask.ts";
import { budgetErasure } from "../../insight/budgets/budgets.ts";
import { causeErasure } from "../../insight/causes/causes.ts";
import { sessionViewErasure } from "../../insight/session-views/session-views.ts";
import { spendErasure } from "../../insight/spend/spend.ts";
import { triageErasure } from "../../insight/triage/triage.ts";
import { type EraseStep, inFew, once, whileAny } from "../../kit/erase-steps.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { type Actor, eraseNames, type Forgotten, SYSTEM } from "../../platform/audit/audit.ts";
import { eraseMakerOfPolicies } from "../../record/policy/policy.ts";
import { telemetryErasure } from "../../record/telemetry/telemetry.ts";
import { traceErasure } from "../../record/traces/traces.ts";
import { eraseAddress } from "../notifications/notifications.ts";
import { deriveWhatWaits, eraseContent, eraseNotesNaming, eraseSessions } from "./content-steps.ts";
import { holdRows } from "./hold-rows.ts";
import type { Erasure, Target } from "./journal.ts";
import {
  addressesOf,
  devicesOf,
  EVERYTHING,
  extentOf,
  type NamedSession,
  namedOn,
  portionsOf,
  sessionsNaming,
  teamsOf,
} from "./targets.ts";

/** Actions that tell by what name somebody or something went. */
const NAMING = new Set(["device.renamed"]);

/** Everything that an erasure takes, in steps that can be made again. */
export async function* stepsOf(core: Core, erasure: Erasure): AsyncGenerator<EraseStep> {
  const { id, target } = erasure;
  const find = () => portionsOf(core, target, extentOf(core, erasure), id);
  const portions = await find();
  const erased = { id, kind: target.kind };
  switch (target.kind) {
    case "session":
      yield* eraseSessions(
        core,
        portions.map((portion) => ({ portion, isMeant: (id) => sha256Hex(id) === target.sessionSha256 })),
      );
      yield* eraseNames(core, forgottenOf(core, target, [], undefined), erased);
      return;
    case "entry":
      await deriveWhatWaits(core);
      for (const portion of portions)
        yield* telemetryErasure.eraseEntries(core, portion, ({ seq }) => seq === target.seq);
      return;
    case "repo":
      yield* eraseContent(core, portions);
      yield* whileAny("budgets", () => budgetErasure.eraseBudgets(core, "repo", target.repoKey, target.teamIds));
      yield* whileAny("saved views", () => viewErasure.eraseNaming(core, "repo", target.repoKey, target.teamIds));
      yield* eraseNames(core, forgottenOf(core, target, [], undefined), erased);
      return;
    case "device":
      yield* inFew(endBindings(core, devicesOf(core, target)));
      yield* eraseContent(core, portions);
      yield* inFew(readsOf(core, devicesOf(core, target)));
      yield* eraseNames(core, forgottenOf(core, target, devicesOf(core, target), undefined), erased);
      return;
    case "person": {
      const user = findUser(core, target.personId);
      const person = user && { id: user.id, email: user.email, name: user.name, mark: markOf(user.id) };
      // First, as with bindings: whoever signs in, or connects a machine, meanwhile would leave something again.
      if (person) yield* once("accounts", () => userErasure.close(core, person.id));
      yield* inFew(endBindings(core, devicesOf(core, target)));
      // Before what their own machines exported, which may be all that says that a session is theirs.
      yield* eraseNamed(core, target, id);
      // Found only now: a machine may have been connected before their account was closed.
      yield* eraseContent(core, await find());
      if (person) yield* spendErasure.eraseUser(core, addressesOf(core, person));
      for (const email of person ? addressesOf(core, person) : [])
        for (const teamId of teamsOf(core, target)) yield* eraseNotesNaming(core, teamId, email, id);
      yield* inFew(readsOf(core, devicesOf(core, target)));
      const forgotten = forgottenOf(core, target, devicesOf(core, target), person);
      const last = yield* eraseNames(core, forgotten, erased);
      if (!person) return;
      yield* account(core, person);
      // Their row comes last: until then it tells what is to be looked for, and at whose door somebody was refused meanwhile.
      yield () => {
        for (const step of eraseNames(core, forgotten, erased, last)) step();
        formerAddresses.erase(core, person.id);
        userErasure.erase(core, person);
        return {};
      };
    }
  }
}

/** Erases what names a person as theirs on devices that are not theirs. */
async function* eraseNamed(core: Core, target: Target, erasureId: string): AsyncGenerator<EraseStep> {
  const sessions: NamedSession[] = [];
  for (const some of sessionsNaming(core, target)) {
    sessions.push(...some);
    // Others get their turn between two steps.
    yield () => ({});
  }
  const reached = new Set(namedOn(target));
  // Those first that only others say are theirs: once these are gone, nothing does.
  for (const byTwin of [1, 0]) {
    const some = sessions.filter((one) => one.byTwin === byTwin && reached.has(one.deviceId));
    const ofDevices = Map.groupBy(some, ({ deviceId }) => deviceId).values();
    yield* eraseSessions(
      core,
      ofDevices
        .map((of) => {
          const { teamId, deviceId } = of[0] as NamedSession;
          const ids = new Set(of.map(({ externalId }) => externalId));
          const portion = { teamId, deviceId, repoKey: null, erasureId, ...EVERYTHING };
          return { portion, isMeant: (id: string) => ids.has(id) };
        })
        .toArray(),
    );
  }
}

/** Ends the bindings of devices: first, so that nothing comes from them while what they sent is erased. */
function* endBindings(core: Core, ids: readonly string[]): Generator<EraseStep> {
  const by: Actor = SYSTEM;
  for (const id of ids) yield* once("devices", () => deviceErasure.eraseDevice(core, id, by));
}

/** Erases what devices asked, and what was seen of their sessions. */
function* readsOf(core: Core, deviceIds: readonly string[]): Generator<EraseStep> {
  for (const id of deviceIds) {
    yield* whileAny("reads", () => eraseDeviceReads(core, id));
    yield* whileAny("views of sessions", () => sessionViewErasure.ofDevice(core, id));
  }
}

/** Whom the audit forgets: devices, with the person whose they are; and what it tells of entries and sessions that are gone. */
function forgottenOf(
  core: Core,
  target: Target,
  deviceIds: readonly string[],
  person: ErasedPerson | undefined,
): Forgotten {
  const marks = new Map(deviceIds.map((id) => [id, `erased-${id}`]));
  if (person) {
    marks.set(person.id, person.mark);
    // Events about a person's tokens are personal, too: by the token's name, and by what programs did with it from which address.
    for (const id of [...apiTokenIdsOf(core, person.id), ...listReadTokens(core, person.id).map((token) => token.id)])
      marks.set(id, `erased-${id}`);
  }
  const texts = new Map(person ? addressesOf(core, person).map((email) => [email, person.mark]) : []);
  const others = new Set(person && formerAddresses.holders(core, person.email));
  others.delete(person?.id ?? "");
  const teamIds = teamsOf(core, target);
  const gone: Forgotten["gone"] = (event) => (teamIds.includes(event.teamId ?? "") ? goneOf(core, event) : []);
  return { marks, texts, others, naming: NAMING, gone };
}

/** The words in an event that name what was erased: a session that is gone, or an entry whose link to its cause somebody judged. */
function goneOf(
  core: Core,
  { teamId, targetKind, targetId, targetLabel, detail }: Parameters<Forgotten["gone"]>[0],
): readonly unknown[] {
  if (targetKind === "agent_session") return traceErasure.isNamed(core, teamId, targetLabel) ? [] : [targetLabel];
  if (targetKind !== "link") return [];
  const { file, session, commit } = JSON.parse(detail) as Readonly<Record<string, string | null | undefined>>;
  if (!causeErasure.hasLink(core, targetId)) return [targetLabel, file, session, commit];
  return traceErasure.isNamed(core, teamId, session ?? null) ? [] : [session];
}

/** Erases a person's account, but for their row. */
function* account(core: Core, person: ErasedPerson): Generator<EraseStep> {
  const { id, mark } = person;
  yield* whileAny("sign-ins", () => eraseSessionsOf(core, id));
  yield* whileAny("sign-ins", () => eraseIdentities(core, id));
  yield* whileAny("sign-ins", () => eraseDirectoryRecords(core, id));
  yield* whileAny("sign-ins", () => eraseFactors(core, id));
  yield* whileAny("tokens", () => eraseTokensOf(core, id));
  yield* whileAny("read tokens", () => eraseReadTokens(core, id));
  yield* whileAny("API tokens", () => eraseApiTokens(core, id));
  yield* whileAny("reads", () => eraseReads(core, id));
  yield* whileAny("views of sessions", () => sessionViewErasure.by(core, id));
  yield* triageErasure.erasePerson(core, id, mark);
  yield* whileAny("budgets", () => budgetErasure.eraseBudgets(core, "person", id));
  yield* whileAny("saved views", () => viewErasure.eraseOf(core, id));
  for (const name of ["person", "owner"]) yield* whileAny("saved views", () => viewErasure.eraseNaming(core, name, id));
  yield* whileAny("memberships", () => eraseMemberships(core, id));
  for (const email of addressesOf(core, person)) {
    const known = { ...person, email };
    yield* whileAny("links", () => eraseLinksOf(core, known));
    yield* whileAny("names", () => deviceErasure.eraseMakerOfCodes(core, known));
    yield* whileAny("names", () => eraseMakerOfPolicies(core, known));
    yield* whileAny("names", () => budgetErasure.renameMaker(core, email, mark));
    yield* whileAny("names", () => causeErasure.renameDecider(core, email, mark));
    // Pages name whoever has no account in the team by their address.
    for (const name of new Set([email, emailKey(email)]))
      yield* whileAny("saved views", () => viewErasure.eraseNaming(core, "person", name));
    yield* whileAny("notification addresses", () => eraseAddress(core, email));
    yield* once("names", () => holdRows(core.store).renamePeople.run({ email, mark }).changes);
  }
}

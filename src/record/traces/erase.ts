import type { Core } from "../../core.ts";
import {
  type EraseStep,
  type EraseSteps,
  inFew,
  MAX_ERASED_ROWS,
  portions,
  stretches,
  whileAny,
} from "../../kit/erase-steps.ts";
import { cooperative } from "../../kit/yield.ts";
import { deliveryErasure, findDelivery, type Portion } from "../../log/log.ts";
import { browseRows } from "./browse-rows.ts";
import { withDocument } from "./documents.ts";
import {
  type ErasableItem,
  type ErasableSession,
  eraseRows,
  type LabelPlace,
  type NamingSession,
} from "./erase-rows.ts";
import { labelText, sessionText, spanText } from "./item-texts.ts";
import { isHeld, noteErasure } from "./note-erase.ts";
import { NOTES_MODE } from "./notes.ts";
import type { Twin } from "./twin-rows.ts";
import { sessionTwins } from "./twins.ts";

type Of = Omit<Portion, "erasureId">;

const NO_BYTES: Buffer = Buffer.alloc(0);

/** The sessions of a portion: those whose last change it covers. Yielded in stretches, so that others get their turn. */
function* sessionsOfPortion(core: Core, portion: Of): Generator<readonly ErasableSession[]> {
  for (const stretch of stretchesOf(core, portion)) yield eraseRows(core.store).sessions.all(stretch);
}

/** The same, and those that grew since but came before the portion's end: nothing may be left of these. */
function* sessionsBegunInPortion(core: Core, portion: Of): Generator<readonly ErasableSession[]> {
  const sql = eraseRows(core.store);
  for (const stretch of stretchesOf(core, portion)) {
    const grown = sql.grown
      .all(stretch)
      .filter(({ createdAt }) => !deliveryErasure.cameSince(core, "traces", portion, createdAt));
    yield [...sql.sessions.all(stretch), ...grown];
  }
}

function* stretchesOf(core: Core, { deviceId, repoKey, until, through }: Of) {
  const { stretchEnd } = eraseRows(core.store);
  for (const stretch of stretches("", (from) => stretchEnd.get(deviceId, from)))
    yield { deviceId, repoKey, until, through, ...stretch };
}

/** Spans and labels of some sessions, counted. */
function countOfSessions(core: Core, sessions: readonly ErasableSession[]): { spans: number; labels: number } {
  const { spanCount, labelCount } = browseRows(core.store);
  return sessions.reduce(
    ({ spans, labels }, { id, deviceId, externalId }) => ({
      spans: spans + (spanCount.get(id) ?? 0),
      labels: labels + (labelCount.get(deviceId, externalId) ?? 0),
    }),
    { spans: 0, labels: 0 },
  );
}

/** Labels of a portion that name no session that is there. Yielded in stretches, so that others get their turn. */
function* looseLabels(core: Core, portion: Of): Generator<readonly { id: number }[]> {
  const { deviceId, repoKey } = portion;
  const sql = eraseRows(core.store);
  const first: LabelPlace = { repo: "", sha256: NO_BYTES };
  for (const { from, to } of stretches(first, (from) => sql.labelsEnd.get({ deviceId, ...from }))) {
    const loose = sql.looseLabels.all({
      deviceId,
      repoKey,
      ...from,
      toRepo: to?.repo ?? null,
      toSha256: to?.sha256 ?? null,
    });
    const of = Map.groupBy(loose, ({ deliveryId }) => deliveryId);
    yield [...of].flatMap(([id, some]) => (deliveryErasure.isWithin(findDelivery(core, id), portion) ? some : []));
  }
}

/** What is made of a session elsewhere. */
interface Derived {
  /** Erases it; called first, and again where the session grew meanwhile, or something was made of it. */
  erase(): EraseSteps;
  /** Whether any of it is there: others may have stored what they read before. */
  isLeft(): boolean;
  /** Row changes for a session whose owner only this one named. */
  onUnnamed(session: Twin): void;
  /** Row changes for an exported session that only this one kept out of the lists. */
  onListed(session: Twin): void;
}

/** Erases a session with its spans and labels. */
async function* eraseSession(
  core: Core,
  session: ErasableSession,
  erasureId: string,
  derived: Derived,
): AsyncGenerator<EraseStep> {
  const grownBy = eraseRows(core.store).asItem.get(session.id)?.deliveryId;
  yield* derived.erase();
  const isGone = yield* inFew(eraseRowsOf(core, session, grownBy, erasureId, derived));
  if (!isGone) yield* eraseSession(core, session, erasureId, derived);
}

/** @param grownBy the delivery that changed it last @returns whether it is gone; it is not where it grew since, or something was made of it */
function* eraseRowsOf(
  core: Core,
  { id, deviceId, externalId }: ErasableSession,
  grownBy: number | undefined,
  erasureId: string,
  derived: Derived,
): Generator<EraseStep, boolean> {
  const sql = eraseRows(core.store);
  let isGone = false;
  yield* whileAny("spans", () => {
    const spans = sql.someSpans.all(id, MAX_ERASED_ROWS).map((span) => withDocument(core, span));
    forget(core, spans, (span) => spanText(externalId, span.externalId, span.document));
    for (const span of spans) sql.dropSpan.run(span.id);
    // Spans go in the order of their numbers, so nothing is left of a block that ends here.
    sql.dropBlocks.run(id, spans.at(-1)?.id ?? 0);
    markGone(core, spans, erasureId);
    return spans.length;
  });
  yield* whileAny("labels", () =>
    dropLabels(core, sql.someLabels.all(deviceId, externalId, MAX_ERASED_ROWS), erasureId),
  );
  yield () => {
    const own = sql.asItem.get(id);
    isGone = !own || (own.deliveryId === grownBy && !derived.isLeft());
    if (!own || !isGone) return { sessions: 0 };
    forget(core, [own], ({ document }) => sessionText(externalId, document));
    const named = sessionTwins.unnamedOf(core, id);
    const listed = sessionTwins.isOnlyWhole(core, id) ? sessionTwins.exportedOf(core, id) : [];
    const sessions = sql.dropSession.run(id).changes;
    for (const one of named) derived.onUnnamed(one);
    for (const one of listed) derived.onListed(one);
    const { deliveryId } = own;
    // Either nothing else is left of the delivery that changed it last, or something is.
    if (!isHeld(core, deliveryId)) deliveryErasure.markErased(core, deliveryId, erasureId);
    else deliveryErasure.markErasedInPart(core, deliveryId, 1, erasureId);
    return { sessions };
  };
  return isGone;
}

/** Keeps the hashes of rows that go, because the roots of their deliveries are made of them. */
function forget<Row extends ErasableItem>(core: Core, list: readonly Row[], textOf: (row: Row) => string): void {
  for (const [deliveryId, of] of Map.groupBy(list, (row) => row.deliveryId)) {
    const texts = of.flatMap((row): [number, string][] => (row.item === null ? [] : [[row.item, textOf(row)]]));
    deliveryErasure.forgetItems(core, deliveryId, new Map(texts));
  }
}

/** Marks the deliveries of erased rows as erased, where nothing else of them is left. */
function markGone(core: Core, list: readonly ErasableItem[], erasureId: string): void {
  const deliveryIds = new Set(list.flatMap(({ deliveryId, item }) => (item === null ? [] : [deliveryId])));
  for (const id of deliveryIds) if (!isHeld(core, id)) deliveryErasure.markErased(core, id, erasureId);
}

/** @returns how many there were */
function dropLabels(core: Core, labels: readonly ErasableItem[], erasureId: string): number {
  forget(core, labels, ({ document }) => labelText(document));
  for (const { id } of labels) eraseRows(core.store).dropLabel.run(id);
  markGone(core, labels, erasureId);
  return labels.length;
}

/** Erases labels, as `looseLabels` finds them once the sessions of their portion are gone. */
function* eraseLabels(core: Core, labels: readonly { id: number }[], erasureId: string): Generator<EraseStep> {
  const sql = eraseRows(core.store);
  for (const some of portions(labels))
    yield () => ({
      labels: dropLabels(
        core,
        some.flatMap(({ id }) => sql.label.get(id) ?? []),
        erasureId,
      ),
    });
}

/** Marks the deliveries of portions as erased where nothing is left of them: a session that grows on keeps what earlier ones brought. */
async function* markRest(core: Core, ofPortions: readonly Portion[]): AsyncGenerator<EraseStep> {
  const yieldNow = cooperative(core.clock);
  for (const found of deliveryErasure.unerasedDeliveries(core, "traces", ofPortions)) {
    const emptied: (typeof found)[number][] = [];
    for (const one of found) {
      await yieldNow();
      if (!isHeld(core, one.id)) emptied.push(one);
    }
    for (const some of portions(emptied))
      yield () => {
        for (const { id, portion } of some) deliveryErasure.markErased(core, id, portion.erasureId);
        return {};
      };
    await yieldNow();
  }
}

/** A session by the number of its page, or all that agents named so. */
function findSessions(core: Core, named: string): readonly ErasableSession[] {
  const sql = eraseRows(core.store);
  const byNumber = /^\d{1,15}$/.test(named) ? sql.session.get(Number(named)) : undefined;
  return byNumber ? [byNumber] : sql.named.all(named);
}

/** Sessions whose owners are looked at in one go. */
const MAX_SEARCHED = 200;

/** The sessions that name somebody as their owner. Yielded in stretches, so that others get their turn. @param isTheirs by an e-mail address */
function* sessionsNaming(core: Core, isTheirs: (email: string) => boolean): Generator<readonly NamingSession[]> {
  const sql = eraseRows(core.store);
  const last = sql.last.get() ?? 0;
  for (let after = 0; after < last; after += MAX_SEARCHED)
    yield sql.naming.all(after, after + MAX_SEARCHED).filter(({ userEmail }) => isTheirs(userEmail));
}

/** Erasing sessions. */
export const traceErasure = {
  sessionsOfPortion,
  sessionsNaming,
  sessionsBegunInPortion,
  countOfSessions,
  looseLabels,
  eraseSession,
  eraseLabels,
  markRest,
  findSessions,
  /** Whether a team has a session that an agent calls so. */
  isNamed: (core: Core, teamId: string | null, externalId: string | null): boolean =>
    eraseRows(core.store).isNamed.get(teamId, externalId) !== undefined,
  /** Whether a delivery brought notes, by its mode; and by what its leaf tells, since nothing does of the mode of one that is erased. */
  isOfNotes: ({ kind, items, mode }: { kind: string; items: number; mode: string | null }): boolean =>
    kind === "traces" && items === 0 && mode === NOTES_MODE,
  ...noteErasure,
};

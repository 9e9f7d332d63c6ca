import type { Core } from "../../core.ts";
import { commitTo } from "../../kit/items.ts";
import { appendLeaf } from "../transparency/transparency.ts";
import { eventLeafText, eventText } from "./leaf.ts";
import { rows } from "./rows.ts";

/** Who acts. */
export interface Actor {
  readonly kind: "user" | "device" | "command" | "system";
  readonly id: string | null;
  /** What a reader of the record knows them by. */
  readonly label: string;
  readonly ip: string | null;
}

/** Somebody with access to the data directory. */
export const COMMAND_LINE: Actor = { kind: "command", id: null, label: "command line", ip: null };
/** The program itself, as configured. */
export const SYSTEM: Actor = { kind: "system", id: null, label: "Reckon", ip: null };

export interface Event {
  /** Dotted, noun first: `device.revoked`. */
  readonly action: string;
  /** The team it concerns; null for what concerns the whole installation. */
  readonly teamId: string | null;
  readonly target?: { readonly kind: string; readonly id: string | null; readonly label?: string | null };
  readonly detail?: Readonly<Record<string, unknown>>;
}

/**
 * Records an act that changes nothing else, such as taking a copy away. Await it before the act, which must not be done without.
 * @throws StoreUnavailable
 */
export const recordAct = (core: Core, by: Actor, event: Event): Promise<void> =>
  core.store.write(() => recordEvent(core, by, event));

/**
 * Records an event, and its leaf of the log; call inside the transaction that does what it is about, so that neither is without the other.
 */
export function recordEvent(core: Core, by: Actor, event: Event): void {
  const row = {
    at: core.clock.now(),
    teamId: event.teamId,
    actorKind: by.kind,
    actorId: by.id,
    actorLabel: by.label,
    action: event.action,
    targetKind: event.target?.kind ?? null,
    targetId: event.target?.id ?? null,
    targetLabel: event.target?.label ?? null,
    ip: by.ip,
    detail: JSON.stringify(event.detail ?? {}),
  };
  const { key, root } = commitTo([eventText(row)]);
  const leaf = appendLeaf(core, eventLeafText(row, root));
  rows(core.store).insert.run({ ...row, leaf, itemKey: key });
}

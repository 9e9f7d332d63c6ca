/**
 * Rooms: what a capability is made of, as data. `app.ts` lists the rooms, and everything that must know all of them reads that list: the
 * router, the API's document, navigation, the audit page, projections, jobs, metrics.
 * Not here: what is in a room; the commands of the command line, which start without the server (see `cli/run.ts`).
 */
import { type Core, slot } from "../../core.ts";
import type { Content, Html } from "../../kit/html.ts";
import type { Endpoint } from "../http/endpoint.ts";
import type { Page, PageCall } from "../http/page.ts";
import type { Job } from "../jobs/jobs.ts";
import type { Metric } from "../metrics/metrics.ts";
import type { Projection } from "../projections/projections.ts";

/** Something of a team that somebody should look at: a line of the overview. */
export interface Concern {
  /** `bad` before `warn` before `info`. */
  readonly kind: "bad" | "warn" | "info";
  /** What it is in a word or two, e.g. `Open error`. */
  readonly what: string;
  readonly title: Content;
  /** Where it is, e.g. its repository. */
  readonly about?: Content;
  /** Where it is dealt with. */
  readonly href: string;
  /** Since when, or when it happened; milliseconds since the epoch, null where nobody knows. */
  readonly at: number | null;
}

/** What a place adds to the overview. */
export interface Concerns {
  /** How many there are, of which `list` has the first few, most urgent first. */
  readonly count: number;
  /** The same in words: `2 open errors`. */
  readonly says: string;
  /** The page that lists all of them. */
  readonly href: string;
  readonly list: readonly Concern[];
}

/**
 * Finds what a team should look at, within some milliseconds.
 * @param since instant from which on events still matter
 * @param most entries of `list`
 */
export type Watch = (
  call: PageCall<"member">,
  since: number,
  most: number,
) => readonly Concerns[] | Promise<readonly Concerns[]>;

/** A place in the dashboard's navigation. */
export interface Place {
  readonly path: string;
  readonly label: string;
  /** The group that it stands in: one of the sidebar, or an item of it whose tabs its places are. */
  readonly group: string;
  /** Beside its label in the sidebar. */
  readonly icon?: Html;
  /** For operators; for owners and admins of the team. With both, for either. */
  readonly operator?: true;
  readonly admin?: true;
  /** For people in no team, too. */
  readonly teamless?: true;
  /** About what is paid for: left out where nobody pays. */
  readonly billing?: true;
  /** Finds what needs attention here, shown to everybody who may open the place. */
  readonly watch?: Watch;
}

/** The words for an audit event: in a list to choose from, and after the actor's name (the target's name follows). */
export interface AuditAction {
  readonly label: string;
  readonly did: string;
  /** Concerns the installation or a person's account, never a team. */
  readonly beyondTeams?: true;
}

export interface Room {
  readonly name: string;
  /** Groups of operations in the API's document, by name, with what they are for. */
  readonly tags?: Readonly<Record<string, string>>;
  readonly endpoints?: readonly Endpoint[];
  readonly pages?: readonly Page[];
  readonly places?: readonly Place[];
  /** In the order in which each is brought up to date. */
  readonly projections?: readonly Projection[];
  readonly jobs?: readonly Job[];
  /** By the action's name in `recordEvent`. */
  readonly auditActions?: Readonly<Record<string, AuditAction>>;
  readonly metrics?: readonly Metric[];
  /**
   * Runs before the first request. Values that are only kept in memory are a `slot` and need no `open`.
   * @param onFatal called with the reason when the instance must stop by itself
   */
  open?(core: Core, onFatal: (reason: string) => void): void | Promise<void>;
  close?(core: Core): void;
}

/** Declares a room. */
export const room = (manifest: Room): Room => manifest;

const composed = slot((): { rooms: readonly Room[] } => ({ rooms: [] }));

/** Tells an instance which rooms it is made of. */
export function compose(core: Core, rooms: readonly Room[]): void {
  composed(core).rooms = rooms;
}

/** The dashboard's places in the order of the rooms, those of a group together. */
export const places = slot((core): readonly Place[] => {
  const all = composed(core).rooms.flatMap((room) => room.places ?? []);
  return [...Map.groupBy(all, ({ group }) => group).values()].flat();
});

export const auditActions = slot(
  (core): Readonly<Record<string, AuditAction>> =>
    Object.assign({}, ...composed(core).rooms.map((room) => room.auditActions)),
);

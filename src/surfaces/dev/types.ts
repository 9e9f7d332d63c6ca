import type { Config } from "../../config.ts";
import type { Core } from "../../core.ts";
import type { Clock } from "../../kit/clock.ts";
import type { Random } from "../../kit/random.ts";
import type { Intercept, Observation } from "../../platform/http/answer-endpoint.ts";
import type { Endpoint } from "../../platform/http/endpoint.ts";
import type { LocalClock } from "./clock.ts";
import type { Kept } from "./directory.ts";
import type { PlannedFaults } from "./faults.ts";
import type { Journal } from "./journal.ts";
import type { Credentials } from "./seed.ts";

/** The server's own code on a directory, as `app.ts` composes it. */
export interface InstanceHandle {
  readonly core: Core;
  fetch(request: Request): Response | Promise<Response>;
  /** Brings all that is derived from deliveries up to date. */
  settle(): Promise<void>;
  /** Writes down where it answers, for commands on the same directory. */
  announce(): void;
  close(): Promise<void>;
}

interface InstanceParts {
  readonly clock: Clock;
  readonly random: Random;
  /** Whether this instance takes in the seed; its limits are then the defaults. */
  readonly seeding: boolean;
  readonly interrupt?: Intercept;
  readonly observe?: (what: Observation) => void;
}

export interface LocalOptions {
  readonly directory: string;
  readonly baseUrl: string;
  readonly config: Config;
  /** All ids and credentials depend on it; they are random when undefined. */
  readonly seed: string | undefined;
  /** The time at which the clock begins, again at every reset; the base clock's time when undefined. */
  readonly startAt: number | undefined;
  readonly frozen: boolean;
  /** Without demo data: a team, a person and credentials only. */
  readonly empty: boolean;
  /** Where signing keys and seeds are kept between starts; the user's own folder when undefined. */
  readonly cache?: string;
  /** Tells one build of the program from another; seeds are not kept when undefined. */
  readonly program?: string | undefined;
  readonly base: { readonly clock: Clock; readonly random: Random };
  readonly endpoints: readonly Endpoint[];
  readonly open: (parts: InstanceParts) => Promise<InstanceHandle>;
}

/** A local instance as its control routes see it. */
export interface LocalInstance {
  readonly core: Core;
  readonly clock: LocalClock;
  readonly credentials: Credentials;
  readonly kept: Kept;
  readonly faults: PlannedFaults;
  readonly journal: Journal;
  /** Device tokens that are known here, by device. */
  readonly deviceTokens: Map<string, string>;
  /** Passes a request to the server's code directly, without recording it. */
  ask(request: Request): Promise<Response>;
  /**
   * Goes back to the seed: data, credentials, clock, faults and everything remembered. A second caller meanwhile shares the same reset.
   * @returns milliseconds it took
   */
  reset(): Promise<number>;
}

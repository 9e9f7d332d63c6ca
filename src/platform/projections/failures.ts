import type { Core } from "../../core.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { causeText } from "../jobs/jobs.ts";
import { rows } from "./rows.ts";

/** What one projection skipped. */
export interface Failures {
  /** Of the projection. */
  readonly name: string;
  readonly count: number;
  /** Where its source stood at the last of them. */
  readonly checkpoint: number;
  /** Milliseconds since the epoch. */
  readonly failedAt: number;
  readonly cause: string;
}

/**
 * Row change: stores that a batch, or a part of it, failed. It is forgotten when the projection begins anew.
 * @param checkpoint of the batch in the projection's source
 */
export function recordFailure(core: Core, name: string, checkpoint: number, error: unknown): void {
  rows(core.store).fail.run(name, checkpoint, core.clock.now(), causeText(error));
}

/** What each projection skipped since it began, by name; none when all is well. */
export function failures(core: Core): Failures[] {
  return rows(core.store).failures.all();
}

/** Row change: erases causes, which may quote what was sent; that something failed stays. @returns how many changed */
export const eraseCauses = (core: Core): number => rows(core.store).eraseCauses.run(MAX_ERASED_ROWS).changes;

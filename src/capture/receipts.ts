import { DAY_MS } from "../kit/clock.ts";
import type { Capture } from "./state.ts";

/** A receipt of a delivery, as the server signed and sent it. */
export interface Receipt {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** The address that it was delivered to, such as `/api/telemetry/ingest`. */
  readonly path: string;
  /** Empty for what belongs to none. */
  readonly repo: string;
  readonly receipt: string;
}

const KEEP_MS = 30 * DAY_MS;
const MAX_RECEIPTS = 10_000;
/** No receipt is as long. */
const MAX_CHARS = 4_096;

/** Keeps what a reply carries as `Reckon-Receipt`. @param body JSON, what was delivered */
export function keepReceipt({ rows, clock }: Capture, path: string, body: string, receipt: string | null): void {
  if (receipt === null || receipt === "" || receipt.length > MAX_CHARS) return;
  // A delivery names its repository first, or after its version.
  const [, repo = '""'] = /^\{(?:"version":\d+,)?"repoKey":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
  rows.addReceipt.run(clock.now(), path, JSON.parse(repo), receipt);
}

/** Forgets receipts from more than a month ago, and all but the newest ten thousand. */
export function pruneReceipts({ rows, clock }: Capture): void {
  rows.pruneReceipts.run(clock.now() - KEEP_MS, MAX_RECEIPTS);
}

/** All that are kept, oldest first. */
export const readReceipts = ({ rows }: Capture): Receipt[] => rows.receipts.all();

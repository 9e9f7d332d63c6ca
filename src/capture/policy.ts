import { asText } from "../formats/values.ts";
import { DAY_MS } from "../kit/clock.ts";
import type { Answer } from "./client.ts";
import type { Exchange } from "./exchange.ts";
import { heedLog } from "./restored-server.ts";
import { type Capture, readSetting, writeSetting } from "./state.ts";
import type { CaptureMode } from "./texts.ts";

/** The team's policy as it was last heard. */
export interface KnownPolicy {
  readonly captureMode: CaptureMode;
  readonly etag: string | null;
  /** Milliseconds since the epoch: when the server last confirmed it. */
  readonly at: number;
}

const MODES: readonly CaptureMode[] = ["off", "metadata", "redacted", "full"];
const SETTING = "policy";
/** Why nothing is recorded for a while. */
export type QuietReason = "paused" | "policy";

export const knownPolicy = (capture: Capture): KnownPolicy | undefined => readSetting<KnownPolicy>(capture, SETTING);

const PATH = "/api/policy";

/**
 * Asks for the team's policy; an unchanged one costs a 304. Without an answer the last known policy holds, and without any nothing is
 * recorded. A server that cannot answer, or does not know the machine, is asked nothing more in this pass.
 */
export async function askPolicy(exchange: Exchange): Promise<void> {
  const { capture } = exchange;
  const etag = knownPolicy(capture)?.etag ?? undefined;
  const answer = await exchange.request(PATH, { etag, timeoutMs: 10_000 }, "policy");
  if (answer.kind !== "ok") return;
  learnPolicy(capture, answer);
  heedLog(capture, answer.log);
}

function learnPolicy(capture: Capture, answer: Answer & { readonly kind: "ok" }): void {
  const known = knownPolicy(capture);
  const now = capture.clock.now();
  const mode = MODES.find((each) => each === answer.body.captureMode);
  // A mode of a newer server: what it allows is not known, so nothing is.
  if (answer.status !== 304 && !mode)
    capture.log.warn("policy_not_understood", { captureMode: asText(answer.body.captureMode) ?? null });
  const policy: KnownPolicy =
    answer.status === 304 && known
      ? { ...known, at: now }
      : {
          captureMode: mode ?? "off",
          etag: mode ? answer.etag : null,
          at: now,
        };
  capture.transact(() => {
    writeSetting(capture, SETTING, policy);
    // Brains that were sent after the change were stored without text. Once text may leave again, they are published anew.
    if (mode !== known?.captureMode && (mode === "off" || mode === "metadata"))
      capture.rows.forgetBrains.run({ since: 0 });
    if (policy.captureMode === "off") beginQuiet(capture, "policy", null);
    else endQuiet(capture, "policy");
  });
}

/** From now on nothing is recorded. @param until milliseconds since the epoch; null until it is ended */
function beginQuiet(capture: Capture, reason: QuietReason, until: number | null): void {
  const { rows, clock } = capture;
  const now = clock.now();
  const isOpen = rows.quiet.all().some((window) => window.reason === reason && window.until === null);
  if (isOpen && until === null) return;
  rows.endQuiet.run(now, reason, now);
  rows.openQuiet.run(now, until, reason);
}

/** Moves the beginning of an open window to a day ago where the clock was set back behind it: nobody knows since when the clock was wrong. */
export function holdQuiet({ rows, clock }: Capture): void {
  rows.holdQuiet.run({ from: clock.now() - DAY_MS, now: clock.now() });
}

function endQuiet({ rows, clock }: Capture, reason: QuietReason): void {
  rows.endQuiet.run(clock.now(), reason, clock.now());
}

/** Records nothing from now on. @param until milliseconds since the epoch; null until it is resumed */
const pause = (capture: Capture, until: number | null): void =>
  capture.transact(() => beginQuiet(capture, "paused", until));

/** Records again. */
const resume = (capture: Capture): void =>
  capture.transact(() => {
    holdQuiet(capture);
    endQuiet(capture, "paused");
  });

/** What a person may ask for. */
export const recording = { pause, resume };

/** A span of time in which nothing was to be recorded, in milliseconds since the epoch; an open one ends at infinity. */
export interface QuietWindow {
  readonly since: number;
  readonly until: number;
}

/** All windows that are known. */
export const quietWindows = ({ rows }: Capture): QuietWindow[] =>
  rows.quiet.all().map(({ since, until }) => ({ since, until: until ?? Number.POSITIVE_INFINITY }));

/** Why nothing is recorded now, and until when; undefined while it is. */
export function quietNow({
  rows,
  clock,
}: Capture): { readonly reason: QuietReason; readonly until: number | null } | undefined {
  const now = clock.now();
  const window = rows.quiet.all().find(({ until, reason }) => reason !== "ended" && (until === null || until > now));
  return window && { reason: window.reason as QuietReason, until: window.until };
}

import { type MetadataKind, metadataOf } from "../formats/metadata.ts";
import { cutText } from "../kit/strings.ts";
import { redactJson, redactText } from "../redact/redact.ts";

/** How much of what is said may leave the machine; see the team's policy. */
export type CaptureMode = "off" | "metadata" | "redacted" | "full";

/** The longest text of each mode, in UTF-16 units. */
const MAX_TEXT_CHARS: Readonly<Record<CaptureMode, number>> = {
  off: 0,
  metadata: 0,
  redacted: 16 * 1024,
  full: 64 * 1024,
};

/** A text as it may leave the machine: first without secrets, then cut, so that no half of one is left at the end. */
export function outgoingText(text: string, mode: CaptureMode): string {
  return cutText(redactText(text).text, MAX_TEXT_CHARS[mode]);
}

/** A document as it may leave the machine, as JSON. */
export function outgoingJson(value: unknown): string {
  return redactJson(JSON.stringify(value)).text;
}

/** A record as it may leave the machine now: what waits may have been recorded while the policy let more of it. */
export const allowedNow = (text: string, kind: MetadataKind, mode: CaptureMode | undefined): string =>
  mode === "metadata" ? metadataOf(text, kind) : text;

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

/** Sequences that colour a terminal's text and move its cursor (ECMA-48 section 5.4). Between a name and its value one would hide a secret. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is looked for
const STYLES = /\u001b\[[\d;:]{0,32}[A-Za-z]/g;

const withoutSecrets = (text: string): string => redactText(text.replace(STYLES, "")).text;

/** A text as it may leave the machine. Secrets are taken out before it is cut, so that no half of one is left at the end. */
export function outgoingText(text: string, mode: CaptureMode): string {
  return cutText(withoutSecrets(text), MAX_TEXT_CHARS[mode]);
}

/** Bytes of JSON that a text may have in an entry. The service takes 64 KiB for the whole entry. */
const MAX_ENTRY_TEXT_BYTES = 56 * 1024;
/** More characters than the footer of a cut text has. */
const FOOTER_CHARS = 100;

/**
 * The text as it fits into an entry of telemetry. In JSON, quotes and line ends take two bytes, and other characters up to six.
 * @param outgoing what `outgoingText` made of the text
 */
export function entryText(text: string, outgoing: string): string {
  for (let cut = outgoing; ; ) {
    const bytes = Buffer.byteLength(JSON.stringify(cut));
    if (bytes <= MAX_ENTRY_TEXT_BYTES) return cut;
    cut = cutText(withoutSecrets(text), Math.floor((cut.length * MAX_ENTRY_TEXT_BYTES) / bytes) - FOOTER_CHARS);
  }
}

/** A document as it may leave the machine, as JSON. */
export function outgoingJson(value: unknown): string {
  return redactJson(JSON.stringify(value)).text;
}

/** A record as it may leave the machine now: it may have been recorded while the policy allowed more. */
export const allowedNow = (text: string, kind: MetadataKind, mode: CaptureMode | undefined): string =>
  mode === "metadata" ? metadataOf(text, kind) : text;

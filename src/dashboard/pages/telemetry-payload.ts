import { type Html, html } from "../../kit/html.ts";
import { indentJson } from "../../kit/json-indent.ts";
import { codeBlock } from "../parts/code.ts";
import { bytes } from "../parts/units.ts";

/** How payloads are shown. They are an agent's own text: any JSON object, of any spelling, up to the cap of the API. */

const PREVIEW_CHARS = 180;
/** In a list a longer payload is only begun: fifty whole ones would make a page of megabytes. */
const LIST_CHARS = 8 * 1024;
const LAID_OUT = 4;

/** The beginning of a payload on one line. */
function preview(payload: string): string {
  const line = payload.slice(0, PREVIEW_CHARS * 2).replace(/\s+/g, " ");
  return line.length > PREVIEW_CHARS ? `${line.slice(0, PREVIEW_CHARS).toWellFormed()}…` : line;
}

/** A payload laid out over lines; as it is spelled where that would make too much of it. */
export function payloadBlock(payload: string, label = "Payload"): Html {
  const laidOut = indentJson(payload, payload.length * LAID_OUT + 1_024) ?? payload;
  return codeBlock(laidOut, { label, wrap: true, tall: true });
}

/** A payload in a list: its beginning, and the whole when opened. @param href where the entry stands by itself */
export function payloadDetails(payload: string, href: string): Html {
  const whole = payload.length <= LIST_CHARS;
  const body = whole
    ? payloadBlock(payload)
    : html`${codeBlock(`${payload.slice(0, LIST_CHARS / 4).toWellFormed()}…`, { label: "Beginning of the payload", wrap: true, tall: true })}
<p><a href="${href}">Read all ${bytes(Buffer.byteLength(payload))}</a></p>`;
  return html`<details><summary><code>${preview(payload)}</code></summary>${body}</details>`;
}

import { type Html, html } from "../../../../kit/html.ts";
import { members } from "../../../../kit/json.ts";
import { layOutJson } from "../../../../kit/json-indent.ts";
import { beginning } from "../../../../kit/strings.ts";
import { codeBlock } from "../../ui/parts.ts";
import { bytes } from "../../ui/units.ts";

/** How payloads are shown. They are an agent's own text: any JSON object, of any spelling, up to the cap of the API. */

const PREVIEW_CHARS = 180;
/** In a list a longer payload is only begun: fifty whole ones would make a page of megabytes. */
const LIST_CHARS = 8 * 1024;

/** What a payload says, in short: its members but for the type and the session, which stand elsewhere. */
function preview(payload: string): string {
  let text = "";
  for (const { key, start, end } of members(payload)) {
    if (["type", "sessionId", "session_id"].includes(key)) continue;
    const value =
      payload[start] === '"' ? (JSON.parse(payload.slice(start, end)) as string) : payload.slice(start, end);
    text += `${text && " · "}${key}: ${value.slice(0, PREVIEW_CHARS).replace(/\s+/g, " ")}`;
    if (text.length > PREVIEW_CHARS) return `${beginning(text, PREVIEW_CHARS).toWellFormed()}…`;
  }
  return text || "no more than its type";
}

/** A payload laid out over lines; as it is spelled where that would make too much of it. */
export function payloadBlock(payload: string, label = "Payload"): Html {
  return codeBlock(layOutJson(payload), { label, wrap: true, tall: true });
}

/** A payload in a list: its beginning, and the whole when opened. @param href where the entry stands by itself */
export function payloadDetails(payload: string, href: string): Html {
  const whole = payload.length <= LIST_CHARS;
  const body = whole
    ? payloadBlock(payload)
    : html`${codeBlock(`${beginning(payload, LIST_CHARS / 4).toWellFormed()}…`, { label: "Beginning of the payload", wrap: true, tall: true })}
<p><a href="${href}">Read all ${bytes(Buffer.byteLength(payload))}</a></p>`;
  return html`<details><summary>${preview(payload)}</summary>${body}</details>`;
}

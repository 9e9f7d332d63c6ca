import { createHmac } from "node:crypto";
import type { Said } from "./words.ts";

/** What receivers are sent: over HTTP, as JSON. */

const JSON_TYPE = { "content-type": "application/json", "user-agent": "Reckon" };

export interface Sent {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

const SECRET_PREFIX = "whsec_";

/** A secret as Standard Webhooks spells it. @param bytes 24 to 64 of them */
export const spellSecret = (bytes: Buffer): string => SECRET_PREFIX + bytes.toString("base64");

/**
 * A body signed as https://www.standardwebhooks.com has it, once with each secret.
 * @param id the same for each try
 * @param at milliseconds since the epoch; receivers refuse what is minutes old
 */
export function webhook(id: string, at: number, payload: unknown, secrets: readonly string[]): Sent {
  const body = JSON.stringify(payload);
  const timestamp = String(Math.floor(at / 1000));
  const signatures = secrets.map((secret) => {
    const key = Buffer.from(secret.slice(SECRET_PREFIX.length), "base64");
    return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.${body}`).digest("base64")}`;
  });
  const signed = { "webhook-id": id, "webhook-timestamp": timestamp, "webhook-signature": signatures.join(" ") };
  return { headers: { ...JSON_TYPE, ...signed }, body };
}

const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" };
/** Stands between what would be a mark or a mention and what it would apply to. */
const BREAK = "\u200b";

/** Text within Slack's mrkdwn, and the Markdown of those who take the same messages: it formats, links and calls nothing. */
const escaped = (text: string) =>
  text.replace(/[&<>]/g, (char) => ENTITIES[char] ?? "").replace(/[*_~`@[\]|!]/g, (char) => `${char}${BREAK}`);

/** A message of Slack's incoming webhooks, which others take, too. */
export function slack({ title, lines, url }: Said): Sent {
  const text = [`*${escaped(title)}*`, ...lines.map(escaped), `<${url}|Open in Reckon>`].join("\n");
  return { headers: JSON_TYPE, body: JSON.stringify({ text }) };
}

/** A message of Microsoft Teams' workflows ("When a Teams webhook request is received"): an adaptive card, of runs of plain text. */
export function teams({ title, lines, url }: Said): Sent {
  const plain = (text: string, weight = "default") => ({
    type: "RichTextBlock",
    inlines: [{ type: "TextRun", text, weight }],
  });
  const content = {
    $schema: "http://adaptivecards.io/schemas/adaptive-card.json",
    type: "AdaptiveCard",
    version: "1.4",
    body: [plain(title, "bolder"), ...lines.map((line) => plain(line))],
    actions: [{ type: "Action.OpenUrl", title: "Open in Reckon", url }],
  };
  const attachment = { contentType: "application/vnd.microsoft.card.adaptive", contentUrl: null, content };
  return { headers: JSON_TYPE, body: JSON.stringify({ type: "message", attachments: [attachment] }) };
}

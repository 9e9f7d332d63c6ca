import { answerText } from "../../formats/step.ts";
import { asObjects, asText, type Fields, parseJson, readId } from "../../formats/values.ts";
import { keptText, MAX_TEXT_CHARS } from "./happening.ts";
import type { SpanRecord } from "./records.ts";
import { lastOf, readValue } from "./structured.ts";

/**
 * What model calls were given and gave back: messages as lists and maps, as JSON (OpenTelemetry's, and the AI SDK's `ai.prompt.messages`),
 * or attribute by attribute (OpenInference).
 */

const INPUT = "gen_ai.input.messages";
const OUTPUT = "gen_ai.output.messages";

/** Of a title, which is shown on one line. */
const MAX_TITLE_CHARS = 1_000;
/** How far the first words of a user are looked for behind what an agent is told. */
const MAX_SEARCHED_CHARS = 1024 * 1024;

/** With what opencode has a title written, in the session that it is for. */
const TITLE_WANTED = /^Generate a title for this conversation:?$/;

const isUsers = ({ role }: Fields) => role === "user";
const embeds = ({ attributes }: SpanRecord) => readId(attributes["gen_ai.operation.name"]) === "embeddings";

/** What a person asked first of those messages that a call was given; undefined where none is told. */
export function askedFirst(record: SpanRecord): string | undefined {
  if (embeds(record)) return undefined;
  for (const message of givenTo(record)) {
    const said = isUsers(message) ? answerText(message) : "";
    if (said !== "" && !TITLE_WANTED.test(said)) return said.slice(0, MAX_TITLE_CHARS).toWellFormed();
  }
  return undefined;
}

/**
 * What a person asked last, where a call answers just that: later ones are given what tools brought.
 * @returns its text, and how many of the person's messages there are, which tells it from the same words said later
 */
export function askedLast(record: SpanRecord): { readonly text: string; readonly id: string } | undefined {
  if (embeds(record) || !endsWithUser(record)) return undefined;
  const messages = givenTo(record);
  const last = messages.at(-1);
  const text = last && isUsers(last) ? keptText(answerText(last)) : undefined;
  return text === undefined ? undefined : { text, id: String(messages.filter(isUsers).length) };
}

/** Whether the last message is a user's, as far as is known without reading all of them. */
function endsWithUser({ attributes, structured }: SpanRecord): boolean {
  const text = textOf(attributes);
  if (text !== undefined) return /^"role"\s*:\s*"user"/.test(text.slice(text.lastIndexOf('"role"'), -1));
  return structured[INPUT] === undefined || asObjects([lastOf(structured[INPUT])]).some(isUsers);
}

const textOf = (attributes: Fields) => asText(attributes[INPUT]) ?? asText(attributes["ai.prompt.messages"]);

function givenTo({ attributes, structured }: SpanRecord): readonly Fields[] {
  const text = textOf(attributes);
  if (text !== undefined) return /^\s*\[/.test(text) ? asObjects(parseJson(text)) : [];
  if (structured[INPUT]) return asObjects(readValue(structured[INPUT], MAX_SEARCHED_CHARS));
  return flatMessages(attributes, "llm.input_messages");
}

/** OpenInference's messages. */
function flatMessages(attributes: Fields, list: string): Fields[] {
  const messages: Fields[] = [];
  for (;;) {
    const message = `${list}.${messages.length}.message`;
    const role = asText(attributes[`${message}.role`]);
    if (role === undefined) return messages;
    const parts: unknown[] = [attributes[`${message}.content`]];
    for (let i = 0; attributes[`${message}.contents.${i}.message_content.type`] !== undefined; i++)
      parts.push(attributes[`${message}.contents.${i}.message_content.text`]);
    messages.push({ role, content: parts });
  }
}

/** What is kept of lists and maps, and of answers that have other names or are longer than what is kept of a text. */
export function keptMessages({ attributes, structured, name }: SpanRecord): Fields {
  const kept: Record<string, unknown> = {};
  for (const one in structured)
    if (attributes[one] === undefined) kept[one] = JSON.stringify(readValue(structured[one], MAX_TEXT_CHARS));
  const text = attributes[OUTPUT];
  if (typeof text === "string" && text.length > MAX_TEXT_CHARS) kept[OUTPUT] = keptText(answerText(text) || text);
  // What stands around these calls tells the last answer again.
  if (/^ai\..*\.do(?:Generate|Stream)$/.test(name))
    kept.output = keptText(attributes["ai.response.text"]) ?? keptText(attributes["ai.response.object"]);
  const answers = flatMessages(attributes, "llm.output_messages");
  if (answers.length > 0) kept.output = keptText(answerText(answers));
  return kept;
}

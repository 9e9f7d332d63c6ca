import { answerText } from "../../formats/step.ts";
import {
  asObject,
  asObjects,
  asText,
  type Fields,
  firstOf,
  parseJson,
  readId,
  unquoted,
} from "../../formats/values.ts";
import { isObject } from "../../kit/json.ts";
import { keptText, MAX_TEXT_CHARS } from "./happening.ts";
import type { SpanRecord } from "./records.ts";
import { lastOf, readValue } from "./structured.ts";

/**
 * What model calls were given and gave back: messages as lists and maps, as JSON (OpenTelemetry's, and the AI SDK's `ai.prompt.messages`),
 * attribute by attribute (OpenInference), or as LangChain's (LangSmith). Mastra tells of an agent what it was asked.
 */

const INPUT = "gen_ai.input.messages";
const OUTPUT = "gen_ai.output.messages";
const ASKED_OF_AGENT = "mastra.agent_run.input";

/** Of a title, which is shown on one line. */
const MAX_TITLE_CHARS = 1_000;
/** How far the first words of a user are looked for behind what an agent is told. */
const MAX_SEARCHED_CHARS = 1024 * 1024;

/** The words with which opencode has a title written, in the session that the title is for. */
const TITLE_WANTED = /^Generate a title for this conversation:?$/;

/** What Copilot CLI puts before a person's words. */
const DATED = /^<current_datetime>[^<]*<\/current_datetime>\s*/;

function saidBy(message: Fields, { resource }: SpanRecord): string {
  const said = answerText(message).replace(DATED, "");
  return resource["service.name"] === "opencode" && said.length <= MAX_SEARCHED_CHARS ? unquoted(said) : said;
}
const isUsers = ({ role }: Fields) => role === "user";
const embeds = ({ attributes }: SpanRecord) => readId(attributes["gen_ai.operation.name"]) === "embeddings";

/** What a person asked first of those messages that a call was given; undefined where none is told. */
export function askedFirst(record: SpanRecord): string | undefined {
  if (embeds(record)) return undefined;
  for (const message of givenTo(record)) {
    const said = isUsers(message) ? saidBy(message, record) : "";
    if (said !== "") return said.slice(0, MAX_TITLE_CHARS).toWellFormed();
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
  const text = last && isUsers(last) ? keptText(saidBy(last, record)) : undefined;
  const id = asksAgent(record) ? record.id : String(messages.filter(isUsers).length);
  return text === undefined ? undefined : { text, id };
}

/** Whether a span is of an agent whose calls do not tell what it was asked. */
export const asksAgent = ({ attributes, parentId }: SpanRecord): boolean =>
  parentId === undefined && attributes[ASKED_OF_AGENT] !== undefined;

/** How the last message of a user begins, or a definition, which may stand behind it. */
const LAST_OF_USER = /^"role"\s*:\s*"(?:user"|tool"\s*,\s*"content"\s*:\s*\{)/;

/** Langfuse puts definitions of tools behind what LangChain was given, as messages of tools. */
const isDefinition = ({ role, content }: Fields) => role === "tool" && asObject(content).type === "function";

/** Whether the last message is a user's, as far as is known without reading all of them. */
function endsWithUser({ attributes, structured }: SpanRecord): boolean {
  const text = textOf(attributes);
  if (text !== undefined && attributes[ASKED_OF_AGENT] === text) return true;
  if (text !== undefined) return LAST_OF_USER.test(text.slice(text.lastIndexOf('"role"'), -1));
  return structured[INPUT] === undefined || asObjects([lastOf(structured[INPUT])]).some(isUsers);
}

const TEXTS = [INPUT, "ai.prompt.messages", "langfuse.observation.input", ASKED_OF_AGENT];

const textOf = (attributes: Fields) => firstOf(attributes, TEXTS, asText) ?? undefined;

function givenTo(record: SpanRecord): readonly Fields[] {
  const messages = messagesOf(record);
  const at = messages.findIndex(isUsers);
  const isTitle = at >= 0 && TITLE_WANTED.test(answerText(messages[at]));
  return isTitle ? messages.toSpliced(at, 1) : messages;
}

function messagesOf({ attributes, structured }: SpanRecord): readonly Fields[] {
  const text = textOf(attributes);
  if (text !== undefined) return messagesIn(text, attributes[ASKED_OF_AGENT] === text);
  if (structured[INPUT]) return asObjects(readValue(structured[INPUT], MAX_SEARCHED_CHARS));
  if (isLangSmith(attributes)) return ofLangChain(attributes["gen_ai.prompt"]);
  return flatMessages(attributes, "llm.input_messages");
}

function messagesIn(text: string, isQuestion: boolean): readonly Fields[] {
  if (!/^\s*[[{]/.test(text)) return isQuestion ? [{ role: "user", content: text }] : [];
  const value = parseJson(text);
  return asObjects(Array.isArray(value) ? value : asObject(value).messages).filter((one) => !isDefinition(one));
}

const isLangSmith = (attributes: Fields) => attributes["langsmith.span.kind"] !== undefined;

/** Messages of a call as LangChain writes them, some as what makes them anew. */
function ofLangChain(prompt: unknown): Fields[] {
  const { messages } = asObject(parseJson(asText(prompt) ?? ""));
  return asObjects(Array.isArray(messages) ? messages.flat() : []).map(({ kwargs, ...message }) => {
    const { type, role = type, content } = isObject(kwargs) ? asObject(kwargs) : message;
    return { role: role === "human" ? "user" : role, content };
  });
}

/** OpenInference's messages. The first is left out where it would be what an agent is told, and there is none. */
function flatMessages(attributes: Fields, list: string): Fields[] {
  const messages: Fields[] = [];
  for (let number = 0; ; number++) {
    const message = `${list}.${number}.message`;
    const role = asText(attributes[`${message}.role`]);
    if (role === undefined && number === 0) continue;
    if (role === undefined) return messages;
    const parts: unknown[] = [attributes[`${message}.content`]];
    for (let i = 0; attributes[`${message}.contents.${i}.message_content.type`] !== undefined; i++)
      parts.push(attributes[`${message}.contents.${i}.message_content.text`]);
    messages.push({ role, content: parts });
  }
}

/** Attributes to keep of a call in another form than sent: lists and maps as JSON, long answers cut, answers under other names renamed. */
export function keptMessages({ attributes, structured, name, isDetails }: SpanRecord): Fields {
  const kept: Record<string, unknown> = {};
  for (const one in structured)
    if (attributes[one] === undefined) kept[one] = JSON.stringify(readValue(structured[one], MAX_TEXT_CHARS));
  const text = attributes[OUTPUT];
  if (typeof text === "string" && text.length > MAX_TEXT_CHARS) kept[OUTPUT] = keptText(answerText(text) || text);
  // By its output a model's answer is recognised, should the span never come.
  if (isDetails) kept.output = keptText(answerText(kept[OUTPUT] ?? text));
  // The spans around these calls tell the last answer again.
  if (/^ai\..*\.do(?:Generate|Stream)$/.test(name))
    kept.output = keptText(attributes["ai.response.text"]) ?? keptText(attributes["ai.response.object"]);
  if (isLangSmith(attributes)) {
    const { generations } = asObject(parseJson(asText(attributes["gen_ai.completion"]) ?? ""));
    if (Array.isArray(generations)) kept.output = keptText(answerText(generations.flat()));
  }
  const answers = flatMessages(attributes, "llm.output_messages");
  if (answers.length > 0) kept.output = keptText(answerText(answers));
  return kept;
}

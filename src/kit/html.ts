import { unturned } from "./escape-invisible.ts";

/**
 * HTML as a value. Text becomes HTML only through `html`, which escapes every interpolation that is not `Html` already, so
 * what agents and people wrote can never become markup by being forgotten.
 */
export class Html {
  readonly #text: string;
  constructor(text: string) {
    this.#text = text;
  }
  toString(): string {
    return this.#text;
  }
}

/**
 * What a template takes: nothing for null, undefined and false; a list one after the other; everything else escaped, and with signs spelled
 * out that would turn the direction of what is read. Attributes keep them.
 */
export type Content = Html | string | number | bigint | null | undefined | false | readonly Content[];

const ESCAPES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};

/** Escapes for text and for quoted attribute values. Lone surrogates and NUL, which no document may hold, are replaced. */
export function escapeHtml(text: string): string {
  return text
    .toWellFormed()
    .replaceAll("\0", "\uFFFD")
    .replace(/[&<>"']/g, (char) => ESCAPES[char] as string);
}

function spell(content: Content): string {
  if (content === null || content === undefined || content === false) return "";
  if (content instanceof Html) return content.toString();
  if (Array.isArray(content)) return content.map(spell).join("");
  return escapeHtml(unturned(String(content)));
}

/** A template of HTML. Attribute values that are interpolated must stand in quotes; `attributes` writes whole attributes. */
export function html(parts: TemplateStringsArray, ...values: readonly Content[]): Html {
  let text = parts[0] as string;
  for (const [i, value] of values.entries()) text += spell(value) + parts[i + 1];
  return new Html(text);
}

/** Lets HTML that was made elsewhere (rendered markdown, a drawn chart) through as it is; say at the call why it is safe. */
export function trustedHtml(text: string): Html {
  return new Html(text);
}

/** Writes attributes: true stands alone, false and undefined are left out, everything else is escaped and quoted. */
export function attributes(pairs: Readonly<Record<string, string | number | boolean | undefined | null>>): Html {
  let text = "";
  for (const [name, value] of Object.entries(pairs)) {
    if (value === false || value === undefined || value === null) continue;
    text += value === true ? ` ${name}` : ` ${name}="${escapeHtml(String(value))}"`;
  }
  return new Html(text);
}

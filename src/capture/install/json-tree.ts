import { SettingsError } from "./installer.ts";

/** What an agent accepts in its settings beyond JSON (RFC 8259). What it does not accept, it would not read with our hook either. */
export interface Dialect {
  readonly comments: boolean;
  readonly trailingCommas: boolean;
  readonly byteOrderMark: boolean;
}

/** A value and where it stands: `[start, end)` in UTF-16 code units. */
export interface JsonNode {
  readonly start: number;
  readonly end: number;
  /** Members or elements in order; undefined for strings, numbers and literals. */
  readonly children: readonly JsonChild[] | undefined;
  /** After the last comma, comment or child before the closing bracket, or after the opening one. */
  readonly tail: number;
  /** Whether comments stand directly between its brackets. */
  readonly comments: boolean;
  readonly value: unknown;
}

/** A member or an element. */
export interface JsonChild {
  readonly key: string | undefined;
  /** After what stands before it, a bracket, comma or comment: from here to `start` there is white space only. */
  readonly lead: number;
  /** Where its name begins, or its value where it has none. */
  readonly start: number;
  readonly end: number;
  readonly node: JsonNode;
  /** Whether the white space before it follows a comment that reaches to the end of its line. */
  readonly afterLineComment: boolean;
  /** Position of the comma after it. */
  comma: number | undefined;
}

const MAX_DEPTH = 100;

/** Parses settings strictly. @throws SettingsError with the line of the first error; of a member that occurs twice, the second */
export function parseTree(file: string, text: string, dialect: Dialect): JsonNode {
  return new Parser(file, text, dialect).document();
}

/** The value at a path of names and indexes, or undefined. */
export function nodeAt(root: JsonNode | undefined, path: readonly (string | number)[]): JsonNode | undefined {
  let node = root;
  for (const step of path) {
    const children = node?.children;
    node = (typeof step === "number" ? children?.[step] : children?.find(({ key }) => key === step))?.node;
  }
  return node;
}

/** The 1-based line of a position. */
export const lineAt = (text: string, at: number) => text.slice(0, at).split("\n").length;

interface Gap {
  /** After the last comment, or where the gap begins. */
  readonly tail: number;
  readonly comments: boolean;
  readonly lineComment: boolean;
}

class Parser {
  readonly #file: string;
  readonly #text: string;
  readonly #dialect: Dialect;
  #at = 0;
  #depth = 0;

  constructor(file: string, text: string, dialect: Dialect) {
    this.#file = file;
    this.#text = text;
    this.#dialect = dialect;
  }

  document(): JsonNode {
    if (this.#text.startsWith("\uFEFF")) {
      if (!this.#dialect.byteOrderMark)
        this.#fail("it begins with a byte order mark, which this agent does not read", 0);
      this.#at = 1;
    }
    this.#gap();
    const root = this.#value();
    this.#gap();
    if (this.#at < this.#text.length) this.#fail("there is something after the end of the value");
    return root;
  }

  #fail(reason: string, at = this.#at): never {
    throw new SettingsError(this.#file, reason, lineAt(this.#text, at));
  }

  /** Skips white space and comments. */
  #gap(): Gap {
    let tail = this.#at;
    let comments = false;
    let lineComment = false;
    for (;;) {
      this.#take(/[ \t\r\n]+/y);
      const comment = this.#take(/\/\/[^\n]*?(?=\r?\n|$)|\/\*[\s\S]*?\*\//y);
      if (comment === undefined) return { tail, comments, lineComment };
      if (!this.#dialect.comments) this.#fail("comments are not read here by this agent", this.#at - comment.length);
      tail = this.#at;
      comments = true;
      lineComment = comment.startsWith("//");
    }
  }

  #take(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #value(): JsonNode {
    const first = this.#text[this.#at];
    if (first === "{" || first === "[") return this.#container(first === "{");
    const start = this.#at;
    const value =
      first === '"'
        ? this.#string()
        : this.#take(/(?:-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null)(?![\w.])/y);
    if (value === undefined) this.#fail(first === undefined ? "it ends too early" : "a JSON value is expected here");
    const parsed = first === '"' ? value : (JSON.parse(value) as unknown);
    return { start, end: this.#at, children: undefined, tail: this.#at, comments: false, value: parsed };
  }

  #string(): string {
    const literal = this.#take(/"(?:[^"\\\n]|\\.)*"/y);
    if (literal === undefined) this.#fail("a string does not end on its line");
    try {
      return JSON.parse(literal) as string;
    } catch {
      return this.#fail("a string is not valid JSON", this.#at - literal.length);
    }
  }

  #container(isObject: boolean): JsonNode {
    const start = this.#at++;
    if (++this.#depth > MAX_DEPTH) this.#fail(`it is nested more than ${MAX_DEPTH} deep`, start);
    const children: JsonChild[] = [];
    const names = new Set<string>();
    let comments = false;
    let gap = this.#gap();
    while (!this.#take(isObject ? /\}/y : /\]/y)) {
      if (children.length > 0 && children.at(-1)?.comma === undefined)
        this.#fail("a comma or a closing bracket is expected here");
      comments ||= gap.comments;
      const child = this.#child(isObject, gap, names);
      children.push(child);
      const before = this.#gap();
      comments ||= before.comments;
      gap = before;
      if (this.#text[this.#at] !== ",") continue;
      child.comma = this.#at++;
      gap = this.#gap();
      if (/[}\]]/.test(this.#text[this.#at] ?? "") && !this.#dialect.trailingCommas)
        this.#fail("there is a comma before a closing bracket", child.comma);
    }
    this.#depth--;
    const value = isObject
      ? Object.fromEntries(children.map(({ key, node }) => [key, node.value]))
      : children.map(({ node }) => node.value);
    return { start, end: this.#at, children, tail: gap.tail, comments: comments || gap.comments, value };
  }

  #child(isObject: boolean, gap: Gap, names: Set<string>): JsonChild {
    const start = this.#at;
    let key: string | undefined;
    if (isObject) {
      if (this.#text[start] !== '"')
        this.#fail(start < this.#text.length ? "a name in quotes is expected here" : "it ends too early");
      key = this.#string();
      if (names.has(key)) this.#fail(`${JSON.stringify(key)} stands here for the second time`, start);
      names.add(key);
      this.#gap();
      if (!this.#take(/:/y)) this.#fail("a colon is expected here");
      this.#gap();
    }
    const node = this.#value();
    return { key, lead: gap.tail, start, end: node.end, node, afterLineComment: gap.lineComment, comma: undefined };
  }
}

/**
 * One block of lines in a file that people write, between two markers. Everything outside is left byte for byte: texts are read as Latin-1,
 * which gives every byte a character of its own.
 */

const BEGIN = "<!-- reckon:lessons:begin";
const END = "<!-- reckon:lessons:end -->";
/** The marker that begins a block. Its digit says how many line ends were put before the block, so that they can be taken away again. */
const BEGIN_LINE = /^<!-- reckon:lessons:begin ([012]) [^\r\n]*-->$/;
/** The byte order mark of UTF-8, as Latin-1 reads it. */
const BOM = "\u00ef\u00bb\u00bf";
const NOTE = 'kept by "reckon agent nightly": changes in here are lost';

/** The file's marks do not make one block; nobody but a person can tell what was meant. */
export class DamagedBlockError extends Error {
  /** 1-based. */
  readonly line: number;

  constructor(line: number, message: string) {
    super(message);
    this.line = line;
  }
}

interface Block {
  /** Offsets of the first character of the marker that begins it, and behind the one that ends it. */
  readonly start: number;
  readonly end: number;
  readonly leading: number;
  /** The line end within the block; outside it may be another by now. */
  readonly eol: string;
}

interface Mark {
  readonly start: number;
  readonly end: number;
  /** 1-based. */
  readonly line: number;
  readonly text: string;
}

/** The lines of a text that are markers, or begin like one. */
function marksIn(text: string): Mark[] {
  const marks: Mark[] = [];
  let line = 1;
  // A byte order mark may precede the first line.
  for (let start = text.startsWith(BOM) ? BOM.length : 0; ; line++) {
    const next = text.indexOf("\n", start);
    const whole = next === -1 ? text.slice(start) : text.slice(start, next);
    const content = whole.endsWith("\r") ? whole.slice(0, -1) : whole;
    if (content.startsWith(BEGIN) || content === END)
      marks.push({ start, end: start + content.length, line, text: content });
    if (next === -1) return marks;
    start = next + 1;
  }
}

/** Finds the block of a text. @throws DamagedBlockError */
function findBlock(text: string): Block | undefined {
  const [first, second, third] = marksIn(text);
  if (!first) return undefined;
  const begin = BEGIN_LINE.exec(first.text);
  if (!begin)
    throw new DamagedBlockError(
      first.line,
      first.text === END ? "an end without a beginning" : "a beginning that was changed",
    );
  if (second?.text !== END) throw new DamagedBlockError(first.line, "a beginning without an end");
  if (third) throw new DamagedBlockError(third.line, "a second block");
  const eol = eolOf(text.slice(first.start, second.end));
  return { start: first.start, end: second.end, leading: Number(begin[1]), eol };
}

/** The lines between the markers; undefined where there is no block. @throws DamagedBlockError */
export function blockLines(text: string): string[] | undefined {
  const block = findBlock(text);
  return block && text.slice(block.start, block.end).split(/\r?\n/).slice(1, -1);
}

/**
 * The text with the block in it: where it stands, else at the end.
 * @param lines in Latin-1 too; none of them is a marker
 * @throws DamagedBlockError
 */
export function withBlock(text: string, lines: readonly string[]): string {
  const block = findBlock(text);
  if (block) return text.slice(0, block.start) + render(lines, block.leading, block.eol) + text.slice(block.end);
  const eol = eolOf(text);
  if (text === "" || text === BOM) return text + render(lines, 0, eol) + eol;
  if (text.endsWith(eol)) return text + eol + render(lines, 1, eol) + eol;
  return text + eol + eol + render(lines, 2, eol);
}

/** The text as it was before the block came. @throws DamagedBlockError */
export function withoutBlock(text: string): string {
  const block = findBlock(text);
  if (!block) return text;
  const { eol, leading } = block;
  let before = text.slice(0, block.start);
  let after = text.slice(block.end);
  for (let i = 0; i < leading && before.endsWith(eol); i++) before = before.slice(0, -eol.length);
  // After a file without a last line end none was added.
  if (leading < 2 && after.startsWith(eol)) after = after.slice(eol.length);
  return before + after;
}

const render = (lines: readonly string[], leading: number, eol: string) =>
  [`${BEGIN} ${leading} ${NOTE} -->`, ...lines, END].join(eol);

/** Bytes that a block of such lines takes, with its markers. */
export const blockBytes = (lines: readonly string[]): number => render(lines, 0, "\r\n").length;

const eolOf = (text: string) => (/\r\n/.test(text) ? "\r\n" : "\n");

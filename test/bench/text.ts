/** Texts for the servers to work on: made from a seed, so that every run and machine measures the same. */

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** What people and agents say most, most common first. */
const COMMON =
  `the to a and of in is for it that this with on we not be as are can from file test if you should will have use error now
when function add code run return new by or an all value type only check name path change so one data tests call read line
need has but which no at was set request make user first list after result update fix server then config string before
because response default each state message build handler cache token session query import module branch commit review
timeout retry index parse schema client missing field null array object case failing already also there output input key
version format migration column table cookie header route login payment order cart invoice queue worker lock race memory
leak deadlock rollback deploy staging release pipeline flaky snapshot fixture mock stub assert coverage lint typescript
python rust golang react component hook render style button form validation async await promise callback stream buffer
encode decode gzip socket proxy nginx docker kubernetes helm terraform region bucket upload download checksum digest
certificate permission role tenant billing webhook signature idempotent pagination cursor offset limit throttle backoff`.split(
    /\s+/,
  );

const SYLLABLES = "an ber con dal el fir gan hol in jor kel lum mer nor ol per quin ros sul tor un ver wis xan yel zor"
  .split(" ")
  .flatMap((head) => ["", "", "a", "e", "i", "o"].map((tail) => head + tail));

/** Words whose frequencies fall with their rank as those of natural language do (Zipf). */
export class Vocabulary {
  readonly words: readonly string[];
  readonly #upTo: Float64Array;

  constructor(size: number, seed = 1) {
    const next = randomOf(seed);
    const words = new Set(COMMON);
    while (words.size < size) {
      const count = next() < 0.7 ? 2 : 3;
      words.add(Array.from({ length: count }, () => SYLLABLES[Math.floor(next() * SYLLABLES.length)]).join(""));
    }
    this.words = [...words];
    let sum = 0;
    // Mandelbrot's offset flattens the first few ranks, as texts do.
    this.#upTo = Float64Array.from(this.words, (_, rank) => (sum += 1 / (rank + 3)));
  }

  pick(next: () => number): string {
    const at = next() * (this.#upTo.at(-1) as number);
    let low = 0;
    let high = this.#upTo.length - 1;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#upTo[middle] as number) < at) low = middle + 1;
      else high = middle;
    }
    return this.words[low] as string;
  }

  phrase(next: () => number, count: number): string {
    return Array.from({ length: count }, () => this.pick(next)).join(" ");
  }

  sentence(next: () => number): string {
    const text = this.phrase(next, 6 + Math.floor(next() * 14));
    return `${text[0]?.toUpperCase()}${text.slice(1)}.`;
  }

  paragraph(next: () => number, sentences: number): string {
    return Array.from({ length: sentences }, () => this.sentence(next)).join(" ");
  }

  /** e.g. `parseRetryCursor` */
  identifier(next: () => number): string {
    return Array.from({ length: 2 + Math.floor(next() * 2) }, (_, i) => {
      const word = this.pick(next);
      return i === 0 ? word : `${word[0]?.toUpperCase()}${word.slice(1)}`;
    }).join("");
  }

  code(next: () => number, lines: number): string {
    return Array.from({ length: lines }, (_, i) => {
      const [a, b, c] = [this.identifier(next), this.identifier(next), this.pick(next)];
      return [
        `  const ${a} = await ${b}(${c}, { ${this.pick(next)}: ${Math.floor(next() * 5000)} });`,
        `  if (${a}.${c} === "${this.pick(next)}") return ${b}(${a});`,
        `  expect(${a}(${b})).toEqual([${Math.floor(next() * 90)}, "${c}"]);`,
        `  for (const ${c} of ${a}.${b}) ${this.identifier(next)}.push(${c});`,
        "",
      ][i % 5];
    }).join("\n");
  }

  path(next: () => number): string {
    const folder = ["src", "test", "packages/core", "app/api", "lib"][Math.floor(next() * 5)];
    return `${folder}/${this.pick(next)}/${this.pick(next)}-${this.pick(next)}.${["ts", "py", "go", "rs", "md"][Math.floor(next() * 5)]}`;
  }
}

const hex = (next: () => number, count: number) =>
  Array.from({ length: count }, () => Math.floor(next() * 16).toString(16)).join("");

const OPAQUE = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnpqrstuvwxyz23456789";
const opaque = (next: () => number, count: number) =>
  Array.from({ length: count }, () => OPAQUE[Math.floor(next() * OPAQUE.length)]).join("");

const SESSION_ENTRIES = 150;

/** The session that an entry of a device is of. */
export const sessionOf = (device: number, seq: number): string => `ses_${device}_${Math.floor(seq / SESSION_ENTRIES)}`;

/**
 * The payload of one telemetry entry, around 400 bytes as JSON. As in transcripts of real agents, about one in a hundred makes
 * the scan for secrets look twice; one in a thousand holds one.
 * @param sessionId of the session that the entry is of; one of its own otherwise
 */
export function telemetryPayload(
  words: Vocabulary,
  next: () => number,
  sessionId = `ses_${hex(next, 12)}`,
): Record<string, unknown> {
  const base = { sessionId, cwd: "/home/dev/work/shop" };
  const kind = next();
  const risk = next();
  if (risk < 0.001)
    return { ...base, type: "tool_call", tool: "Bash", command: `export DB_PASSWORD=${opaque(next, 18)} && make seed` };
  if (risk < 0.005)
    return { ...base, type: "tool_result", output: `Authorization: Bearer $TOKEN\n${words.code(next, 4)}` };
  if (kind < 0.1) return { ...base, type: "prompt", text: words.paragraph(next, 3) };
  if (kind < 0.35)
    return {
      ...base,
      type: "assistant_message",
      model: "large-2",
      text: words.paragraph(next, 2),
      usage: {
        id: `msg_${hex(next, 12)}`,
        input_tokens: Math.floor(next() * 90_000),
        output_tokens: Math.floor(next() * 900),
        cached: next() < 0.8,
      },
    };
  if (kind < 0.5)
    return { ...base, type: "tool_call", tool: "Read", input: { file_path: words.path(next), limit: 200 } };
  if (kind < 0.65)
    return {
      ...base,
      type: "tool_call",
      tool: "Edit",
      input: { file_path: words.path(next), old_string: words.code(next, 2), new_string: words.code(next, 3) },
    };
  if (kind < 0.75)
    return { ...base, type: "tool_call", tool: "Bash", command: `npx vitest run ${words.path(next)} 2>&1 | tail -40` };
  return {
    ...base,
    type: "tool_result",
    tool: "Bash",
    exitCode: next() < 0.8 ? 0 : 1,
    durationMs: Math.floor(next() * 20_000),
    output: `${words.path(next)}:${Math.floor(next() * 400)}\n${words.code(next, 5)}\n${words.sentence(next)}`,
  };
}

/** A section of a brain file: a heading and around 600 characters of prose, list and code. */
export function brainSection(words: Vocabulary, next: () => number): string {
  const day = String(1 + Math.floor(next() * 28)).padStart(2, "0");
  const parts = [`## 2026-0${1 + Math.floor(next() * 9)}-${day} ${words.phrase(next, 3)}`, words.paragraph(next, 3)];
  if (next() < 0.4)
    parts.push(Array.from({ length: 3 }, () => `- ${words.phrase(next, 8)} \`${words.identifier(next)}\``).join("\n"));
  if (next() < 0.3) parts.push(`\`\`\`ts\n${words.code(next, 4)}\n\`\`\``);
  parts.push(`**Prevention rule:** ${words.sentence(next)}`);
  return parts.join("\n\n");
}

/** Where brains keep things; the search reads the kind of an entry from it. */
export function brainPath(words: Vocabulary, next: () => number, i: number): string {
  const folder = ["errors", "decisions", "sessions", "security", "anti-patterns", "notes"][i % 6];
  return `.claude/brain/${folder}/${String(i).padStart(4, "0")}-${words.pick(next)}-${words.pick(next)}.md`;
}

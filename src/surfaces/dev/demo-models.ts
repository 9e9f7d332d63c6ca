/** What the demo team's agents run on. */
export interface Model {
  readonly agent: string;
  readonly model: string;
  readonly provider: string;
  /** US dollars a million tokens (input, output), with which the agent itself reports its cost; null when it reports none. */
  readonly price: readonly [number, number] | null;
  /** Times in ten that a session runs on it. */
  readonly share: number;
}

const MODELS: readonly Model[] = [
  { agent: "claude-code", model: "claude-sonnet-4-6", provider: "anthropic", price: [3, 15], share: 4 },
  { agent: "claude-code", model: "claude-opus-4-7", provider: "anthropic", price: [5, 25], share: 2 },
  { agent: "codex", model: "gpt-5.3-codex", provider: "openai", price: null, share: 2 },
  { agent: "gemini-cli", model: "gemini-3.1-pro-preview", provider: "gcp.gemini", price: null, share: 1 },
  // A model of one's own, which no price table knows.
  { agent: "opencode", model: "brightloom-coder-30b", provider: "self-hosted", price: null, share: 1 },
];

const DRAWN = MODELS.flatMap((model) => Array<Model>(model.share).fill(model));

/** @param roll draws whole numbers below a bound */
export const drawModel = (roll: (below: number) => number) => DRAWN[roll(DRAWN.length)] as Model;

import { PARCELS } from "./demo-tasks-parcels.ts";
import { SHOP } from "./demo-tasks-shop.ts";

/** What the demo team's agents were asked to do: two repositories of an invented web shop. */

export const REPOS = { shop: "github.com/brightloom/shop", parcels: "github.com/brightloom/parcel-sync" } as const;
export type Repo = keyof typeof REPOS;

/** Whose machines, by number. */
export const DEVICES = ["Mira's laptop", "Tomas's laptop", "build agent 2"] as const;

export interface Task {
  readonly branch: string;
  /** The number of the device that works on it. */
  readonly device: 0 | 1 | 2;
  /** Files that are read, then edited. */
  readonly files: readonly string[];
  readonly command: string;
  /** Of its commits. */
  readonly message: string;
  /** The sessions it took. */
  readonly sessions: readonly PlannedSession[];
}

export interface PlannedSession {
  /** Working days before the instance's start. */
  readonly on: number;
  readonly outcome: "success" | "partial" | "failure" | "abandoned";
  /** What was asked, in turns. */
  readonly prompts: readonly string[];
}

export const TASKS: readonly (Task & { readonly repo: Repo })[] = [
  ...SHOP.map((task) => ({ ...task, repo: "shop" as const })),
  ...PARCELS.map((task) => ({ ...task, repo: "parcels" as const })),
];

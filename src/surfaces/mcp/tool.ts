import * as v from "valibot";
import type { Schema } from "../../platform/http/read-json.ts";
import type { Answer } from "./answer.ts";
import type { Visit } from "./reader.ts";

/** A tool of the server (MCP 2026-07-28, "Tools"). */
export interface Tool {
  readonly name: string;
  readonly title: string;
  /** For the model. */
  readonly description: string;
  readonly args: Schema;
  /** Only for devices: a read token may not call it. */
  readonly deviceOnly?: true;
  readonly call: (visit: Visit, args: never) => Promise<Answer>;
}

/** Declares a tool. */
export const tool = <S extends Schema>(
  declared: Omit<Tool, "args" | "call"> & {
    readonly args: S;
    readonly call: (visit: Visit, args: v.InferOutput<S>) => Promise<Answer>;
  },
): Tool => declared as Tool;

const text = (most: number, description: string) =>
  v.pipe(v.string(), v.minLength(1), v.maxLength(most), v.description(description));

/** Arguments that several tools take. */
export const REPO = v.optional(
  text(512, "Key of the repository, such as github.com/acme/shop; all of them without it."),
);
export const TEAM = v.optional(text(256, "Name or id of the team, where the token opens several."));

export { text as shortText };

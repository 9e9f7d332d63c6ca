import type * as v from "valibot";
import type { LocalInstance } from "../types.ts";

/** A request for a control route, validated. */
export interface ControlCall<B = unknown> {
  readonly local: LocalInstance;
  readonly body: B;
  readonly query: URLSearchParams;
  /** The value for `:id` in the path. */
  readonly id: string;
}

/** A control route as it is declared. */
export interface Declared {
  readonly method: "GET" | "POST" | "DELETE";
  /** `:id` stands for a part that varies. */
  readonly path: `/_dev${string}`;
  /** What it does, for the index. */
  readonly description: string;
  readonly body?: v.GenericSchema | undefined;
  readonly example?: unknown;
  handle(call: ControlCall): object | Promise<object>;
}

/** Declares a control route. Unknown members of a body are refused, because a misspelt one would do nothing. */
export function control<S extends v.GenericSchema | undefined = undefined>(
  spec: Omit<Declared, "handle" | "body"> & { readonly body?: S },
  handle: (call: ControlCall<S extends v.GenericSchema ? v.InferOutput<S> : undefined>) => object | Promise<object>,
): Declared {
  return { ...spec, handle };
}

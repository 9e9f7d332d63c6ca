import { ONE_LINE } from "../../../platform/http/fields.ts";

/** What we use of JSON Schema in our own document. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly required?: readonly string[];
  readonly description?: string;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly pattern?: string;
}

/** A member of a body, at whatever depth. */
export interface Member {
  /** Dotted, with `[]` for what stands in a list: `hits[].line`. */
  readonly path: string;
  readonly required: boolean;
  readonly type: string;
  readonly description: string;
}

const MAX_DEPTH = 6;
const MAX_PATTERN_CHARS = 60;
/** An object with fewer members is listed again wherever it comes. */
const MIN_SAME = 3;

/** Lists the members of a body's schema, outer before inner; an object that comes again is referred to. */
export function membersOf(schema: Schema, follow: (schema: Schema) => Schema): Member[] {
  const found: Member[] = [];
  const listed = new Map<string, string>();
  /** The path under which the members of this object were listed before; if there is none, notes that they are listed here. */
  const sameAs = (at: Schema, path: string): string | undefined => {
    const inner = innermost(at, follow);
    if (Object.keys(inner.properties ?? {}).length < MIN_SAME) return undefined;
    const key = JSON.stringify(inner);
    const before = listed.get(key);
    if (before === undefined) listed.set(key, path);
    return before;
  };
  const add = (path: string, required: boolean, at: Schema, description: string | undefined, depth: number) => {
    const same = sameAs(at, path);
    found.push({
      ...{ path, required, type: typeOf(at, follow) },
      description: [description, bounds(nonNull(at, follow)), same !== undefined && `Like \`${same}\`.`]
        .filter(Boolean)
        .join(" "),
    });
    if (same === undefined) walk(at, path, depth + 1);
  };
  const walk = (at: Schema, prefix: string, depth: number): void => {
    const one = nonNull(follow(at), follow);
    if (one.type === "array" && one.items) walk(one.items, `${prefix}[]`, depth);
    if (one.type === "array" || depth > MAX_DEPTH) return;
    const below = (name: string) => (prefix === "" ? name : `${prefix}.${name}`);
    for (const [name, member] of Object.entries(one.properties ?? {})) {
      const shown = follow(member);
      add(below(name), one.required?.includes(name) ?? false, shown, shown.description, depth);
    }
    const { additionalProperties: rest } = one;
    if (typeof rest === "object") add(below("*"), false, follow(rest), "Any name.", depth);
    else if (rest === true && Object.keys(one.properties ?? {}).length > 0)
      found.push({ path: below("…"), required: false, type: "any", description: "Further members are welcome." });
  };
  walk(schema, "", 0);
  return found;
}

/** What a list, or a list of lists, is made of. */
function innermost(schema: Schema, follow: (schema: Schema) => Schema): Schema {
  const one = nonNull(follow(schema), follow);
  return one.type === "array" && one.items ? innermost(one.items, follow) : one;
}

/** A schema that may also be null, without the null. */
function nonNull(schema: Schema, follow: (schema: Schema) => Schema): Schema {
  const others = (schema.anyOf ?? []).map(follow).filter(({ type }) => type !== "null");
  return others.length === 1 && others[0] ? others[0] : schema;
}

/** What a value may be, in words. */
export function typeOf(schema: Schema, follow: (schema: Schema) => Schema): string {
  if (schema.anyOf) return [...new Set(schema.anyOf.map((one) => typeOf(follow(one), follow)))].join(" or ");
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum) return schema.enum.map((value) => JSON.stringify(value)).join(" or ");
  if (schema.type === "array") return `array of ${plural(schema.items ? typeOf(follow(schema.items), follow) : "any")}`;
  return schema.type === "number" ? "number" : (schema.format ?? schema.type ?? "any");
}

const plural = (type: string) => (/^[a-z-]+$/.test(type) && type !== "any" ? `${type}s` : type);

/** Bounds that the type alone does not tell. */
function bounds({ minimum, maximum, maxLength, maxItems, pattern }: Schema): string {
  const said = [
    minimum !== undefined && minimum !== 0 && `at least ${minimum}`,
    maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    maxLength !== undefined && `at most ${maxLength} characters`,
    maxItems !== undefined && `at most ${maxItems} items`,
    pattern === ONE_LINE && "one line",
    // Longer ones are for programs; what they say stands in words beside them.
    pattern !== undefined && pattern !== ONE_LINE && pattern.length <= MAX_PATTERN_CHARS && `matches ${pattern}`,
  ].filter(Boolean);
  return said.length === 0 ? "" : `${said.join(", ").replace(/^./, (first) => first.toUpperCase())}.`;
}

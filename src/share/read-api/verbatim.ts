import { isObject } from "../../kit/json.ts";

/** JSON text that goes into a reply as it is stored: reading it and writing it anew would round large numbers. */
export class Verbatim {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

/** Writes a reply as JSON (RFC 8259), with verbatim texts in their places. Members that are undefined are left out. */
export function render(value: unknown): string {
  if (value instanceof Verbatim) return value.text;
  if (Array.isArray(value)) return `[${value.map(render).join(",")}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members.map(([name, member]) => `${JSON.stringify(name)}:${render(member)}`).join(",")}}`;
}

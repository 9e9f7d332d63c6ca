/**
 * Lays JSON text out over lines for people, two spaces a level, without parsing it: numbers, escapes and duplicate members
 * stay as they are spelled.
 * @param text text that `JSON.parse` accepts
 * @param most characters of the result
 * @returns undefined when the result would be longer: deep nesting costs many spaces a line
 */
export function indentJson(text: string, most: number): string | undefined {
  const parts: string[] = [];
  let length = 0;
  let depth = 0;
  const put = (part: string) => {
    parts.push(part);
    length += part.length;
  };
  const feed = () => put(`\n${"  ".repeat(depth)}`);
  for (const { 0: token } of text.matchAll(/"[^"\\]*(?:\\.[^"\\]*)*"|[^\s"{}[\],:]+|\{\s*\}|\[\s*\]|[{}[\],:]/g)) {
    if (length > most) return undefined;
    if (token === "{" || token === "[") {
      put(token);
      depth++;
      feed();
    } else if (token === "}" || token === "]") {
      depth--;
      feed();
      put(token);
    } else if (token === ",") {
      put(token);
      feed();
    } else if (token === ":") put(": ");
    else put(/^[{[]/.test(token) ? token.replace(/\s/g, "") : token);
  }
  return length > most ? undefined : parts.join("");
}

/** JSON text laid out over lines; as it is spelled where that would make it more than four times as long. */
export const layOutJson = (text: string): string => indentJson(text, text.length * 4 + 1_024) ?? text;

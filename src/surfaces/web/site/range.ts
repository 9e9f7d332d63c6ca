/** What part of a file a reader asks for (RFC 9110 section 14); both ends are included. */
export type Wanted =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly first: number; readonly last: number }
  | { readonly kind: "unsatisfiable" };

/**
 * Reads `Range`. Several ranges, other units and what cannot be read are answered with the whole, as section 14.2 allows; a range
 * is honoured only while `If-Range` names the file as it is now (by its strong entity tag).
 * @param size of the file in bytes, above 0
 */
export function readRange(range: string | null, ifRange: string | null, etag: string, size: number): Wanted {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range?.trim() ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return { kind: "whole" };
  if (ifRange !== null && ifRange.trim() !== etag) return { kind: "whole" };
  if (match[1] === "") {
    // The last so many bytes.
    const length = Number(match[2]);
    if (length === 0) return { kind: "unsatisfiable" };
    return { kind: "part", first: Math.max(0, size - length), last: size - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== "" && Number(match[2]) < first) return { kind: "whole" };
  return first >= size ? { kind: "unsatisfiable" } : { kind: "part", first, last };
}

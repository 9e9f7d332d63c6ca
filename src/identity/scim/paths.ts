import { fail } from "../../kit/problem.ts";
import { invalidFilter, invalidPath } from "./problems.ts";

/**
 * The path of a value: `name.givenName`, `emails[type eq "work"].value` (RFC 7644 section 3.5.2). In lower case, except for the operand.
 */
export interface Path {
  readonly attribute: string;
  /** Within the brackets. */
  readonly filter: Comparison | undefined;
  readonly sub: string | undefined;
}

/** `ATTRIBUTE eq VALUE`, all that is understood of filters. */
interface Comparison {
  readonly attribute: string;
  readonly operand: string;
}

const MAX_CHARS = 1_000;
const CORE = /^urn:ietf:params:scim:schemas:core:2\.0:(?:User|Group):/i;
const COMPARISON = /^([a-z$][\w$.-]*)\s+eq\s+(?:("(?:[^"\\]|\\.)*")|(true|false))$/i;
const PATH = /^([a-z$][\w$-]*)(?:\[([^\]]*)\])?(?:\.([a-z$][\w$-]*))?$/i;

function comparisonIn(text: string): Comparison | undefined {
  const [, attribute, quoted, literal] = COMPARISON.exec(text.trim()) ?? [];
  if (attribute === undefined) return undefined;
  const operand = quoted === undefined ? literal?.toLowerCase() : unquoted(quoted);
  return operand === undefined ? undefined : { attribute: attribute.toLowerCase(), operand };
}

function unquoted(quoted: string): string | undefined {
  try {
    return JSON.parse(quoted) as string;
  } catch {
    return undefined;
  }
}

/** Reads a path. @returns undefined for a path into an extension, since none is stored @throws Problem */
export function pathIn(text: string): Path | undefined {
  const own = text.trim().replace(CORE, "");
  if (/^urn:/i.test(own) && own.length <= MAX_CHARS) return undefined;
  const [, attribute, brackets, sub] = own.length > MAX_CHARS ? [] : (PATH.exec(own) ?? []);
  if (attribute === undefined) fail(invalidPath, "The path names no attribute.");
  const filter = brackets === undefined ? undefined : comparisonIn(brackets);
  if (brackets !== undefined && !filter)
    fail(invalidPath, 'Of paths with a filter only [ATTRIBUTE eq "VALUE"] is taken.');
  return { attribute: attribute.toLowerCase(), filter, sub: sub?.toLowerCase() };
}

/** Reads the filter of a list; `emails[type eq "work"].value eq "…"` is one by `emails.value`. @throws Problem */
export function filterIn(text: string): Comparison {
  const own = text
    .trim()
    .replace(CORE, "")
    .replace(/^emails\[\s*type\s+eq\s+"work"\s*\]\.value(?=\s)/i, "emails.value");
  return (own.length > MAX_CHARS ? undefined : comparisonIn(own)) ?? fail(invalidFilter);
}

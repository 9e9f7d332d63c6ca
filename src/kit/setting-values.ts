import { isIP } from "node:net";
import * as v from "valibot";
import type { Quota } from "./buckets.ts";
import { DAY_MS, MINUTE_MS, parseDuration, SECOND_MS } from "./clock.ts";

/** Readers of settings: each gives the value of a text, or a sentence on what is wrong with it. */

/** Any text. */
export const text = (text: string) => ({ value: text });

/** A whole number within bounds, both included. */
export function whole(min: number, max: number) {
  const schema = v.pipe(v.string(), v.regex(/^\d{1,15}$/), v.transform(Number), v.minValue(min), v.maxValue(max));
  return (raw: string) => {
    const parsed = v.safeParse(schema, raw.trim());
    return parsed.success ? { value: parsed.output } : { wrong: `must be a whole number from ${min} to ${max}` };
  };
}

/** One of some words. */
export function oneOf<const T extends readonly string[]>(choices: T) {
  return (raw: string) =>
    choices.includes(raw) ? { value: raw as T[number] } : { wrong: `must be one of ${choices.join(", ")}` };
}

/** How often something may be done: `600/60` for 600 in 60 seconds; null for off. */
export function quota(raw: string): { value: Quota | null } | { wrong: string } {
  if (raw.trim() === "off") return { value: null };
  const match = /^(\d{1,9})\/(\d{1,7})$/.exec(raw.trim());
  const count = Number(match?.[1]);
  const seconds = Number(match?.[2]);
  return match && count > 0 && seconds > 0
    ? { value: { count, seconds } }
    : { wrong: "must be COUNT/SECONDS such as 600/60, or off" };
}

/** How often something is done, in milliseconds: `30m`, `24h`, `7d`; null for off. */
export function every(raw: string): { value: number | null } | { wrong: string } {
  if (raw.trim() === "off") return { value: null };
  const ms = parseDuration(raw) ?? 0;
  return ms >= MINUTE_MS && ms <= 365 * DAY_MS
    ? { value: ms }
    : { wrong: "must be a span from a minute to a year such as 30m, 24h or 7d, or off" };
}

/** How long something lasts, in milliseconds, from a second to a day: `30s`, `5m`. */
export function span(raw: string): { value: number } | { wrong: string } {
  const ms = parseDuration(raw) ?? 0;
  return ms >= SECOND_MS && ms <= DAY_MS
    ? { value: ms }
    : { wrong: "must be a span from a second to a day such as 5m" };
}

/** Where a service answers, without a path: `https://s3.example.com`. */
export function origin(raw: string): { value: string } | { wrong: string } {
  const url = URL.canParse(raw) ? new URL(raw) : undefined;
  const isOrigin = url && /^https?:$/.test(url.protocol) && `${url.origin}/` === url.href;
  return isOrigin
    ? { value: url.origin }
    : { wrong: "must be an address such as https://s3.example.com, without a path" };
}

/** A public address, its sub-path included. */
export function baseUrl(raw: string): { value: string | null } | { wrong: string } {
  if (!URL.canParse(raw)) return { wrong: "must be an absolute URL such as https://reckon.example.com/sub" };
  const url = new URL(raw);
  if (url.protocol !== "http:" && url.protocol !== "https:") return { wrong: "must begin with http:// or https://" };
  if (url.search || url.hash || url.username) return { wrong: "must have no query, fragment or user name" };
  return { value: url.origin + url.pathname.replace(/\/+$/, "") };
}

/** An address or the name of one, without the brackets that an IPv6 address has in URLs; undefined for anything else. */
function hostOf(raw: string): string | undefined {
  const bare = raw.replace(/^\[(.*)\]$/, "$1");
  const isHost =
    bare === raw ? isIP(bare) !== 0 || /^[A-Za-z0-9_](?:[A-Za-z0-9_.-]*[A-Za-z0-9_])?$/.test(bare) : isIP(bare) === 6;
  // A URL cannot hold an IPv6 zone, nor a name that ends in a number.
  return isHost && URL.canParse(`http://${isIP(bare) === 6 ? `[${bare}]` : bare}`) ? bare : undefined;
}

/** Where to listen: an address, or a name of this machine. */
export function listenHost(raw: string): { value: string } | { wrong: string } {
  const host = hostOf(raw.trim());
  return host === undefined
    ? { wrong: "must be an address or a host name such as 127.0.0.1 or ::1, without a port" }
    : { value: host };
}

/** Where to listen, `HOST:PORT`; null for off. */
export function hostPort(raw: string): { value: string | null } | { wrong: string } {
  if (raw === "off") return { value: null };
  const [, named = "", port] = /^(.+):(\d{1,5})$/.exec(raw) ?? [];
  const host = hostOf(named);
  return host !== undefined && Number(port) < 65_536
    ? { value: `${host}:${port}` }
    : { wrong: "must be HOST:PORT, or off" };
}

/** The name of a header, in lower case (RFC 9110 section 5.1). */
export const headerName = (raw: string): { value: string } | { wrong: string } =>
  /^[A-Za-z][A-Za-z0-9-]{0,60}$/.test(raw) ? { value: raw.toLowerCase() } : { wrong: "must be the name of a header" };

/** A host that may be called: `hooks.example.com`, `*.example.com`, either with a port. */
interface HostRule {
  /** As the URL standard normalises it, without a trailing dot; for a wildcard, the part after `*.`. */
  readonly host: string;
  readonly wildcard: boolean;
  /** Undefined for the protocol's default port. */
  readonly port: number | undefined;
}

/** What may be called from here. */
export interface Egress {
  readonly hosts: readonly HostRule[];
  /** Whether hosts on this machine and in private networks may be called. */
  readonly private: boolean;
}

const PRIVATE = "+private";
const RULE = /^(\*\.)?(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]\\*+]+)(?::(\d{1,5}))?$/;

/**
 * A host as the URL standard normalises it: lower case, punycode, numbers as an address, no trailing dot; undefined when the text is no
 * host.
 */
export function hostName(text: string): string | undefined {
  if (!URL.canParse(`http://${text}/`)) return undefined;
  return new URL(`http://${text}/`).hostname.replace(/\.$/, "") || undefined;
}

function readRule(text: string): HostRule | undefined {
  const [, star, typed = "", digits] = RULE.exec(text) ?? [];
  const host = hostName(typed);
  const port = digits === undefined ? undefined : Number(digits);
  if (host === undefined || port === 0 || (port ?? 0) > 65_535) return undefined;
  return { host, wildcard: star !== undefined, port };
}

/** Reads a list as `hooks.slack.com,*.example.com:8443,+private`. @returns the part that cannot be understood, if there is one */
export function readEgress(text: string): Egress | { readonly unreadable: string } {
  const parts = text
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  const hosts: HostRule[] = [];
  for (const part of parts) {
    if (part === PRIVATE) continue;
    const rule = readRule(part);
    if (!rule) return { unreadable: part };
    hosts.push(rule);
  }
  return { hosts, private: parts.includes(PRIVATE) };
}

/** The items of a list, each as it is written in the setting. */
export function egressItems({ hosts, private: reachesPrivate }: Egress): string[] {
  const rules = hosts.map(
    ({ host, wildcard, port }) => `${wildcard ? "*." : ""}${host}${port === undefined ? "" : `:${port}`}`,
  );
  return [...rules, ...(reachesPrivate ? [PRIVATE] : [])];
}

/** A list for a person to read; `nothing` for an empty one. */
export const egressText = (egress: Egress): string => egressItems(egress).join(", ") || "nothing";

/** Whether a host may be called at a port. @param own whether the port is the protocol's default */
export function allows({ hosts }: Egress, host: string, port: number, own: boolean): boolean {
  return hosts.some((rule) => {
    if (rule.port === undefined ? !own : rule.port !== port) return false;
    return rule.wildcard ? host.endsWith(`.${rule.host}`) : host === rule.host;
  });
}

/** Where mail is handed over. */
export interface MailServer {
  readonly host: string;
  readonly port: number;
  /** TLS from the first byte; otherwise STARTTLS, without which nothing is sent. */
  readonly implicitTls: boolean;
  readonly user: string | undefined;
}

/** Reads `smtp://USER@HOST:587` or `smtps://USER@HOST:465`, or says what is wrong with it. A password is no part of it. */
export function mailServer(text: string): { readonly value: MailServer } | { readonly wrong: string } {
  const wrong = { wrong: "must be smtp://USER@HOST:PORT or smtps://USER@HOST:PORT, without a password" };
  if (!URL.canParse(text)) return wrong;
  const url = new URL(text);
  const implicitTls = url.protocol === "smtps:";
  // `URL` leaves the host as it was typed when it does not know the scheme.
  const host = hostName(url.hostname);
  const isBare = url.password === "" && ["", "/"].includes(url.pathname) && url.search === "" && url.hash === "";
  if (!(implicitTls || url.protocol === "smtp:") || host === undefined || !isBare) return wrong;
  const port = Number(url.port || (implicitTls ? 465 : 587));
  try {
    return { value: { host, port, implicitTls, user: decodeURIComponent(url.username) || undefined } };
  } catch {
    return wrong;
  }
}

/** Reads an address that mail comes from, or says what is wrong with it. */
export const senderAddress = (text: string): { readonly value: string } | { readonly wrong: string } =>
  /^[^\s@<>",;]+@[^\s@<>",;]+$/.test(text)
    ? { value: text }
    : { wrong: "must be an address such as reckon@example.com" };

/** A host that may be called: `hooks.example.com`, `*.example.com`, either with a port. */
interface HostRule {
  /** As the URL standard spells it, without a dot at its end; of a wildcard what follows `*.`. */
  readonly host: string;
  readonly wildcard: boolean;
  /** Undefined for the port that a protocol has by itself. */
  readonly port: number | undefined;
}

/** What may be called from here. */
export interface Egress {
  readonly hosts: readonly HostRule[];
  /** Whether a host may be on this machine, or in a network of one's own. */
  readonly private: boolean;
}

const PRIVATE = "+private";
const RULE = /^(\*\.)?(\[[0-9a-fA-F:.]+\]|[^\s:/?#@[\]\\*+]+)(?::(\d{1,5}))?$/;

/** A host as the URL standard spells it: lower case, punycode, numbers as an address, no dot at its end; undefined for none. */
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

/** Whether a host may be called at a port. @param own the port is the one that the protocol has by itself */
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
  /** TLS from the first byte; else by STARTTLS, without which nothing is sent. */
  readonly implicitTls: boolean;
  readonly user: string | undefined;
}

/** Reads `smtp://USER@HOST:587` or `smtps://USER@HOST:465`, or says what is wrong with it. A password is no part of it. */
export function mailServer(text: string): { readonly value: MailServer } | { readonly wrong: string } {
  const wrong = { wrong: "must be smtp://USER@HOST:PORT or smtps://USER@HOST:PORT, without a password" };
  if (!URL.canParse(text)) return wrong;
  const url = new URL(text);
  const implicitTls = url.protocol === "smtps:";
  // Schemes that the URL standard does not know have hosts as they were typed.
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

import { isIP } from "node:net";
import type { Core } from "../../core.ts";
import { allows, egressItems, hostName } from "../../kit/egress.ts";
import { reachOf } from "./addresses.ts";

/** Nothing was sent, because the destination is not allowed. */
export class OutboundRefused extends Error {
  override readonly name = "OutboundRefused";
  /** What to add to RECKON_OUTBOUND, where that would allow it. */
  readonly add: string | undefined;
  constructor(message: string, add?: string) {
    super(message);
    this.add = add;
  }
}

/** Where something may be sent: a host as it is connected to. */
export interface Destination {
  readonly host: string;
  readonly port: number;
}

const MAX_URL_CHARS = 2_000;
const PORTS: Readonly<Record<string, number>> = { "https:": 443, "http:": 80 };
/** Ports of mail servers (RFC 5321, 6409 and 8314). */
const MAIL_PORTS: readonly number[] = [25, 465, 587];

/**
 * The URL that a request may go to, judged in its parsed form and not as it is spelled.
 * @throws OutboundRefused
 */
export function judgeUrl({ config }: Pick<Core, "config">, text: string): URL {
  if (text.length > MAX_URL_CHARS || !URL.canParse(text)) throw new OutboundRefused("The address is no URL.");
  const url = new URL(text);
  const own = PORTS[url.protocol];
  if (own === undefined) throw new OutboundRefused("The URL has to begin with https://.");
  if (url.username !== "" || url.password !== "") throw new OutboundRefused("The URL may not hold a user name.");
  const port = url.port === "" ? own : Number(url.port);
  judgeHost({ config }, url.hostname, port, port === own);
  if (url.protocol === "http:" && !config.outbound.private)
    throw new OutboundRefused("The URL has to begin with https:// where private addresses are not allowed.");
  // A trailing dot marks a name as complete; some resolvers, and certificates, know the name only without it.
  url.hostname = url.hostname.replace(/\.$/, "");
  return url;
}

/** As `judgeUrl`, for a mail server. @throws OutboundRefused */
export const judgeMailHost = (core: Pick<Core, "config">, host: string, port: number): Destination =>
  judgeHost(core, host, port, MAIL_PORTS.includes(port));

function judgeHost({ config }: Pick<Core, "config">, typed: string, port: number, own: boolean): Destination {
  const name = hostName(typed);
  if (name === undefined) throw new OutboundRefused("The address names no host.");
  const host = name.replace(/^\[|\]$/g, "");
  // No setting allows such an address, so none is advised.
  if (isIP(host) !== 0 && reachOf(host) === "never") requireReach({ config }, host);
  const add = own ? name : `${name}:${port}`;
  if (!allows(config.outbound, name, port, own))
    throw new OutboundRefused(`RECKON_OUTBOUND does not list ${add}.`, add);
  // A name is judged by its addresses, once it is connected to.
  if (isIP(host) !== 0) requireReach({ config }, host);
  return { host, port };
}

/** @throws OutboundRefused for an address that nothing is sent to */
export function requireReach({ config }: Pick<Core, "config">, address: string): void {
  const reach = reachOf(address);
  if (reach === "public" || (reach === "private" && config.outbound.private)) return;
  if (reach === "private")
    throw new OutboundRefused(
      "The host has a private address, and RECKON_OUTBOUND does not have +private.",
      "+private",
    );
  throw new OutboundRefused("The host has an address that nothing is sent to.");
}

/** The setting that would allow it: the current list, and what is missing. */
export function listLine({ config }: Pick<Core, "config">, add: string): string {
  return `RECKON_OUTBOUND=${[...egressItems(config.outbound), add].join(",")}`;
}

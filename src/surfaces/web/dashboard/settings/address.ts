import { isIP } from "node:net";
import { proxyRanges } from "../../../../config.ts";
import { plainAddress } from "../../../../kit/address.ts";

/** What is known of how a request came here. */
export interface Arrival {
  /** The socket's other end. */
  readonly peer: string;
  readonly forwardedFor: string | null;
  readonly forwardedHost: string | null;
  readonly forwardedProto: string | null;
  readonly host: string | null;
  /** The page it came from, which tells the origin that the browser sees. */
  readonly referer: string | null;
  readonly baseUrl: string;
  readonly trustedProxies: readonly string[];
}

export interface AddressWarning {
  readonly intro: string;
  /** A setting that would mend it. */
  readonly setting: string;
}

/** As the setting has it: without the interface that a socket names. */
const bare = (peer: string) => plainAddress(peer).split("%")[0] as string;

/** Where the browser thinks it is, as far as can be told; undefined when it cannot. */
function seenOrigin({ referer, forwardedHost, forwardedProto, forwardedFor, host }: Arrival): string | undefined {
  // Our own pages send no referrer to others, so one that is here names the origin that the browser shows.
  if (referer !== null && URL.canParse(referer)) return new URL(referer).origin;
  const forwarded = forwardedHost?.split(",")[0]?.trim();
  // A proxy that forwards may set Host to whatever it calls us by.
  const name = forwarded || (forwardedFor === null ? host : null);
  const address = `${forwardedProto?.split(",")[0]?.trim() || "http"}://${name}`;
  return name && URL.canParse(address) ? new URL(address).origin : undefined;
}

/** What looks wrong about proxies and addresses, from one request of an operator's. */
export function judgeArrival(arrival: Arrival): AddressWarning[] {
  const { peer, forwardedFor, trustedProxies, baseUrl } = arrival;
  const warnings: AddressWarning[] = [];
  const address = bare(peer);
  const family = isIP(address) === 6 ? "ipv6" : "ipv4";
  if (forwardedFor !== null && isIP(address) !== 0 && !proxyRanges(trustedProxies).check(address, family))
    warnings.push({
      intro: `This request came through a proxy at ${address}, which is not trusted: everybody behind it shares one address, in quotas, in sign-ins and in the audit.`,
      setting: `RECKON_TRUSTED_PROXIES=${[...trustedProxies, address].join(",")}`,
    });
  const seen = seenOrigin(arrival);
  if (seen !== undefined && seen !== new URL(baseUrl).origin)
    warnings.push({
      intro: `This page was opened at ${seen}, but the base URL is ${baseUrl}: links that Reckon makes lead there, and licences and tokens name it.`,
      setting: `RECKON_BASE_URL=${seen}${new URL(baseUrl).pathname.replace(/\/$/, "")}`,
    });
  return warnings;
}

import { BlockList, isIP } from "node:net";
import { lazy } from "../../kit/lazy.ts";

/** Where an address leads: to the Internet, to private networks, or to what nothing may be sent to. */
export type Reach = "public" | "private" | "never";

type Range = readonly [address: string, prefix: number];

/** This machine, and private networks (RFC 1122, 1918, 4193, 4291 and 6598). */
const PRIVATE: readonly Range[] = [
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["172.16.0.0", 12],
  ["192.168.0.0", 16],
  ["::1", 128],
  ["fc00::", 7],
];

/**
 * What else IANA's special-purpose registries (RFC 6890) list: link-local addresses, where clouds answer with a machine's credentials;
 * addresses that contain another one (NAT64, 6to4, Teredo, IPv4-compatible), which could be any of the above; documentation, benchmarks,
 * multicast, broadcast, reserved.
 */
const NEVER: readonly Range[] = [
  ["0.0.0.0", 8],
  ["169.254.0.0", 16],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 4],
  ["240.0.0.0", 4],
  ["::", 96],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 63],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["3fff::", 20],
  ["5f00::", 16],
  ["fe80::", 10],
  ["fec0::", 10],
  ["ff00::", 8],
];

/**
 * Where clouds answer their machines with credentials or take orders outside of link-local addresses: Azure, Alibaba, Amazon, Google,
 * Scaleway. They lie within the ranges of others.
 */
const CLOUDS: readonly Range[] = [
  ["168.63.129.16", 32],
  ["100.100.100.200", 32],
  ["fd00:ec2::", 32],
  ["fd20:ce::254", 128],
  ["fd00:42::42", 128],
];

function listOf(ranges: readonly Range[]): BlockList {
  const list = new BlockList();
  for (const [address, prefix] of ranges) list.addSubnet(address, prefix, isIP(address) === 6 ? "ipv6" : "ipv4");
  return list;
}

const privateRanges = lazy(() => listOf(PRIVATE));
const otherRanges = lazy(() => listOf(NEVER));
const clouds = lazy(() => listOf(CLOUDS));

/** Whether an address is IPv4-mapped (RFC 4291): rules for IPv4 would apply to a connection that is made as IPv6. */
const isMapped = (address: string) => new URL(`http://[${address}]/`).hostname.startsWith("[::ffff:");

/** Judges an address as it is connected to. */
export function reachOf(address: string): Reach {
  const family = isIP(address);
  // A zone names an interface of this machine.
  if (family === 0 || address.includes("%")) return "never";
  const version = family === 6 ? "ipv6" : "ipv4";
  if ((family === 6 && isMapped(address)) || clouds().check(address, version)) return "never";
  if (privateRanges().check(address, version)) return "private";
  return otherRanges().check(address, version) ? "never" : "public";
}

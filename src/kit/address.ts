import { isIP } from "node:net";

/** The eight groups of an IPv6 address, whatever its spelling (RFC 4291 section 2.2). */
function groupsOf(address: string): number[] {
  const bare = (address.split("%")[0] as string).replace(/(\d+)\.(\d+)\.(\d+)\.(\d+)$/, (_, a, b, c, d) =>
    [Number(a) * 256 + Number(b), Number(c) * 256 + Number(d)].map((group) => group.toString(16)).join(":"),
  );
  const [head = "", tail] = bare.split("::");
  const read = (part: string) =>
    part
      .split(":")
      .filter(Boolean)
      .map((group) => Number.parseInt(group, 16));
  const left = read(head);
  const right = read(tail ?? "");
  return [...left, ...Array<number>(8 - left.length - right.length).fill(0), ...right];
}

/**
 * The IPv4 address that an IPv4-mapped IPv6 address stands for (`::ffff:192.0.2.1`, as dual-stack sockets spell their peers); others
 * unchanged.
 */
export function plainAddress(address: string): string {
  if (isIP(address) !== 6) return address;
  const groups = groupsOf(address);
  if (groups.slice(0, 5).some((group) => group !== 0) || groups[5] !== 0xffff) return address;
  return groups
    .slice(6)
    .flatMap((group) => [group >> 8, group & 255])
    .join(".");
}

/** The network that the first groups of an IPv6 address name. */
const networkOf = (address: string, groups: number): string =>
  `${groupsOf(address)
    .slice(0, groups)
    .map((group) => group.toString(16))
    .join(":")}::/${groups * 16}`;

/** The part of an address that one subscriber holds: an IPv4 address whole, an IPv6 address's /64 network. */
export const quotaKey = (address: string): string => (isIP(address) === 6 ? networkOf(address, 4) : address);

/**
 * The blocks of addresses by which strangers share a limit: the site of an address, and the provider of that site. One IPv6 subscriber may
 * hold a /48 with its 65,536 networks, and a provider holds a /32 (RFC 6177, and what registries give out). In IPv4 a site is one address
 * and a provider is a /16.
 */
export function blocksOf(address: string): { readonly provider: string; readonly site: string } {
  if (isIP(address) === 6) return { provider: networkOf(address, 2), site: networkOf(address, 3) };
  return { provider: address.split(".").slice(0, 2).join("."), site: address };
}

/** Reads a comma-separated list of addresses and CIDR ranges, or says what is wrong with it. */
export function cidrList(raw: string): { value: readonly string[] } | { wrong: string } {
  const parts = raw
    .split(",")
    .map((part) => part.trim())
    .filter(Boolean);
  for (const part of parts) {
    const [address = "", prefix, ...more] = part.split("/");
    const family = isIP(address);
    const maxBits = family === 6 ? 128 : 32;
    if (
      family === 0 ||
      // It would be trusted behind every interface, since lists of addresses do not tell those apart.
      address.includes("%") ||
      more.length > 0 ||
      (prefix !== undefined && !(/^\d{1,3}$/.test(prefix) && Number(prefix) <= maxBits))
    )
      return { wrong: `"${part}" is not an address or CIDR range such as 10.0.0.0/8, without an interface` };
  }
  return { value: parts };
}

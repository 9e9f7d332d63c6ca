import { type BlockList, isIP } from "node:net";

/** `::ffff:192.0.2.1` is how a dual-stack socket spells an IPv4 peer. */
function plain(address: string): string {
  return address.startsWith("::ffff:") && isIP(address.slice(7)) === 4 ? address.slice(7) : address;
}

/**
 * The client's address. `X-Forwarded-For` is read only when the peer is a trusted proxy, from the right, and the first hop
 * that is not trusted is the client: what stands further left is its own claim.
 * @param peer the socket's remote address
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: BlockList): string {
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  let client = plain(peer);
  if (!forwardedFor || isIP(client) === 0 || !isTrusted(client)) return client;
  for (const hop of forwardedFor.split(",").reverse()) {
    const bare = plain(
      hop
        .trim()
        .replace(/^\[(.*)\](?::\d+)?$/, "$1")
        .replace(/^(\d+\.\d+\.\d+\.\d+):\d+$/, "$1"),
    );
    if (isIP(bare) === 0) return client;
    client = bare;
    if (!isTrusted(bare)) return client;
  }
  return client;
}

/** The part of an address that one subscriber holds: an IPv4 address whole, an IPv6 address's /64 network. */
export function quotaKey(address: string): string {
  if (isIP(address) !== 6) return address;
  const [head = "", tail] = (address.split("%")[0] as string).toLowerCase().split("::");
  const left = head.split(":").filter(Boolean);
  const right = (tail ?? "").split(":").filter(Boolean);
  const groups =
    tail === undefined ? left : [...left, ...Array(Math.max(0, 8 - left.length - right.length)).fill("0"), ...right];
  return `${groups
    .slice(0, 4)
    .map((group) => group.replace(/^0+(?=.)/, ""))
    .join(":")}::/64`;
}

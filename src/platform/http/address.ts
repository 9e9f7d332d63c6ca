import { type BlockList, isIP } from "node:net";
import { plainAddress } from "../../kit/address.ts";

/**
 * The client's address. `X-Forwarded-For` is read only when the peer is a trusted proxy, from the right, and the first hop
 * that is not trusted is the client: what stands further left is its own claim.
 * @param peer the socket's remote address
 */
export function clientAddress(peer: string, forwardedFor: string | null, trusted: BlockList): string {
  const isTrusted = (address: string) => trusted.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
  let client = plainAddress(peer);
  if (!forwardedFor || isIP(client) === 0 || !isTrusted(client)) return client;
  for (const hop of forwardedFor.split(",").reverse()) {
    const bare = plainAddress(
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

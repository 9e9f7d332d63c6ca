import type { Core } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import { hmacSha256 } from "../../kit/hash.ts";
import { rows } from "./rows.ts";

const PURPOSE = "request-addresses";
const KEY_BYTES = 32;

/**
 * What is kept of a sender's address: HMAC-SHA-256 with a random key of this installation. Equal ones tell of one address; without
 * the key nobody can find out which, though addresses are few enough to try them all. Of IPv6 the /64 network counts, as it does
 * for quotas. Call inside a write: the first call makes the key.
 */
export function addressHash(core: Core, address: string): Buffer {
  const { key, insertKey } = rows(core.store);
  let secret = key.get(PURPOSE);
  if (secret === undefined) {
    secret = core.random(KEY_BYTES);
    insertKey.run(PURPOSE, secret, core.clock.now());
  }
  return hmacSha256(secret, quotaKey(address));
}

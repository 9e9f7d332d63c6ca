import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { perOwner } from "../../kit/memo.ts";
import { Reply } from "../../platform/http/endpoint.ts";
import type { PackEntry } from "./entry.ts";

interface Prepared<Body> {
  readonly body: Body;
  readonly etag: string;
}

const remembered = perOwner((_packs: readonly PackEntry[]) => new Map<string, Prepared<unknown>>());

function prepare<Body>(make: () => Body): Prepared<Body> {
  const body = make();
  return { body, etag: `"${sha256Hex(JSON.stringify(body)).slice(0, 32)}"` };
}

/**
 * A public reply with its entity tag, or 304 for who holds it already.
 * @param packs what it is made of; the same list with the same key is not put into JSON again
 * @param key undefined for what is not worth remembering
 */
export function publicReply<Body>(
  packs: readonly PackEntry[],
  key: string | undefined,
  ifNoneMatch: string | null,
  make: () => Body,
): Reply<Body> {
  const replies = remembered(packs);
  const known = (key === undefined ? undefined : replies.get(key)) as Prepared<Body> | undefined;
  const ready = known ?? prepare(make);
  if (key !== undefined) replies.set(key, ready);
  const headers = { etag: ready.etag };
  if (etagMatches(ifNoneMatch, ready.etag)) return new Reply<Body>(null, { status: 304, headers });
  return new Reply(ready.body, { headers });
}

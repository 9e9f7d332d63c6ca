import { type Core, slot } from "../../core.ts";
import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { Reply } from "../../platform/http/endpoint.ts";
import type { PackEntry } from "./entry.ts";
import { publishedPacks } from "./list.ts";

interface Prepared<Body> {
  readonly body: Body;
  readonly etag: string;
}

/** Replies that were made of one list of packs; a list that changed is another one. */
const remembered = slot(() => ({ packs: [] as readonly PackEntry[], replies: new Map<string, Prepared<unknown>>() }));

function prepare<Body>(make: () => Body): Prepared<Body> {
  const body = make();
  return { body, etag: `"${sha256Hex(JSON.stringify(body)).slice(0, 32)}"` };
}

/**
 * A public reply of the published packs with its entity tag, or 304 for who has it already.
 * @param key what is not put into JSON again until the packs change; undefined for what is not worth remembering
 */
export function publicReply<Body>(
  core: Core,
  key: string | undefined,
  ifNoneMatch: string | null,
  make: () => Body,
): Reply<Body> {
  const state = remembered(core);
  const packs = publishedPacks(core);
  if (state.packs !== packs) Object.assign(state, { packs, replies: new Map() });
  const known = (key === undefined ? undefined : state.replies.get(key)) as Prepared<Body> | undefined;
  const ready = known ?? prepare(make);
  if (key !== undefined) state.replies.set(key, ready);
  const headers = { etag: ready.etag };
  if (etagMatches(ifNoneMatch, ready.etag)) return new Reply<Body>(null, { status: 304, headers });
  return new Reply(ready.body, { headers });
}

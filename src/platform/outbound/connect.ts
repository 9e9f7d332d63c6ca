import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { type ClientRequest, request as plainRequest, type RequestOptions } from "node:http";
import { request as tlsRequest } from "node:https";
import { connect, type LookupFunction, type Socket } from "node:net";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { type Destination, requireReach } from "./destination.ts";

const SLOW_MS = 2 * SECOND_MS;
/** After a failed look-up, the pause before the next one, as a multiple of the time that it took. */
const PAUSES = 5;

/** Look-ups that are under way, and slow ones that failed a moment ago. */
const looks = slot(() => new Map<string, Promise<LookupAddress[]>>());

/**
 * The addresses of a name. The process has two threads for look-ups, and a name that no server answers for occupies one for ten seconds and
 * more. If each try to send looked it up again, two such names would keep all others waiting for ever.
 */
function addressesOf(core: Core, hostname: string): Promise<LookupAddress[]> {
  const known = looks(core).get(hostname);
  if (known) return known;
  const began = core.clock.monotonic();
  const found = lookup(hostname, { all: true });
  looks(core).set(hostname, found);
  const forget = () => void looks(core).delete(hostname);
  found.then(forget, () => {
    const took = core.clock.monotonic() - began;
    if (took < SLOW_MS) forget();
    else setTimeout(forget, PAUSES * took).unref();
  });
  return found;
}

/**
 * Resolves a name for a socket and judges every address that comes back. The judged address is the one that is connected to, so a name
 * gains nothing by changing its address a moment later.
 */
const judgedLookup =
  (core: Core): LookupFunction =>
  (hostname, options, done) => {
    const judged = addressesOf(core, hostname).then((found) => {
      for (const { address } of found) requireReach(core, address);
      return found;
    });
    judged.then(
      (found) => {
        const [first] = found;
        if (!first) return done(new Error(`${hostname} has no address`), "");
        if (options.all) return done(null, found);
        return done(null, first.address, first.family);
      },
      (problem) => done(problem as Error, ""),
    );
  };

/** Begins a request to a URL that was judged; no connection is kept, and no proxy of the environment is asked. */
export const openRequest = (core: Core, url: URL, options: RequestOptions): ClientRequest =>
  (url.protocol === "https:" ? tlsRequest : plainRequest)(url, {
    ...options,
    // An agent of its own, which knows no proxy and keeps nothing open.
    agent: false,
    lookup: judgedLookup(core),
    rejectUnauthorized: true,
  });

/**
 * A socket to a host that was judged.
 * @throws OutboundRefused when the name has an address that nothing is sent to; Error when nobody answers
 */
export function openSocket(core: Core, { host, port }: Destination, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, lookup: judgedLookup(core), signal });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.removeListener("error", reject);
      resolve(socket);
    });
  });
}

import type { LookupAddress } from "node:dns";
import { lookup } from "node:dns/promises";
import { connect, type LookupFunction, type Socket } from "node:net";
import { type Core, slot } from "../../core.ts";
import { SECOND_MS } from "../../kit/clock.ts";
import { type Destination, requireReach } from "./destination.ts";

const SLOW_MS = 2 * SECOND_MS;
/** So many times as long as it was looked for in vain, a name is not looked up again. */
const PAUSES = 5;

/** Names that are being looked up, and those that it took long to find nothing of. */
const looks = slot(() => new Map<string, Promise<LookupAddress[]>>());

/**
 * What a name leads to. The process has two threads for it, and each is busy for ten seconds and more with a name of which no server
 * tells: asked for with each try to send something, two such names would keep all others waiting for ever.
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
 * Resolves names for a socket and judges every address that comes back, so that what is judged is what is connected to: a name that
 * has another address a moment later gains nothing by it.
 */
export const judgedLookup =
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

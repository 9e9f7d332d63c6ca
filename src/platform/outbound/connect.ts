import { lookup as dnsLookup } from "node:dns";
import { connect, type LookupFunction, type Socket } from "node:net";
import type { Core } from "../../core.ts";
import { type Destination, requireReach } from "./destination.ts";

/**
 * Resolves names for a socket and judges every address that comes back, so that what is judged is what is connected to: a name that
 * has another address a moment later gains nothing by it.
 */
export const judgedLookup =
  (core: Pick<Core, "config">): LookupFunction =>
  (hostname, options, done) => {
    dnsLookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return done(error, "");
      try {
        for (const { address } of found) requireReach(core, address);
      } catch (problem) {
        return done(problem as Error, "");
      }
      const [first] = found;
      if (!first) return done(new Error(`${hostname} has no address`), "");
      if (options.all) return done(null, found);
      return done(null, first.address, first.family);
    });
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

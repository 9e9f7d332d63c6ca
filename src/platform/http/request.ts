import { type BlockList, isIP } from "node:net";
import type { H3Event } from "h3";
import type { Core } from "../../core.ts";
import { plainAddress } from "../../kit/address.ts";
import type { Buckets, Decision } from "../../kit/buckets.ts";
import { storeTrouble } from "../../kit/errors.ts";
import { fail, rateLimited } from "../../kit/problem.ts";
import type { Limit } from "./endpoint.ts";
import { badRequest } from "./faults.ts";

/** What endpoints and pages share of reading a request. */

/** A limit that a request drew on, with what its bucket said. */
export interface LimitUse {
  readonly limit: Limit;
  readonly decision: Decision;
  readonly seconds: number;
  /** Undoes it, for a limit that counts refusals alone. */
  readonly giveBack?: (() => void) | undefined;
}

/** The address of the socket's other end; requests made in the process itself come from loopback. */
export function peerAddress(event: H3Event): string {
  const socket = event.runtime?.node?.req.socket;
  return socket ? (socket.remoteAddress ?? "0.0.0.0") : "127.0.0.1";
}

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

/** The client's address, proxies seen through. */
export function addressOf(event: H3Event, trusted: BlockList): string {
  return clientAddress(peerAddress(event), event.req.headers.get("x-forwarded-for"), trusted);
}

/** Two Host headers mean that a proxy and we may disagree on whose request this is (RFC 9112 section 3.2). */
export function requireSoundRequest(event: H3Event): void {
  const raw = event.runtime?.node?.req.rawHeaders;
  if (!raw) return;
  let hosts = 0;
  for (let i = 0; i < raw.length; i += 2) if (raw[i]?.length === 4 && raw[i]?.toLowerCase() === "host") hosts++;
  if (hosts > 1) fail(badRequest, "The request names more than one host.");
}

/**
 * Draws on the limits of one kind; every one of them, so that the headers can tell of the nearest.
 * @param cost how much of each quota is drawn; never more than the whole of it
 * @throws Problem rateLimited
 */
export function drawLimits(
  core: Core,
  limits: readonly Limit[],
  per: Limit["per"],
  key: string,
  buckets: Buckets,
  drawn: LimitUse[],
  cost = 1,
): void {
  let refused = false;
  for (const limit of limits) {
    const quota = limit.per === per ? limit.quota(core.config) : null;
    if (!quota) continue;
    const { stored } = limit;
    if (stored) {
      // Read again when the headers are made: by then the handler may have found it used up.
      const use = {
        limit,
        seconds: quota.seconds,
        get decision() {
          return stored(core, key);
        },
      };
      drawn.push(use);
      refused ||= !use.decision.allowed;
      continue;
    }
    const bucket = `${limit.name} ${key}`;
    const decision = buckets.take(bucket, core.clock.monotonic(), quota, Math.min(cost, quota.count));
    const giveBack =
      limit.counts === "refusals" && decision.allowed
        ? () => buckets.giveBack(bucket, core.clock.monotonic(), quota)
        : undefined;
    drawn.push({ limit, decision, seconds: quota.seconds, giveBack });
    refused ||= !decision.allowed;
  }
  if (refused) fail(rateLimited);
}

/** Logs an unforeseen error, whose cause is shown nowhere else. @returns whether it came from the store */
export function logUnforeseen(core: Core, error: unknown, operation?: string): boolean {
  const trouble = storeTrouble(error);
  const where = operation === undefined ? {} : { operation };
  if (trouble === undefined) core.log.error("internal_error", { ...where, cause: stackText(error) });
  else core.log.error("store_unavailable", { ...where, cause: stackText(trouble) });
  return trouble !== undefined;
}

/** An error with where it arose, for the log alone. */
export function stackText(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error);
}

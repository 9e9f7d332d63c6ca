import { isLoopback, readServerUrl } from "../kit/reach.ts";
import { ask, movedToOf } from "./client.ts";
import { clearRefusals, type Exchange } from "./exchange.ts";
import { putOff } from "./schedule.ts";
import { type Capture, type Credentials, readSetting, writeCredentials, writeSetting } from "./state.ts";

/** A server that the team moved to, as the server before it said. */
export interface Move {
  readonly from: string;
  readonly to: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Why the machine did not follow; null where it did. */
  readonly problem: string | null;
}
const MOVE = "move";

/** The last time that the server sent this machine on to another. */
export const lastMove = (capture: Capture): Move | undefined => readSetting<Move>(capture, MOVE) ?? undefined;

/**
 * Follows the team to another server, once a pass. If that server answers and knows this machine, it is the machine's server from then on.
 * Its first answers tell what it has, so nothing that waits is touched.
 * @returns whether the machine followed; if not, the exchange has ended with the reason, and a later pass tries again
 */
export async function follow(exchange: Exchange): Promise<boolean> {
  const { capture, credentials, movedTo } = exchange;
  if (movedTo === undefined) return false;
  exchange.movedTo = undefined;
  const found = exchange.hasFollowed
    ? { problem: "its new server sends on to yet another" }
    : await judge(credentials, movedTo);
  const at = capture.clock.now();
  if (found.problem !== undefined) {
    exchange.stopped = `the team moved to ${movedTo}, and this machine did not follow: ${found.problem}`;
    exchange.retryInMs = putOff(capture, "server", exchange.stopped);
    writeSetting(capture, MOVE, { from: credentials.url, to: movedTo, at, problem: found.problem } satisfies Move);
    return false;
  }
  exchange.hasFollowed = true;
  exchange.stopped = undefined;
  exchange.retryInMs = undefined;
  exchange.credentials = { ...credentials, url: found.url };
  writeCredentials(capture.places, exchange.credentials);
  capture.transact(() => {
    writeSetting(capture, MOVE, { from: credentials.url, to: found.url, at, problem: null } satisfies Move);
    clearRefusals(capture);
    // Tasks were put off because of the old server.
    capture.rows.clearSchedule.run();
  });
  return true;
}

type Judged = { readonly url: string; readonly problem?: undefined } | { readonly problem: string };

async function judge(credentials: Credentials, movedTo: string): Promise<Judged> {
  if (credentials.isPinned) return { problem: "it was connected with --pin; connect it there with a code" };
  let url: string;
  try {
    url = addressFrom(credentials.url, movedTo);
  } catch (error) {
    return { problem: (error as Error).message };
  }
  const answer = await ask(url, "/api/policy", { token: credentials.token, timeoutMs: 10_000 });
  if (answer.kind === "ok") return { url };
  const next = movedToOf(answer);
  // A server that the team has left again knows this machine, too. The next pass follows further.
  if (next !== undefined && next !== credentials.url) return { url };
  if (next !== undefined) return { problem: `${url} sends back to ${next}` };
  return {
    problem: answer.kind === "refused" ? `${url} does not know this machine yet (${answer.reason})` : answer.reason,
  };
}

/** The new address, which must be no less private than the one before. @throws Error saying what is wrong with it */
function addressFrom(before: string, movedTo: string): string {
  const { protocol, hostname } = new URL(before);
  if (!/^https?:\/\//i.test(movedTo)) throw new Error(`"${movedTo.slice(0, 200)}" is not the address of a server`);
  // Whoever connected without encryption said that the network is trusted.
  const url = readServerUrl(movedTo, protocol === "http:" && !isLoopback(hostname), "its address must be https");
  if (protocol === "https:" && !url.startsWith("https://"))
    throw new Error(`${url} would send unencrypted what ${before} got encrypted`);
  if (url === before) throw new Error("it names itself");
  return url;
}

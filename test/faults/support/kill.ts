import { type Data, openToRead } from "./data.ts";
import { LOAD_ENV, Load } from "./load.ts";
import { type Running, reckon, serve } from "./process.ts";

/** What a round found. Nothing may be in `lost`, `resent` and `odd`; `integrity` is "ok" and `verify` 0. */
export interface Round {
  readonly sent: number;
  readonly acknowledged: number;
  /** Stored without the client having heard of it: the reply was under way. */
  readonly unasked: number;
  readonly lost: readonly string[];
  readonly resent: readonly string[];
  readonly odd: readonly string[];
  readonly integrity: string;
  readonly verify: number | null;
}

/**
 * One round: a server under load is ended by force at a random moment, looked at, started again and sent everything once more.
 * @param end ends the server; resolves when it is gone and the directory can be read again
 */
export async function killRound(
  data: Data,
  name: string,
  after: number,
  end: (server: Running) => Promise<unknown>,
): Promise<Round> {
  const server = await serve(data.directory, { env: LOAD_ENV });
  const load = new Load(data, name);
  const reached = load.reached(after);
  load.start(server.port);
  await reached;
  // Not in step with the replies: the blow may fall between a commit and the reply that tells of it.
  await new Promise((resolve) => setTimeout(resolve, Math.random() * 20));
  await end(server);
  await load.stop();
  const again = await serve(data.directory, { env: LOAD_ENV });
  const { lost, unasked } = load.compare();
  const db = openToRead(data.directory);
  const integrity = db.pragma("integrity_check", { simple: true }) as string;
  db.close();
  const resent = await load.resend(again.port);
  const missing = load.compare();
  await again.end();
  const verify = await reckon(["ledger", "verify", "--data", data.directory]);
  return {
    sent: load.batches.length,
    acknowledged: load.acknowledged,
    unasked,
    lost,
    resent: [...resent, ...missing.lost],
    odd: load.odd,
    integrity,
    verify: verify.code,
  };
}

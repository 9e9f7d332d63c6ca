import type { Config } from "./config.ts";
import type { Clock } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";
import type { Random } from "./kit/random.ts";
import type { Store } from "./platform/store/store.ts";

/** What every room may rely on in a running instance; made once by `server.ts` or by a command. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly log: Log;
}

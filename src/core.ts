import type { Config } from "./config.ts";
import type { Clock } from "./kit/clock.ts";
import type { Log } from "./kit/log.ts";
import type { Random } from "./kit/random.ts";
import type { Store } from "./platform/store/store.ts";

/** What every room may rely on in a running instance; made once by `app.ts` or by a command. */
export interface Core {
  readonly config: Config;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly log: Log;
  /** What rooms keep in memory, each in a `slot` of its own. */
  readonly state: State;
}

/** The values of slots. They belong to one instance, or one command, and go with it. */
type State = Map<object, unknown>;

/**
 * Declares what a room keeps in memory for one running instance: a cache, an index, a loaded key. Modules keep nothing themselves, so two
 * instances in one process never share it.
 * @param open makes the value when it is first asked for
 * @returns a function that reads it
 */
export function slot<Value>(open: (core: Core) => Value): (core: Core) => Value {
  const read = (core: Core): Value => {
    if (!core.state.has(read)) core.state.set(read, open(core));
    return core.state.get(read) as Value;
  };
  return read;
}

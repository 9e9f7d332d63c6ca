import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import type { Core } from "../../core.ts";
import { perOwner } from "../../kit/memo.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type PriceFile, readPriceFile } from "./price-file.ts";
import { PriceTable } from "./price-table.ts";
import { SHIPPED_PRICES } from "./prices.ts";

/** A data directory's own prices: they replace those that ship, model by model. */
const OWN_PRICES = "prices.json";
/** More is no price list; and it is read while a request waits. */
const MAX_BYTES = 4 * 1024 * 1024;

export interface CurrentPrices {
  readonly table: PriceTable;
  /** When the prices were looked up, YYYY-MM-DD: the data directory's own where there are such. */
  readonly date: string;
  readonly overridden: boolean;
  /** Why the data directory's own prices are not used. */
  readonly problem: string | null;
}

const shipped = (problem: string | null): CurrentPrices => ({
  table: new PriceTable(SHIPPED_PRICES),
  date: SHIPPED_PRICES.date,
  overridden: false,
  problem,
});

const held = perOwner((_core: Core) => ({ mark: "", prices: undefined as CurrentPrices | undefined }));

/** The prices of the moment. The data directory's file is read anew when it changed; one that is wrong changes nothing. */
export function currentPrices(core: Core): CurrentPrices {
  const path = join(core.store.directory, OWN_PRICES);
  const own = held(core);
  const mark = markOf(path);
  if (own.prices === undefined || mark !== own.mark) {
    own.mark = mark;
    own.prices = load(core, path, mark, own.prices);
  }
  return own.prices;
}

/** What changes with a file; `""` when there is none. */
function markOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : "";
}

function load(core: Core, path: string, mark: string, before: CurrentPrices | undefined): CurrentPrices {
  if (mark === "") return shipped(null);
  try {
    if (statSync(path).size > MAX_BYTES) fail(invalid, `has more than ${MAX_BYTES} bytes`);
    const file: PriceFile = readPriceFile(readFileSync(path, "utf8"));
    return { table: new PriceTable(SHIPPED_PRICES, file), date: file.date, overridden: true, problem: null };
  } catch (error) {
    const problem = `${OWN_PRICES}${(error as Error).message.startsWith("[") ? "" : " "}${(error as Error).message}`;
    core.log.warn("prices_refused", { problem });
    return before ? { ...before, problem } : shipped(problem);
  }
}

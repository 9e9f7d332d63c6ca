import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { type Core, slot } from "../../core.ts";
import { readAsset } from "../../kit/assets.ts";
import { storeTrouble } from "../../kit/errors.ts";
import { isSpecial } from "../../kit/files.ts";
import { fail, invalid } from "../../kit/problem.ts";
import { type PriceFile, readPriceFile } from "./price-file.ts";
import { PriceTable } from "./price-table.ts";

/** A data directory's own prices: they replace those that ship, model by model. */
const OWN_PRICES = "prices.json";
/** A longer file is no price list; and it is read while a request waits. */
const MAX_BYTES = 4 * 1024 * 1024;

let shipped: PriceFile | undefined;

/** The prices that ship, see docs/spend.md; read when the first cost is asked for. */
export function shippedPrices(): PriceFile {
  shipped ??= readPriceFile(readAsset("src/assets/prices.json"));
  return shipped;
}

export interface CurrentPrices {
  readonly table: PriceTable;
  /** When the prices were looked up, YYYY-MM-DD: the data directory's own where there are such. */
  readonly date: string;
  readonly overridden: boolean;
  /** Why the data directory's own prices are not used. */
  readonly problem: string | null;
}

const withoutOwn = (problem: string | null): CurrentPrices => ({
  table: new PriceTable(shippedPrices()),
  date: shippedPrices().date,
  overridden: false,
  problem,
});

/** The prices that were read last, and the state of the file then. */
const loaded = slot(() => ({ mark: "", prices: undefined as CurrentPrices | undefined }));

/**
 * The prices of the moment. The data directory's file is read anew when it changed; one that is wrong changes nothing.
 * @throws what the system says where it cannot open any file for now, or the disk does not answer
 */
export function currentPrices(core: Core): CurrentPrices {
  const path = join(core.store.directory, OWN_PRICES);
  const last = loaded(core);
  const mark = markOf(path);
  if (last.prices === undefined || mark !== last.mark) {
    last.prices = load(core, path, mark, last.prices);
    last.mark = mark;
  }
  return last.prices;
}

/** What changes with a file; `""` when there is none. */
function markOf(path: string): string {
  const stat = statSync(path, { throwIfNoEntry: false, bigint: true });
  return stat ? `${stat.ino} ${stat.size} ${stat.mtimeNs}` : "";
}

function load(core: Core, path: string, mark: string, before: CurrentPrices | undefined): CurrentPrices {
  if (mark === "") return withoutOwn(null);
  try {
    if (isSpecial(path)) fail(invalid, "is a device or a pipe, not a file");
    if (statSync(path).size > MAX_BYTES) fail(invalid, `has more than ${MAX_BYTES} bytes`);
    const file = readPriceFile(readFileSync(path, "utf8"));
    return { table: new PriceTable(shippedPrices(), file), date: file.date, overridden: true, problem: null };
  } catch (error) {
    // It says nothing of the file, which is read anew next time: nothing may be priced by other prices meanwhile.
    if (storeTrouble(error) !== undefined) throw error;
    const { message } = error as Error;
    const problem = `${OWN_PRICES}${message.startsWith("[") ? "" : " "}${message}`;
    core.log.warn("prices_refused", { problem });
    return before ? { ...before, problem } : withoutOwn(problem);
  }
}

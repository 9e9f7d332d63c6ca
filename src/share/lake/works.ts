import { readPayload } from "../../formats/payload.ts";
import { total } from "../../formats/usage.ts";
import { asObject, readId, readInstant } from "../../formats/values.ts";
import { unpackBlock } from "../../kit/blocks.ts";
import { dayNumber } from "../../kit/clock.ts";
import { withoutHalves } from "../../kit/json.ts";
import type { Work } from "../../platform/workers/workers.ts";
import { encodeTable } from "./encode.ts";
import type { Row } from "./tables.ts";
import { BLOCK_WORK, type BlockInput, type Made, type MadeOfDay, ROWS_WORK, type RowsInput } from "./work-types.ts";

/** What is done in a thread: it hangs on nothing but what it is given. */

/** Entries as they lie in texts, see record/telemetry. */
export type Unpack = (
  texts: Buffer,
) => readonly { readonly seq: number; readonly clientTimestamp: string | null; readonly payload: string }[];

async function makeRows({ table, portions }: RowsInput): Promise<Made> {
  const read = function* () {
    for (const portion of portions) yield JSON.parse(Buffer.from(portion).toString()) as Row[];
  };
  return encodeTable(table, read());
}

const makeBlock =
  (unpack: Unpack) =>
  async (input: BlockInput): Promise<MadeOfDay[]> => {
    const texts = textsOf(input);
    const days = new Map<number, Row[]>();
    for (const { firstId, at, bytes, receivedAt } of input.parts) {
      const rows = days.getOrInsert(dayNumber(receivedAt), []);
      // Of an erased entry its number is left, which tells nothing.
      for (const [i, entry] of unpack(texts.subarray(at, at + bytes)).entries())
        if (entry.payload !== "") rows.push(rowOf(input, firstId + i, receivedAt, entry));
    }
    const made: MadeOfDay[] = [];
    for (const [day, rows] of days) if (rows.length > 0) made.push({ day, ...(await encodeTable("entries", [rows])) });
    return made;
  };

/** What cannot be read is not there, as everywhere else; verifying the ledger tells. */
function textsOf({ content, isCompressed }: BlockInput): Buffer {
  const bytes = Buffer.from(content.buffer, content.byteOffset, content.length);
  if (!isCompressed) return bytes;
  try {
    return unpackBlock(bytes);
  } catch {
    return Buffer.alloc(0);
  }
}

function rowOf(
  { shard, block, deviceId, repoKey }: BlockInput,
  id: number,
  receivedAt: number,
  { seq, clientTimestamp, payload }: ReturnType<Unpack>[number],
): Row {
  const value = asObject(JSON.parse(payload));
  const { usage, costUsd, session, branch, model, at } = readPayload(value);
  return [
    ...[shard, block, id, deviceId, repoKey || null, seq, receivedAt],
    at ?? readInstant(clientTimestamp),
    ...[session, branch, readId(value.type) ?? null, model],
    ...[usage?.input ?? null, usage?.output ?? null],
    usage ? total([usage.cacheWrite, usage.cacheWrite1h]) : null,
    usage?.cacheRead ?? null,
    costUsd === null ? null : String(BigInt(Math.round(costUsd * 1e9)) * 1_000n),
    withoutHalves(payload),
  ];
}

/** The works of this room for `worker.ts`. @param unpack reads entries in their texts */
export function lakeWorks(unpack: Unpack): Readonly<Record<string, Work>> {
  const make = makeBlock(unpack);
  return {
    [ROWS_WORK]: async (input: RowsInput) => {
      const made = await makeRows(input);
      return { made, transfer: [made.bytes.buffer] };
    },
    [BLOCK_WORK]: async (input: BlockInput) => {
      const made = await make(input);
      return { made, transfer: made.map(({ bytes }) => bytes.buffer) };
    },
  };
}

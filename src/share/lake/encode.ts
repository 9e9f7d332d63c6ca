import { zstdCompressSync } from "node:zlib";
import { ByteWriter, ParquetWriter } from "hyparquet-writer";
import { type ColumnType, type Row, TABLES, type TableName, type Value } from "./tables.ts";

/** Rows of a group, which is encoded in one go. */
const GROUP_ROWS = 2_500;

const SCHEMA = {
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  whole: { type: "INT64" },
  instant: { type: "INT64", converted_type: "TIMESTAMP_MILLIS" },
  date: { type: "INT32", converted_type: "DATE" },
  usd: { type: "FIXED_LEN_BYTE_ARRAY", type_length: 16, converted_type: "DECIMAL", precision: 38, scale: 12 },
  flag: { type: "BOOLEAN" },
} as const satisfies Record<ColumnType, object>;

/** What the library writes of a value; an instant that a date cannot hold is none. */
const READ: Readonly<Record<ColumnType, (value: Exclude<Value, null>) => unknown>> = {
  text: (value) => value,
  whole: (value) => BigInt(value),
  instant: (value) => (Math.abs(Number(value)) <= 8.64e15 ? new Date(Number(value)) : null),
  date: (value) => value,
  usd: (value) => BigInt(value),
  flag: (value) => value,
};

/**
 * Rows of a table as a Parquet file, compressed with zstd. The same rows make the same bytes.
 * @param rows in portions, each kept no longer than it is needed
 */
export async function encodeTable(
  table: TableName,
  rows: Iterable<readonly Row[]>,
): Promise<{ readonly rows: number; readonly bytes: Uint8Array<ArrayBuffer> }> {
  const columns = Object.entries(TABLES[table]) as [string, ColumnType][];
  const writer = new ByteWriter();
  const parquet = new ParquetWriter({
    writer,
    schema: [
      { name: "root", num_children: columns.length },
      ...columns.map(([name, type]) => ({ name, repetition_type: "OPTIONAL" as const, ...SCHEMA[type] })),
    ],
    codec: "ZSTD",
    compressors: { ZSTD: (bytes: Uint8Array) => zstdCompressSync(bytes) },
    createdBy: "reckon",
  });
  let count = 0;
  for (const group of groups(rows)) {
    const columnData = columns.map(([name, type], i) => ({
      name,
      data: group.map((row) => {
        const value = row[i] ?? null;
        return value === null ? null : READ[type](value);
      }),
    }));
    await parquet.write({ columnData, rowGroupSize: GROUP_ROWS });
    count += group.length;
  }
  await parquet.finish();
  return { rows: count, bytes: new Uint8Array(writer.getBuffer()) };
}

function* groups(portions: Iterable<readonly Row[]>): Generator<Row[]> {
  let group: Row[] = [];
  for (const portion of portions)
    for (const row of portion) {
      group.push(row);
      if (group.length < GROUP_ROWS) continue;
      yield group;
      group = [];
    }
  if (group.length > 0) yield group;
}

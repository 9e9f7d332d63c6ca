import type { TableName } from "./tables.ts";

/** Names of objects. They follow from what is in them alone, so that what is written again takes the place of what was there. */

const folder = (table: TableName, teamId: string, day: string) => `${table}/team=${teamId}/day=${day}/`;

/** What of a block came on a day. */
export const blockPath = (teamId: string, day: string, shard: string, blockId: number): string =>
  `${folder("entries", teamId, day)}${shard}-block-${blockId}.parquet`;

/** What of a stream is not sealed, in an export. @param firstId of its entries */
export const openPath = (teamId: string, day: string, shard: string, firstId: number): string =>
  `${folder("entries", teamId, day)}${shard}-open-${firstId}.parquet`;

/** A file of a day's. @param number from 1 on */
export const dayPath = (table: TableName, teamId: string, day: string, shard: string, number: number): string =>
  `${folder(table, teamId, day)}${shard}${number === 1 ? "" : `-${number}`}.parquet`;

/** Between which names this installation's files of a day lie. */
export const folderRange = (
  table: TableName,
  teamId: string,
  day: string,
  shard: string,
): [from: string, to: string] => {
  const from = `${folder(table, teamId, day)}${shard}`;
  // Behind every sign that such a name goes on with.
  return [from, `${from}~`];
};

/** Between which names those of devices lie. */
export const DEVICES: [from: string, to: string] = ["devices/", "devices0"];

export const devicesPath = (teamId: string, shard: string): string => `devices/team=${teamId}/${shard}.parquet`;

/** Whether an object is one of this installation's: of a team as ids are, since what is found is printed. */
export const isOfShard = (path: string, shard: string): boolean =>
  new RegExp(`^[a-z]+/team=team_[0-9a-z]+/(?:day=[0-9-]+/)?${shard}(?:-[a-z0-9-]+)?\\.parquet$`).test(path);

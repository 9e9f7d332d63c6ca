import { statements } from "../../platform/store/store.ts";

export interface ViolationRow {
  readonly deviceId: string;
  readonly deliveries: number;
  /** Milliseconds since the epoch; null where there was none. */
  readonly lastAt: number | null;
}

/** The first two by policy_violations' primary key. */
export const violationRows = statements((db) => ({
  count: db.prepare<[string, number]>(
    `INSERT INTO policy_violations (device_id, deliveries, last_at) VALUES (?, 1, ?)
     ON CONFLICT (device_id) DO UPDATE SET deliveries = deliveries + 1, last_at = excluded.last_at`,
  ),
  ofDevices: db.prepare<[string], ViolationRow>(
    `SELECT device_id AS deviceId, deliveries, last_at AS lastAt FROM policy_violations
     WHERE device_id IN (SELECT value FROM json_each(?))`,
  ),
  // A walk of the table, which has those devices alone that ever did.
  since: db.prepare<[number], string>("SELECT device_id FROM policy_violations WHERE last_at >= ?").pluck(),
}));

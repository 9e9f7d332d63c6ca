import type { Core } from "../core.ts";
import { type FollowedRow, rows } from "./rows.ts";

/** Deliveries of every team after one, oldest first, for those who follow what arrives. */
export function deliveriesAfter(core: Core, id: number, most: number): FollowedRow[] {
  return rows(core.store).after.all(id, most);
}

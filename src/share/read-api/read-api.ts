/**
 * The read API: what was recorded, page by page, for programs with an API token; the pages show the same of the same functions.
 * Not here: the tokens (identity/api-tokens); spend, whose own endpoint takes these tokens, too (insight/spend).
 */
import type { Endpoint } from "../../platform/http/endpoint.ts";
import { entryOne } from "./get-entry.ts";
import { errorOne } from "./get-error.ts";
import { sessionOne } from "./get-session.ts";
import { budgetList } from "./list-budgets.ts";
import { deliveryList } from "./list-deliveries.ts";
import { deviceList } from "./list-devices.ts";
import { entryList } from "./list-entries.ts";
import { errorList } from "./list-errors.ts";
import { sessionList } from "./list-sessions.ts";
import { spanList } from "./list-spans.ts";
import { teamList } from "./list-teams.ts";

/** In the order of the documents. */
export const READ_ENDPOINTS: readonly Endpoint[] = [
  teamList,
  sessionList,
  sessionOne,
  spanList,
  entryList,
  entryOne,
  errorList,
  errorOne,
  deviceList,
  deliveryList,
  budgetList,
];

/**
 * Product requests: what anybody asks of the product without an account, and what operators make of it.
 * Not here: how an address is counted against a quota (http); who asked, which is not kept.
 */
export { listRequests, type RequestFilter } from "./list.ts";
export { type RequestRow, STATUSES, type Status } from "./rows.ts";
export { similarRequests } from "./similar.ts";
export {
  changeRequest,
  duplicatesOf,
  findRequest,
  MAX_NOTE_CHARS,
  mergeRequest,
  titleOf,
  unmergeRequest,
} from "./triage.ts";

/**
 * The read API: what was recorded, page by page, for programs with an API token; the pages show the same of the same functions.
 * Nobody asks this room for anything: it is its endpoints.
 * Not here: the tokens (identity/api-tokens); spend, whose own endpoint takes these tokens, too (insight/spend).
 */
export { browseDeliveries } from "./browse-deliveries.ts";

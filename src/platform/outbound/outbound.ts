/**
 * Outbound: the only way out of the server. It leads to hosts that RECKON_OUTBOUND lists, and nowhere by default.
 * Not here: what is sent, and to whom (notifications); the requests of the client and of the command line, which run elsewhere.
 */

export { openSocket } from "./connect.ts";
export { judgeMailHost, judgeUrl, listLine, OutboundRefused } from "./destination.ts";
export { outboundFetch } from "./fetch.ts";
export { OutboundFailed, post, readRetryAfter } from "./post.ts";

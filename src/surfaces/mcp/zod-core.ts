/** A part of the protocol's library, see load-protocol.ts. By name, because a whole import would bring everything along. */
export { $ZodType } from "zod/v4/core";

/** A piece of what the protocol needs, see load-protocol.ts. By name: of a library imported whole, everything would come along. */
export { $ZodType } from "zod/v4/core";

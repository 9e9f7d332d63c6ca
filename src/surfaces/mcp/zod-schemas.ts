/** A part of the protocol's library, see load-protocol.ts. */
export { ZodType } from "zod/v4";

/** A piece of what the protocol needs, see load-protocol.ts. */
export { ZodType } from "zod/v4";

/** A part of the protocol's library, see load-protocol.ts. */
export { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";

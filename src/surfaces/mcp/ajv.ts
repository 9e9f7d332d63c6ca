/** A piece of what the protocol needs, see load-protocol.ts. */
export { AjvJsonSchemaValidator } from "@modelcontextprotocol/server/validators/ajv";

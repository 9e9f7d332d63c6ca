/**
 * MCP: what coding agents may ask of the record by the Model Context Protocol, with a read token or a device's token, as tools, resources
 * and prompts. Every answer is short, cited, marked as the words of others, and recorded as a read.
 * Not here: the answers themselves (ask, defects, causes, spend), the library that speaks the protocol's revisions, the bridge for clients
 * without HTTP (capture).
 */
export { mcp } from "./room.ts";

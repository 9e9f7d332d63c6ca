import { room } from "../../platform/rooms/rooms.ts";
import { mcpMessage } from "./post-mcp.ts";

export const mcp = room({
  name: "mcp",
  tags: { MCP: "What coding agents ask by the Model Context Protocol." },
  endpoints: [mcpMessage],
  // Of older versions; since then a device's reads stand with the device.
  auditActions: { "mcp.read": { label: "Read by an agent (MCP)", did: "read by MCP, with" } },
});

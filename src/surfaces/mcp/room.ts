import { room } from "../../platform/rooms/rooms.ts";
import { mcpMessage } from "./post-mcp.ts";

export const mcp = room({
  name: "mcp",
  tags: { MCP: "What coding agents ask by the Model Context Protocol." },
  endpoints: [mcpMessage],
  // An action of older versions. A device's reads are now recorded with the device.
  auditActions: { "mcp.read": { label: "Read by an agent (MCP)", did: "read by MCP, with" } },
});

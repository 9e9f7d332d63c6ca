import { room } from "../../platform/rooms/rooms.ts";
import { READ_ENDPOINTS } from "./read-api.ts";

export const readApi = room({
  name: "read-api",
  tags: { "Read API": "What was recorded, page by page, for programs with an API token." },
  endpoints: READ_ENDPOINTS,
});

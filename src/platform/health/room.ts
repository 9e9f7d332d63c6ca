import { room } from "../rooms/rooms.ts";
import { health as getHealth } from "./get-health.ts";

export const health = room({
  name: "health",
  tags: { Health: "Whether the service can keep what it is sent." },
  endpoints: [getHealth],
});

import { room } from "../../platform/rooms/rooms.ts";
import { context } from "./get-context.ts";

export const ask = room({
  name: "ask",
  tags: { "My Brain": "What a person's own read tokens may ask." },
  endpoints: [context],
});

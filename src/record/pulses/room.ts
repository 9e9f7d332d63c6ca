import { room } from "../../platform/rooms/rooms.ts";
import { ingest } from "./ingest.ts";

export const pulses = room({
  name: "pulses",
  endpoints: [ingest],
});

import { room } from "../../platform/rooms/rooms.ts";
import { entryOne } from "./get-entry.ts";
import { errorOne } from "./get-error.ts";
import { sessionOne } from "./get-session.ts";
import { deliveryList } from "./list-deliveries.ts";
import { deviceList } from "./list-devices.ts";
import { entryList } from "./list-entries.ts";
import { errorList } from "./list-errors.ts";
import { sessionList } from "./list-sessions.ts";
import { spanList } from "./list-spans.ts";
import { teamList } from "./list-teams.ts";

export const readApi = room({
  name: "read-api",
  tags: { "Read API": "What was recorded, page by page, for programs with an API token." },
  endpoints: [
    teamList,
    sessionList,
    sessionOne,
    spanList,
    entryList,
    entryOne,
    errorList,
    errorOne,
    deviceList,
    deliveryList,
  ],
});

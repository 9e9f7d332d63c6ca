import { room } from "../../platform/rooms/rooms.ts";
import { sessionsProjection } from "./follow.ts";

export const sessions = room({ name: "sessions", projections: [sessionsProjection] });

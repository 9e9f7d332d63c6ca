import { room } from "../../platform/rooms/rooms.ts";
import { findsProjection } from "./follow-sessions.ts";

export const find = room({ name: "find", projections: [findsProjection] });

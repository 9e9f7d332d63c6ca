import { room } from "../../platform/rooms/rooms.ts";
import { checking } from "./check.ts";

export const budgets = room({
  name: "budgets",
  jobs: [checking],
  auditActions: {
    "budget.set": { label: "Budget set", did: "set a budget" },
    "budget.removed": { label: "Budget removed", did: "removed a budget" },
    "budget.reached": { label: "Budget reached", did: "found that a budget reached a threshold" },
  },
});

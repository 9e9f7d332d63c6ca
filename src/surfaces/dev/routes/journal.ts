import { fail, invalid } from "../../../kit/problem.ts";
import { control } from "./route.ts";

export const journalRoutes = [
  control(
    {
      method: "GET",
      path: "/_dev/journal",
      description:
        "the last 200 requests and replies, oldest first, secrets masked; ?since=ID gives those after an id, ?operationId= those of one operation",
    },
    ({ local: { journal }, query }) => {
      const since = query.get("since") ?? "0";
      if (!/^\d{1,15}$/.test(since)) fail(invalid, '"since" is the id of an entry: a whole number.');
      const operation = query.get("operationId");
      const { entries, next } = journal.since(Number(since));
      return { next, entries: entries.filter((one) => operation === null || one.operationId === operation) };
    },
  ),
  control(
    { method: "DELETE", path: "/_dev/journal", description: "forgets what was recorded" },
    ({ local: { journal } }) => ({
      cleared: journal.clear(),
    }),
  ),
];

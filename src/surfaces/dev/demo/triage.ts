import { entriesProjection } from "../../../insight/defects/defects.ts";
import { type Act, act, pageOfErrors, STATES } from "../../../insight/triage/triage.ts";
import { DAY_MS, HOUR_MS } from "../../../kit/clock.ts";
import { catchUp } from "../../../platform/projections/projections.ts";
import type { CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import type { DemoEvent } from "./calendar.ts";
import { actorOf } from "./team.ts";

/** What people did about errors: some were resolved; one of those came again, and somebody else takes it on. */
export function triage({ core }: InstanceHandle, team: CreatedTeam, startAt: number): DemoEvent[] {
  const { teamId } = team;
  /** Acts on the error whose prevention rule holds a word. */
  const event = (hoursAgo: number, word: string, name: string, ...acts: readonly (Act | "take")[]): DemoEvent => ({
    at: startAt - hoursAgo * HOUR_MS,
    happen: async () => {
      const by = await actorOf(core, team, name);
      await catchUp(core, entriesProjection);
      const { rows } = await pageOfErrors(core, teamId, { states: STATES, sort: "count", ascending: false });
      const one = rows.find(({ rule }) => rule?.includes(word));
      if (!one) throw new Error(`the demo data names no such error: ${word}`);
      for (const what of acts)
        await act(
          core,
          { teamId, fingerprint: one.fingerprint },
          what === "take" ? { kind: "assign", ownerId: by.id } : what,
          by,
        );
    },
  });
  const comment = (text: string): Act => ({ kind: "comment", text });
  const resolve: Act = { kind: "resolve" };
  return [
    event(9 * 24, "money", "priya", "take", comment("One function for money, and nothing else rounds."), resolve),
    event(
      8 * 24,
      "transaction",
      "tomas",
      "take",
      comment("Webhooks and stock are done. The rule is in the instructions of both repositories now."),
      resolve,
    ),
    event(
      20,
      "transaction",
      "mira",
      "take",
      comment(
        "Back for the third time, in the app too: agents read the rule and still check first. I write a lint rule.",
      ),
      { kind: "link", url: "https://tracker.example.com/browse/SHOP-517" },
    ),
    event(
      3,
      "transaction",
      "tomas",
      comment("Labels: the carrier takes an idempotency key. I can do that part today."),
    ),
    event(14, "zone", "priya", "take", { kind: "link", url: "https://tracker.example.com/browse/SHOP-482" }),
    event(30, "deadline", "jonas", { kind: "snooze", until: startAt + 5 * DAY_MS }),
  ];
}

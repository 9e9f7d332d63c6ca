import { entriesProjection } from "../../../insight/defects/defects.ts";
import { type Act, act, pageOfErrors, STATES } from "../../../insight/triage/triage.ts";
import { DAY_MS, MINUTE_MS } from "../../../kit/clock.ts";
import type { Actor } from "../../../platform/audit/audit.ts";
import { catchUp } from "../../../platform/projections/projections.ts";
import type { CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import type { DemoEvent } from "./calendar.ts";

/** Who took errors on: some were resolved, of which one came again. */
export function triage({ core }: InstanceHandle, { teamId }: CreatedTeam, by: Actor, startAt: number): DemoEvent[] {
  /** Acts on the error whose prevention rule holds a word. */
  const event = (hoursAgo: number, word: string, ...acts: readonly Act[]): DemoEvent => ({
    at: startAt - hoursAgo * 60 * MINUTE_MS,
    happen: async () => {
      await catchUp(core, entriesProjection);
      const { rows } = pageOfErrors(core, teamId, { states: STATES, sort: "count", ascending: false });
      const one = rows.find(({ rule }) => rule?.includes(word));
      if (one) for (const what of acts) await act(core, { teamId, fingerprint: one.fingerprint }, what, by);
    },
  });
  const take: Act = { kind: "assign", ownerId: by.id };
  return [
    event(
      8 * 24,
      "transaction",
      take,
      { kind: "comment", text: "The rule is in the instructions now." },
      { kind: "resolve" },
    ),
    event(14, "zone", take, { kind: "link", url: "https://tracker.example.com/browse/SHOP-482" }),
    event(30, "deadline", { kind: "snooze", until: startAt + 5 * DAY_MS }),
  ];
}

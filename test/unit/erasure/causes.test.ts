import { expect, it } from "vitest";
import { deliverAll, eraseNow } from "../../support/erasure.ts";
import { startWithTeam } from "../../support/instance.ts";

it.each(["session", "device"] as const)("judges an error's causes anew once a competing %s is erased", async (kind) => {
  const { t, core, team } = await startWithTeam();
  const [mine, other] = [await t.device(team), await t.device(team)];
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, other, "shop", "marigold", 10);
  const links = () =>
    t.rows(
      `SELECT w.external_id AS session, l.band, l.evidence LIKE '%no other session of the 30 days before%' AS alone
         FROM causal_links l JOIN trace_session_windows w USING (session_id) ORDER BY 1`,
    );
  expect(links()).toEqual([
    { session: "marigold-s1", band: "weak", alone: 0 },
    { session: "marigold-s10", band: "weak", alone: 0 },
  ]);
  const target = kind === "session" ? { session: "marigold-s1" } : { device: mine.deviceId };
  await eraseNow(core, target);
  expect(links()).toEqual([{ session: "marigold-s10", band: "probable", alone: 1 }]);
  expect(t.rows("SELECT external_id AS session, caused FROM session_figures")).toEqual([
    { session: "marigold-s10", caused: 1 },
  ]);
});

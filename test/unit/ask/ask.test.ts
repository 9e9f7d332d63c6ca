import { expect, it } from "vitest";
import { removeMember } from "../../../src/identity/members/members.ts";
import { findReader } from "../../../src/identity/read-tokens/tokens.ts";
import { askBrains } from "../../../src/insight/ask/search.ts";
import { systemClock } from "../../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startInstance } from "../../support/instance.ts";
import { memberOf, publish, readToken } from "../../support/reads.ts";

it("shows nothing of a team that the owner left while its index was being built", async () => {
  const t = await startInstance();
  const [kept, left] = [await t.device(), await t.device()];
  const story = Array.from({ length: 2_000 }, (_, i) => `## Part ${i}\n\nzebra ${"words ".repeat(20)}${i}\n`).join(
    "\n",
  );
  await publish(t, left, { "left.md": story });
  await publish(t, kept, { "kept.md": "zebra" });
  const user = await memberOf(t, kept.team, left.team);
  const { token } = await readToken(t, user.id);
  // With a clock that runs, building the index gives way to others. A core of its own has no index yet.
  const core = { ...t.instance.core, clock: { ...systemClock, now: t.clock.now } };
  const principal = findReader(core, token);
  if (!principal) throw new Error("the token is not found");
  const asking = askBrains(core, principal, "zebra");
  await removeMember(core, left.team.id, user.id, COMMAND_LINE);
  const { total, hits } = await asking;
  expect([total, hits.map(({ filePath }) => filePath)]).toEqual([1, ["kept.md"]]);
});

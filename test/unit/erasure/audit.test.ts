import { expect, it } from "vitest";
import { createLink, decideLink } from "../../../src/insight/causes/causes.ts";
import { findDefect } from "../../../src/insight/defects/defects.ts";
import { COMMAND_LINE, recordEvent } from "../../../src/platform/audit/audit.ts";
import type { resolveTarget } from "../../../src/share/erasure/erasure.ts";
import { deliverAll, eraseNow, filesWith } from "../../support/erasure.ts";
import { startWithTeam } from "../../support/instance.ts";
import { ledgerFaults } from "../../support/ledger-faults.ts";

/** Two devices, of whose errors and sessions the audit tells. */
async function judged() {
  const { t, core, team } = await startWithTeam();
  const [mine, other] = [await t.device(team), await t.device(team)];
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, other, "till", "lavender");
  for (const { id } of t.rows("SELECT id FROM causal_links"))
    await decideLink(core, team.id, id, "confirmed", COMMAND_LINE);
  for (const { id } of t.rows("SELECT id FROM defects")) {
    const entry = findDefect(core, team.id, id);
    if (entry) await createLink(core, team.id, entry, { sessionId: "marigold-s1", commit: undefined }, COMMAND_LINE);
  }
  for (const { id, name } of t.rows("SELECT id, external_id AS name FROM trace_sessions"))
    await core.store.write(() =>
      recordEvent(core, COMMAND_LINE, {
        action: "agent_session.exported",
        teamId: team.id,
        target: { kind: "agent_session", id: `${id}`, label: name },
        detail: { repo: "shop" },
      }),
    );
  const erase = async (target: Parameters<typeof resolveTarget>[1]) => eraseNow(core, target);
  const told = (text: string): string[] =>
    t
      .rows("SELECT action FROM audit_events WHERE target_label || detail LIKE ? ORDER BY id", `%${text}%`)
      .map(({ action }) => action);
  const faults = () => ledgerFaults(core);
  return { t, mine, erase, told, faults };
}

it("leaves the audit of other teams as it is, though they have no session of that name any more", async () => {
  const { t, erase, told } = await judged();
  const { id: teamId } = await t.team();
  await t.instance.core.store.write(() =>
    recordEvent(t.instance.core, COMMAND_LINE, {
      action: "agent_session.exported",
      teamId,
      target: { kind: "agent_session", id: "1", label: "marigold-s1" },
    }),
  );
  await erase({ session: "marigold-s1" });
  expect(told("marigold-s1")).toEqual(["agent_session.exported"]);
});

it("leaves nothing in the audit of a device's entries and sessions once it is erased", async () => {
  const { t, mine, erase, told, faults } = await judged();
  expect(told("marigold")).toEqual(["link.confirmed", "link.created", "link.created", "agent_session.exported"]);
  await erase({ device: mine.deviceId });
  expect(told("marigold")).toEqual([]);
  expect(filesWith(t.directory, "marigold")).toEqual([]);
  expect(told("lavender")).toEqual(["link.confirmed", "link.created", "agent_session.exported"]);
  expect(faults()).toEqual([]);
});

it("removes a session's name from the audit, and no entry that stays", async () => {
  const { erase, told, faults } = await judged();
  await erase({ session: "marigold-s1" });
  expect(told("marigold-s1")).toEqual([]);
  expect(told("marigold loop")).toEqual(["link.confirmed", "link.created"]);
  expect(faults()).toEqual([]);
});

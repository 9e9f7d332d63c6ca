import { expect, it } from "vitest";
import { touchDevice } from "../../../src/identity/devices/devices.ts";
import { findDevice } from "../../../src/identity/devices/principals.ts";
import { startInstance } from "../../support/instance.ts";

it("keeps a device in memory while others are heard of, and sees a change of it", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const [one, other] = [await t.device(), await t.device()];
  const known = findDevice(core, one.token);
  expect(known).toMatchObject({ revokedAt: null });
  const heardOf = findDevice(core, other.token);
  t.clock.advance(60_000);
  const now = t.clock.now();
  await core.store.write(() => touchDevice(core, heardOf as NonNullable<typeof heardOf>, now));
  expect(findDevice(core, one.token)).toBe(known);
  expect(findDevice(core, other.token)).toMatchObject({ deviceId: heardOf?.deviceId, lastSeenAt: now });

  await core.store.write(() =>
    core.store.db.prepare("UPDATE devices SET revoked_at = ? WHERE id = ?").run(now, known?.deviceId),
  );
  expect(findDevice(core, one.token)).toMatchObject({ revokedAt: now });
  // A note that was to be stored when the binding ended is refused.
  const late = core.store.write(() => touchDevice(core, known as NonNullable<typeof known>, now));
  await expect(late).rejects.toMatchObject({ status: 401 });
  expect(t.rows("SELECT last_seen_at FROM devices WHERE id = ?", known?.deviceId)).toEqual([{ last_seen_at: null }]);
  await core.store.write(() => core.store.db.prepare("UPDATE teams SET name = 'Renamed ' || id").run());
  expect(findDevice(core, other.token)).toMatchObject({ teamName: `Renamed ${heardOf?.teamId}` });
});

import { expect, it } from "vitest";
import { listPacks, listTeamPacks } from "../../../src/share/packs/packs.ts";
import { startInstance, type TestDevice } from "../../support/instance.ts";
import { archiveOf, download, publish, publisher } from "../../support/packs.ts";

it("ranks each pack by the installs of other teams' devices, and tells all of them", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const install = async (device: TestDevice, ...names: string[]) => {
    for (const name of names) {
      const answer = await download(t, archiveOf(name), { authorization: `Bearer ${device.token}` });
      expect(answer.status).toBe(200);
      await answer.arrayBuffer();
    }
  };
  const one = await publisher(t, "first-rules");
  await publish(t, one.team.id, { name: "second-rules" });
  await publish(t, one.team.id, { name: "third-rules" });
  const other = await publisher(t, "other-rules");
  await install(one.device, "first-rules", "second-rules", "other-rules");
  await install(await t.device(one.team), "first-rules");
  await install(other.device, "first-rules", "other-rules");

  const told = ({ name, installs, why }: ReturnType<typeof listPacks>["entries"][number]) => [
    name,
    installs,
    why.find(({ factor }) => factor === "installs")?.value,
  ];
  const first = ["first-rules", 3, 1];
  const second = ["second-rules", 1, 0];
  const third = ["third-rules", 0, 0];
  expect(listPacks(core).entries.map(told).sort()).toEqual([first, ["other-rules", 2, 1], second, third]);
  expect(listTeamPacks(core, one.team.id).map(told).sort()).toEqual([first, second, third]);
});

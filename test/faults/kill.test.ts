import { describe, expect, it } from "vitest";
import { killRound } from "./support/kill.ts";
import { testData } from "./support/test.ts";

describe("kill -9 under load", () => {
  it("loses nothing acknowledged in three kills, leaves a sound file, and takes everything again without harm", async () => {
    const data = await testData({ devices: 4 });
    for (let round = 0; round < 3; round++) {
      const found = await killRound(data, `round${round}`, 20 + Math.floor(Math.random() * 150), (server) =>
        server.end("SIGKILL"),
      );
      expect(found).toMatchObject({ lost: [], resent: [], odd: [], integrity: "ok", verify: 0 });
      expect(found.acknowledged).toBeGreaterThanOrEqual(20);
    }
  });
});

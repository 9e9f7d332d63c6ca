import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { passAndLookAgain } from "../../src/capture/background.ts";
import { expectAgreement, startAgent } from "../support/capture.ts";

it("what is written after a hook rang is found, though another hook's pass was at its last look", async () => {
  const a = await startAgent();
  a.work("s1", 1);
  let written = 1;
  let isWriting = false;
  let hasRung = false;
  a.server.between = async (path, answer) => {
    const reply = await answer();
    if (path !== "/api/telemetry/ingest") return reply;
    // Between the first pass and its only look.
    if (!isWriting) setTimeout(() => a.work("s1", 1, written++), 200);
    isWriting = true;
    if (written === 2 && !hasRung) {
      hasRung = true;
      // During the last look the agent's last hook rings, whose own pass gives up, and then it writes how the turn ended.
      writeFileSync(join(a.capture.places.spool, "1-1-claude-code-Stop"), "");
      setTimeout(() => a.work("s1", 1, written++), 150);
    }
    return reply;
  };
  await passAndLookAgain(a.capture, [400]);
  expect(written).toBe(3);
  expectAgreement(a);
});

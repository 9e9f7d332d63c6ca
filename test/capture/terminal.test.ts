import { expect, it } from "vitest";
import { readStatus } from "../../src/capture/capture.ts";
import { readCredentials } from "../../src/capture/state.ts";
import { scanLines, troubleLine } from "../../src/surfaces/cli/agent-texts.ts";
import { facts, table } from "../../src/surfaces/cli/output.ts";
import { startAgent } from "../support/capture.ts";
import { newMachine } from "../support/machine.ts";

/** A text that clears the screen, reverses the text after it, and begins another line. */
const ACTING = "a\u001b[2Jb\u202ec\u2066d\u2028e\nf";
const ACTS = /[^\P{Cc}\n\t]|[\u2028\u2029]|(?![\u200c\u200d])\p{Cf}/u;

it("the terminal gets nothing that acts on it, and one line at most, of what a server says", async () => {
  const a = await startAgent({ connected: false });
  a.server.between = async (path, answer) => {
    const reply = await answer();
    if (path === "/api/connect/exchange")
      return Response.json(
        { ...((await reply.json()) as object), teamName: `Shop ${ACTING}` },
        { headers: { "service-api-version": "1" } },
      );
    return Response.json(
      { error: `${ACTING.repeat(3)}${"x".repeat(100_000)}` },
      { status: 403, headers: { "service-api-version": "1" } },
    );
  };
  await a.connect();
  const { stopped } = await a.pass();
  const status = readStatus(a.capture);
  for (const text of [stopped, status.trouble?.reason, readCredentials(a.capture.places)?.teamName]) {
    expect(text).toMatch(/a.*b.*c.*d.*e.*f/);
    expect(text).not.toMatch(ACTS);
    expect(text).not.toContain("\n");
    expect(text?.length).toBeLessThan(1_000);
  }
});

it("the terminal gets nothing that acts on it of what agents and people named", () => {
  const printed = [
    String(table(["NAME"], [[ACTING]], "")),
    facts([["name", ACTING]]),
    troubleLine({
      ...{ recorded: 1, sessionsSent: 1, rang: false, stopped: ACTING },
      unreadable: [{ path: `/home/kim/${ACTING}`, reason: "EACCES" }],
    }),
  ];
  for (const text of printed) {
    expect(text).not.toMatch(ACTS);
    expect(text).not.toContain("\n");
  }
  // Joiners are part of what people write.
  expect(facts([["name", "👩‍💻"]])).toContain("👩‍💻");
});

it("a scan that finds no session prints no line into a pipe, and tells beside it since when there was none", async () => {
  expect(scanLines([])).toBe("");
  const machine = newMachine();
  expect(await machine.run("reckon agent scan 2>/dev/null")).toBe("");
  expect(await machine.run("reckon agent scan 2>&1 >/dev/null")).toMatch(
    /^Nothing since \d{4}-\d\d-\d\dT\S+Z that may leave stands where agents keep their sessions: "--since" looks further back\.\n$/,
  );
});

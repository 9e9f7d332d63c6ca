import { expect, it } from "vitest";
import { ask, somebody } from "../../support/every-page.ts";
import { startWithDevice } from "../../support/instance.ts";

it("tells of an error with more entries than are listed how many there are, since when, and the neighbours of each", async () => {
  const { t, device } = await startWithDevice();
  const day = (i: number) => new Date(Date.UTC(2026, 10, 20) - i * 86_400_000).toISOString().slice(0, 10);
  const content = Array.from(
    { length: 1_200 },
    (_, i) => `## ${day(i)} Broke ${i}\n\n**Status:** open\n\n**Prevention rule:** look first\n`,
  ).join("\n");
  const json = { repoKey: "shop", version: 1, files: [{ path: ".claude/brain/errors.md", content }] };
  expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  const as = await somebody(t, device.team, "member");
  const text = async (path: string) => {
    const { status, text } = await ask(t, "GET", path, { as });
    expect([path, status]).toEqual([path, 200]);
    return text.replace(/\s+/g, " ");
  };
  await text("/errors");
  const id = (title: string) => t.rows("SELECT id FROM defects WHERE title = ?", title)[0].id as number;
  const [{ class: name }] = t.rows("SELECT class FROM triage_classes");
  const ofClass = await text(`/errors/classes/${name}`);
  for (const said of ["1,200 entries", "1,200 entries say open", "1,150 older ones are not shown", "8 Aug 2023"])
    expect([said, ofClass.includes(said)]).toEqual([said, true]);
  const ofOld = await text(`/errors/${id("Broke 1100")}`);
  for (const said of ["All 1,200", `/errors/${id("Broke 1101")}">← Previous`, `/errors/${id("Broke 1099")}">Next →`])
    expect([said, ofOld.includes(said)]).toEqual([said, true]);
});

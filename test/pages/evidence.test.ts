import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { checkBundle } from "../../src/kit/transparency/check.ts";
import { parseVkey } from "../../src/kit/transparency/note.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { ledgerKeys } from "../../src/platform/transparency/transparency.ts";
import { carryOut, placeHold, requestErasure, resolveTarget } from "../../src/share/erasure/erasure.ts";
import { startSiteOf, startSiteWithDevice, useBrowser } from "../support/browser.ts";

useBrowser();

const REPO = "github.com/acme/shop";

it("says that the record is complete, and hands out what checks it", async () => {
  const { site, person: ada } = await startSiteOf({ role: "admin" });
  const { page, go, judge } = await site.open(ada);
  await go("/evidence");
  expect(await page.locator(".verdict").textContent()).toMatch(/The record is complete: \d+ (leaf|leaves), signed/);
  expect(await page.getByText("Nothing is open").count()).toBe(1);
  await judge("evidence-complete");
  const key = ledgerKeys.vkey(site.t.instance.core) as string;
  expect(await page.getByRole("region", { name: "Public key" }).textContent()).toBe(key);
  // As an auditor would: the lines are pasted into a shell as they stand.
  const lines = (await page.getByRole("region", { name: "The checkpoint, with openssl alone" }).textContent()) ?? "";
  const cwd = mkdtempSync(join(tmpdir(), "reckon-"));
  const { stdout } = await promisify(execFile)("sh", ["-e", "-c", lines], { cwd });
  expect(stdout).toContain("Signature Verified Successfully");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "Download checkpoint" }).click(),
  ]);
  expect(readFileSync(await file.path(), "utf8").split("\n")[0]).toMatch(/\/ledger\/[0-9a-f]{16}\/1$/);
});

it("counts what is open of every stream, however many grew since, and of none that it is filled", async () => {
  const { site, person: ada } = await startSiteOf(
    { role: "admin" },
    { settings: { limitTelemetry: "off", limitBrain: "off" } },
  );
  const { token } = await site.t.device(ada.team);
  const send = async (repoKey: string, seq: number) => {
    const json = { repoKey, entries: [{ seq, payload: { type: "prompt" } }] };
    expect((await site.t.post("/api/telemetry/ingest", { token, json })).status).toBe(200);
  };
  const publish = async (version: number) => {
    const json = { repoKey: REPO, version, files: [{ path: "a.md", content: `${version}` }] };
    expect((await site.t.post("/api/brain/ingest", { token, json })).status).toBe(200);
  };
  await publish(1);
  await publish(3);
  for (let i = 0; i < 210; i++) await send(REPO, 1 + 2 * i);
  for (let i = 0; i < 1_000; i++) await send(`github.com/acme/service-${i}`, 1);
  const { page, go } = await site.open(ada);
  await go("/evidence");
  expect(await page.locator(".verdict").textContent()).toMatch(
    /210 gaps are open, 209 entries missing\. The log is whole/,
  );
  expect(await page.getByRole("table", { name: "Streams" }).locator("tbody th").allTextContents()).toEqual([
    "acme/shop",
  ]);
  await go("/overview");
  expect(await page.locator(".section > .more").textContent()).toContain("210 gaps");
  await go(`/repositories/overview?repo=${encodeURIComponent(REPO)}`);
  const devices = page.getByRole("table", { name: "Devices that send telemetry of it" });
  expect(await devices.locator("tbody tr").count()).toBe(1);
});

it("counts what is open, and shows holds and erasures with proofs to who manages the team", async () => {
  const { site, core, person: ada, device } = await startSiteWithDevice({ role: "admin" });
  const send = (seq: number, text: string) =>
    site.t.post("/api/telemetry/ingest", {
      token: device.token,
      json: { repoKey: REPO, entries: [{ seq, payload: { type: "prompt", text } }] },
    });
  await send(1, "first");
  await send(5, "fifth");
  await send(5, "another fifth");
  const entry = site.t.rows("SELECT min(id) AS id FROM telemetry_entries")[0]?.id;
  const erasure = await requestErasure(
    core,
    resolveTarget(core, { entry: `${entry ?? 1}` }),
    "asked for on 3 May",
    COMMAND_LINE,
  );
  await carryOut(core, erasure);
  await placeHold(core, { device: device.deviceId, reason: "A claim is open" }, COMMAND_LINE);
  const { page, go, judge } = await site.open(ada);
  await go("/evidence");
  expect(await page.locator(".verdict").textContent()).toContain("1 gap and 1 rollback are open, 3 entries missing");
  const main = await page.getByRole("main").textContent();
  for (const said of ["A claim is open", "asked for on 3 May", "entry 1 of acme/shop"]) expect(main).toContain(said);
  await judge("evidence");
  const [file] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("region", { name: "Erasures" }).getByRole("link", { name: "Done" }).click(),
  ]);
  const report = checkBundle(readFileSync(await file.path(), "utf8"), parseVkey(ledgerKeys.vkey(core) as string), []);
  expect(report.steps.filter(({ ok }) => !ok)).toEqual([]);
  const asked = site.t.rows("SELECT target_kind AS kind FROM audit_events WHERE action = 'proof.made'");
  expect(asked).toEqual([{ kind: "event" }]);
  const other = await site.open(await site.person({ role: "member", team: ada.team }));
  await other.go("/evidence");
  const seen = await other.page.getByRole("main").textContent();
  expect(seen).not.toContain("asked for on 3 May");
  expect(seen).not.toContain("A claim is open");
  const leaf = /event-(\d+)/.exec(file.suggestedFilename())?.[1];
  await other.go(`/evidence/events/${leaf}/proof`, 403);
  await (await site.open(await site.person({ role: "owner" }))).go(`/evidence/events/${leaf}/proof`, 404);
});

import { describe, expect, it } from "vitest";
import { assignDevice } from "../../src/identity/devices/devices.ts";
import { removeMember } from "../../src/identity/members/members.ts";
import { sha256Hex } from "../../src/kit/hash.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { type CaptureMode, parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { makeAccount } from "../support/accounts.ts";
import { startInstance, startWithDevice, startWithTeam } from "../support/instance.ts";

const PATH = "/api/brain/ingest";
const whole = (path: string, content: string) => ({ path, content });
const named = (path: string, content: string) => ({ path, contentSha256: sha256Hex(content) });
const snapshot = (version: number, ...files: object[]) => ({ version, repoKey: "acme/shop", files });
/** The current files: path and content. */
const CURRENT = `SELECT json_extract(e.value, '$[0]') AS path, b.content FROM brain_currents c
  JOIN brain_snapshots s ON s.id = c.snapshot_id JOIN brain_manifests m ON m.id = s.manifest_id, json_each(m.entries) e
  JOIN brain_blobs b ON b.id = json_extract(e.value, '$[1]') ORDER BY path`;

describe("brainIngest of files that are named by their digests", () => {
  it("stores the same snapshot as one with their contents: same files, size and digest", async () => {
    const digests: unknown[] = [];
    for (const unchanged of [whole, named]) {
      const { t, token } = await startWithDevice();
      await t.post(PATH, { token, json: snapshot(1, whole("a.md", "stays é"), whole("b.md", "old")) });
      const json = snapshot(2, unchanged("moved.md", "stays é"), whole("b.md", "new"));
      const answer = await t.post(PATH, { token, json });
      expect([answer.status, answer.body]).toEqual([
        200,
        { ok: true, version: 2, files: 2, bytes: 11, redactionHits: 0, ledger: { gap: false, rollback: false } },
      ]);
      expect(t.rows(CURRENT)).toEqual([
        { path: "b.md", content: "new" },
        { path: "moved.md", content: "stays é" },
      ]);
      expect(t.count("brain_blobs")).toBe(3);
      digests.push(t.rows("SELECT hex(sha256) AS digest, bytes FROM brain_manifests ORDER BY id DESC LIMIT 1"));
      expect((await t.post(PATH, { token, json })).body.ledger).toEqual({ gap: false, rollback: false });
      expect(t.count("brain_snapshots")).toBe(2);
    }
    expect(digests[1]).toEqual(digests[0]);
  });

  it("says which contents it needs, and stores nothing", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: snapshot(1, whole("a.md", "held"), whole("b.md", "scanned by other rules")) });
    t.instance.core.store.db.exec("UPDATE brain_blobs SET rules_version = 'older' WHERE content LIKE 'scanned%'");
    const files = [named("new.md", "never seen"), named("a.md", "held"), named("b.md", "scanned by other rules")];
    const answer = await t.post(PATH, { token, json: snapshot(2, ...files) });
    expect([answer.status, answer.body]).toEqual([
      400,
      { ok: false, code: "content_needed", error: expect.stringContaining('"new.md"'), missing: [0, 2] },
    ]);
    expect([t.count("brain_snapshots"), t.count("deliveries"), t.count("brain_blobs")]).toEqual([1, 1, 2]);
  });

  it("does not count another team's content as stored", async () => {
    const t = await startInstance();
    const [mine, others] = [await t.device(), await t.device()];
    await t.post(PATH, { token: others.token, json: snapshot(1, whole("a.md", "theirs")) });
    const answer = await t.post(PATH, { token: mine.token, json: snapshot(1, named("a.md", "theirs")) });
    expect([answer.status, answer.body.missing]).toEqual([400, [0]]);
    expect(t.count("brain_snapshots")).toBe(1);
  });

  it("tells the device of a person who sees only their own nothing of the contents that others sent", async () => {
    const { t, core, team } = await startWithTeam();
    const [theirs, own] = [await t.device(team), await t.device(team)];
    const member = { id: team.id, role: "own_only" } as const;
    const { id } = await makeAccount(core, {
      email: "eve@example.com",
      team: member,
    });
    await assignDevice(core, own.deviceId, id, COMMAND_LINE);
    const accepts = async (token: string, json: object) => {
      const { status, headers } = await t.post(PATH, { token, json });
      return [status, headers.get("reckon-accepts")];
    };
    expect(await accepts(theirs.token, snapshot(1, whole("a.md", "theirs")))).toEqual([200, "contentSha256"]);
    const files = [named("a.md", "theirs"), named("b.md", "nobody's")];
    const asked = await t.post(PATH, { token: own.token, json: snapshot(1, ...files) });
    expect([asked.status, asked.body.missing]).toEqual([400, [0, 1]]);
    // Nor does the reply offer to take files by their digests.
    expect(await accepts(own.token, snapshot(1, whole("a.md", "theirs")))).toEqual([200, null]);
    await removeMember(core, team.id, id, COMMAND_LINE);
    expect((await t.post(PATH, { token: own.token, json: snapshot(2, ...files) })).body.missing).toEqual([0, 1]);
  });

  it("needs every content while the policy keeps metadata only, and none while it is off", async () => {
    const { t, token, team } = await startWithDevice();
    const policy = (captureMode: CaptureMode) =>
      setPolicy(t.instance.core, team.id, parsePolicy(JSON.stringify({ captureMode })), COMMAND_LINE);
    await policy("metadata");
    expect((await t.post(PATH, { token, json: snapshot(1, whole("a.md", "text")) })).status).toBe(200);
    const answer = await t.post(PATH, { token, json: snapshot(2, named("a.md", "text")) });
    expect([answer.status, answer.body.missing]).toEqual([400, [0]]);
    // The stand-in that is stored for withheld text does not count as content either.
    await policy("full");
    const [{ digest }] = t.rows("SELECT lower(hex(sha256)) AS digest FROM brain_blobs");
    const standIn = await t.post(PATH, { token, json: snapshot(2, { path: "a.md", contentSha256: digest }) });
    expect([standIn.status, standIn.body.missing]).toEqual([400, [0]]);
    await policy("off");
    const unkept = await t.post(PATH, { token, json: snapshot(2, named("a.md", "text")) });
    expect([unkept.status, t.count("brain_snapshots")]).toEqual([200, 1]);
  });

  it("counts contents that are already stored towards the snapshot's size limit", async () => {
    const { t, token } = await startWithDevice({ settings: { maxBrainSnapshotBytes: "2000" } });
    const text = "0123456789".repeat(100);
    await t.post(PATH, { token, json: snapshot(1, whole("a.md", text)) });
    const twice = snapshot(2, named("a.md", text), named("b.md", text));
    expect((await t.post(PATH, { token, json: twice })).status).toBe(200);
    const more = snapshot(3, ...twice.files, whole("c.md", "x"));
    const answer = await t.post(PATH, { token, json: more });
    expect([answer.status, answer.body.error]).toEqual([
      413,
      expect.stringContaining("2001 bytes together; at most 2000"),
    ]);
    expect(t.count("brain_snapshots")).toBe(2);
  });

  it("refuses a file with neither content nor digest, and a malformed digest", async () => {
    const { t, token } = await startWithDevice();
    for (const [file, place] of [
      [{ path: "a.md" }, '"files.0.content" is missing'],
      [{ path: "a.md", contentSha256: "ABC" }, '"files.0.contentSha256" must be'],
      [{ path: "a.md", contentSha256: 1 }, '"files.0.contentSha256" must be a string'],
    ] as const) {
      const answer = await t.post(PATH, { token, json: snapshot(1, file) });
      expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining(place)]);
    }
    expect(t.count("brain_snapshots")).toBe(0);
  });
});

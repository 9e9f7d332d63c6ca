import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { RULES_VERSION } from "../../src/redact/redact.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";

const PATH = "/api/brain/ingest";
const file = (path: string, content = `# ${path}\n`) => ({ path, content });
const snapshot = (version: number, ...files: { path: string; content: string }[]) => ({
  version,
  repoKey: "acme/shop",
  files,
});
const secret = () => `ghp_${"a1B2c3D4e5F6g7H8i9J0".repeat(2).slice(0, 36)}`;

describe("brainIngest", () => {
  it("stores a snapshot and makes it current", async () => {
    const { t, token, team } = await startWithDevice();
    const answer = await t.post(PATH, {
      token,
      json: { ...snapshot(3, file("b.md"), file("a.md", "é")), clientTimestamp: "2026-11-21T08:00:00Z" },
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      { ok: true, version: 3, files: 2, bytes: 9, redactionHits: 0, ledger: { gap: false, rollback: false } },
    ]);
    expect(t.rows("SELECT version, accepted, client_timestamp FROM brain_snapshots")).toEqual([
      { version: 3, accepted: 1, client_timestamp: "2026-11-21T08:00:00Z" },
    ]);
    expect(t.rows("SELECT team_id, repo_key FROM brain_currents")).toEqual([
      { team_id: team.id, repo_key: "acme/shop" },
    ]);
    expect(t.rows("SELECT content FROM brain_blobs ORDER BY content").map((row) => row.content)).toEqual([
      "# b.md\n",
      "é",
    ]);
  });

  it("stores an unchanged file once, whatever its path or version", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: snapshot(1, file("a.md", "same"), file("b.md", "same"), file("c.md", "other")) });
    await t.post(PATH, {
      token,
      json: snapshot(2, file("a.md", "same"), file("b.md", "changed"), file("c.md", "other")),
    });
    expect([t.count("brain_blobs"), t.count("brain_snapshots"), t.count("brain_manifests")]).toEqual([3, 2, 2]);
  });

  it("scans and stores content anew that was scanned with other rules", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: snapshot(1, file("a.md", "same"), file("b.md", "other")) });
    t.instance.core.store.db.exec("UPDATE brain_blobs SET rules_version = 'older' WHERE content = 'same'");
    const answer = await t.post(PATH, { token, json: snapshot(2, file("a.md", "same"), file("b.md", "other!")) });
    expect([answer.status, answer.body.bytes]).toEqual([200, 10]);
    expect(t.rows("SELECT content, rules_version FROM brain_blobs ORDER BY content")).toEqual([
      { content: "other", rules_version: RULES_VERSION },
      { content: "other!", rules_version: RULES_VERSION },
      { content: "same", rules_version: RULES_VERSION },
    ]);
  });

  it("answers 503 and stores nothing when a stored file is erased while the snapshot is read, and accepts the retry", async () => {
    const { t, token } = await startWithDevice();
    const { db } = t.instance.core.store;
    await t.post(PATH, { token, json: snapshot(1, file("a.md", "goes"), file("b.md", "stays")) });
    const json = snapshot(2, file("a.md", "goes"), file("b.md", "stays"), file("c.md", "goes"));
    // The transaction that stores a snapshot first notes that the device was heard of; the trigger erases at that moment.
    t.clock.advance(DAY_MS);
    db.exec(
      "CREATE TEMP TRIGGER erased AFTER UPDATE ON main.devices BEGIN DELETE FROM brain_blobs WHERE content = 'goes'; END",
    );
    expect((await t.post(PATH, { token, json })).status).toBe(503);
    expect([t.count("brain_snapshots"), t.count("brain_manifests"), t.count("deliveries")]).toEqual([1, 1, 1]);
    db.exec("DROP TRIGGER erased");
    expect((await t.post(PATH, { token, json })).status).toBe(200);
    expect([t.count("brain_snapshots"), t.count("brain_manifests"), t.count("brain_blobs")]).toEqual([2, 2, 2]);
  });

  it("takes a retry as harmless", async () => {
    const { t, token } = await startWithDevice();
    // The order in which files are named does not matter.
    await t.post(PATH, { token, json: snapshot(1, file("b.md"), file("a.md")) });
    const again = await t.post(PATH, { token, json: snapshot(1, file("a.md"), file("b.md")) });
    expect(again.body.ledger).toEqual({ gap: false, rollback: false });
    expect([t.count("brain_snapshots"), t.count("deliveries")]).toEqual([1, 1]);
  });

  it("reports skipped versions and stores the snapshot all the same", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: snapshot(1, file("a.md")) });
    // A client that did not hear the answer asks again.
    for (let i = 0; i < 2; i++) {
      const answer = await t.post(PATH, { token, json: snapshot(4, file("a.md", "new")) });
      expect([answer.status, answer.body.ledger]).toEqual([200, { gap: true, rollback: false }]);
    }
    expect(t.rows("SELECT version FROM brain_snapshots s JOIN brain_currents c ON c.snapshot_id = s.id")).toEqual([
      { version: 4 },
    ]);
  });

  it("keeps different content under an old version as evidence, once, and never makes it current", async () => {
    const { t, token } = await startWithDevice();
    await t.post(PATH, { token, json: snapshot(5, file("a.md", "true")) });
    for (let i = 0; i < 2; i++) {
      const answer = await t.post(PATH, { token, json: snapshot(5, file("a.md", "rewritten")) });
      expect([answer.status, answer.body.ledger]).toEqual([200, { gap: false, rollback: true }]);
    }
    expect((await t.post(PATH, { token, json: snapshot(2, file("a.md", "older")) })).body.ledger.rollback).toBe(true);
    expect(t.rows("SELECT version, accepted FROM brain_snapshots ORDER BY id")).toEqual([
      { version: 5, accepted: 1 },
      { version: 5, accepted: 0 },
      { version: 2, accepted: 0 },
    ]);
    const { hits } = (await t.get("/api/brain/search?q=true", { token })).body;
    expect(hits).toHaveLength(1);
    expect((await t.get("/api/brain/search?q=rewritten", { token })).body.hits).toHaveLength(0);
  });

  it("takes the newest accepted snapshot of any of the team's devices as current", async () => {
    const { t, device: one } = await startWithDevice();
    const two = await t.device(one.team);
    await t.post(PATH, { token: one.token, json: snapshot(9, file("a.md", "from one")) });
    expect((await t.post(PATH, { token: two.token, json: snapshot(1, file("a.md", "from two")) })).body.ledger).toEqual(
      { gap: false, rollback: false },
    );
    const { hits } = (await t.get("/api/brain/search?q=from", { token: one.token })).body;
    expect(hits.map((hit: { snippet: string }) => hit.snippet)).toEqual(["from two"]);
  });

  it("refuses a raw secret naming file, line and rule, never the value, and stores nothing", async () => {
    const { t, token } = await startWithDevice();
    const answer = await t.post(PATH, {
      token,
      json: snapshot(1, file("ok.md"), file("notes/key.md", `# Key\n\ntoken ${secret()}\n`)),
    });
    expect(answer.status).toBe(422);
    expect(answer.body.error).toMatch(/notes\/key\.md line 3 \([\w-]*github[\w-]*\)/);
    expect(answer.text + t.log.join("")).not.toContain(secret());
    expect([t.count("brain_blobs"), t.count("brain_snapshots"), t.count("deliveries")]).toEqual([0, 0, 0]);
  });

  it("names every secret of a snapshot at once, and counts those beyond fifty", async () => {
    const { t, token } = await startWithDevice();
    const leaky = (path: string, count: number) => file(path, `# Keys\n${`token ${secret()}\n`.repeat(count)}`);
    const first = await t.post(PATH, { token, json: snapshot(1, leaky("a.md", 12), file("b.md"), leaky("c.md", 2)) });
    const named = [...Array.from({ length: 12 }, (_, i) => `a.md line ${i + 2}`), "c.md line 2", "c.md line 3"];
    expect([first.status, first.body.error]).toEqual([
      422,
      `Raw secret in ${named.map((place) => `${place} (github-token)`).join(", ")}. Nothing was stored; redact and send the snapshot again.`,
    ]);
    const second = await t.post(PATH, { token, json: snapshot(1, leaky("a.md", 40), leaky("c.md", 22)) });
    expect(second.body.error).toContain("a.md line 41 (github-token), c.md line 2 (github-token)");
    expect(second.body.error).toMatch(/c\.md line 11 \(github-token\); and 12 more\. Nothing was stored;/);
    expect([t.count("brain_blobs"), t.count("brain_snapshots"), t.count("deliveries")]).toEqual([0, 0, 0]);
  });

  it("replaces and counts likely secrets; a retry of the same file is still a retry", async () => {
    const { t, token } = await startWithDevice();
    const value = ["tr0ub4dor", "and", "3", "staples"].join("-");
    const json = snapshot(1, file("a.md", `DB_PASSWORD=${value}\nsee https://bot:${value}@db.example/x\n`));
    const answer = await t.post(PATH, { token, json });
    expect([answer.status, answer.body.redactionHits]).toEqual([200, 2]);
    expect(t.rows("SELECT redacted FROM deliveries")).toEqual([{ redacted: 1 }]);
    const stored = t.rows("SELECT content FROM brain_blobs")[0].content;
    expect(stored).toMatch(/^DB_PASSWORD=\[REDACTED:[\w-]+\]\nsee https:\/\/bot:\[REDACTED:[\w-]+\]@db\.example\/x\n$/);
    expect((await t.post(PATH, { token, json })).body).toEqual(answer.body);
    expect(t.count("brain_snapshots")).toBe(1);
  });

  it.each([
    ["climbs", "../up.md"],
    ["climbs in the middle", "a/../../up.md"],
    ["is absolute", "/etc/passwd"],
    ["names a drive", "C:notes.md"],
    ["has a backslash", "a\\b.md"],
    ["has a control character", "a\u0007.md"],
    ["has NUL", "a\u0000.md"],
    ["is empty", ""],
    ["has an empty part", "a//b.md"],
    ["has a dot part", "./a.md"],
    ["ends in a slash", "a/"],
    ["is over 512 bytes", `${"é".repeat(255)}.md`],
    ["has a lone surrogate", "a\ud800.md"],
    ["turns its direction", "a/\u202egpj.md"],
    ["isolates a direction", "\u2066a\u2069.md"],
    ["holds a space without width", "err\u200bors.md"],
    ["holds a joiner between Latin letters", "err\u200dors.md"],
    ["begins with a byte order mark", "\ufefferrors.md"],
    ["holds a soft hyphen", "err\u00adors.md"],
    ["has a line separator", "a\u2028b.md"],
    ["carries a text in tags", "a\u{e0068}\u{e0069}.md"],
    ["carries bytes in variation selectors", "😀\u{e0110}\u{e0111}.md"],
  ])("refuses a path that %s", async (_, path) => {
    const { t, token } = await startWithDevice();
    const answer = await t.post(PATH, { token, json: snapshot(1, file("fine.md"), file(path)) });
    expect([answer.status, answer.body.error]).toEqual([400, expect.stringContaining("file 1")]);
    expect(t.count("brain_snapshots")).toBe(0);
  });

  it("names the misleading character of a path, and accepts file names in all scripts", async () => {
    const { t, token } = await startWithDevice();
    const wrong = await t.post(PATH, { token, json: snapshot(1, file("a/\u202egpj.md")) });
    expect(wrong.body).toEqual({
      error: "The path of file 0 holds U+202E, which cannot be seen or changes how the rest reads.",
    });
    const paths = [
      ...["größe.md", "日本語/メモ.md", "עברית.md", "👩‍💻/❤️‍🔥 notes.md", "1️⃣.md", "می‌خواهم.md", "क्‍ष.md", "\ue000.md"],
      "葛\u{e0100}.md",
    ];
    expect((await t.post(PATH, { token, json: snapshot(1, ...paths.map((path) => file(path))) })).status).toBe(200);
    expect(t.rows("SELECT count(*) AS n FROM brain_blobs")).toEqual([{ n: paths.length }]);
  });

  it.each([
    ["twice the same", "a.md", "a.md"],
    ["the same but for case", "Notes.md", "notes.MD"],
    ["the same but for Unicode form", "caf\u00e9.md", "cafe\u0301.md"],
  ])("refuses paths that are %s", async (_, one, two) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json: snapshot(1, file(one), file(two)) })).status).toBe(400);
  });

  it.each([
    ["no version", { files: [] }],
    ["a negative version", { version: -1, files: [] }],
    ["a version as text", { version: "1", files: [] }],
    ["no files", { version: 1 }],
    ["a file without content", { version: 1, files: [{ path: "a.md" }] }],
    ["content with a lone surrogate", { version: 1, files: [file("a.md", "\udfff")] }],
  ])("refuses %s", async (_, json) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json })).status).toBe(400);
    expect(t.count("deliveries")).toBe(0);
  });

  it.each([
    ["501 files", snapshot(1, ...Array.from({ length: 501 }, (_, i) => file(`${i}.md`)))],
    ["a file over 1 MiB and its footer", snapshot(1, file("a.md", "x".repeat(1024 * 1024 + 4096 + 1)))],
    [
      "files over 8 MiB together",
      snapshot(1, ...Array.from({ length: 9 }, (_, i) => file(`${i}.md`, "x".repeat(1024 * 1024)))),
    ],
  ])("answers 413 to %s and stores nothing", async (_, json) => {
    const { t, token } = await startWithDevice();
    expect((await t.post(PATH, { token, json })).status).toBe(413);
    expect(t.count("brain_blobs")).toBe(0);
  });

  it("takes 500 files, an empty one, and one of 1 MiB with its footer", async () => {
    const { t, token } = await startWithDevice();
    const files = [
      file("big.md", "x".repeat(1024 * 1024 + 4096)),
      file("empty.md", ""),
      ...Array.from({ length: 498 }, (_, i) => file(`${i}.md`)),
    ];
    expect((await t.post(PATH, { token, json: snapshot(1, ...files) })).body).toMatchObject({ ok: true, files: 500 });
  });

  it("answers a starter team with the tiers that would include it", async () => {
    const t = await startInstance();
    const { token } = await t.device(await t.team({ tier: "starter" }));
    const answer = await t.post(PATH, { token, json: snapshot(1, file("a.md")) });
    expect([answer.status, answer.body.entitled]).toEqual([402, ["team", "enterprise"]]);
    expect(t.count("brain_snapshots")).toBe(0);
  });

  it("stores identical content for each team separately", async () => {
    const { t, device: one } = await startWithDevice();
    const two = await t.device();
    for (const { token } of [one, two]) await t.post(PATH, { token, json: snapshot(1, file("a.md", "shared words")) });
    expect(
      t
        .rows("SELECT team_id FROM brain_blobs")
        .map((row) => row.team_id)
        .sort(),
    ).toEqual([one.team.id, two.team.id].sort());
  });
});

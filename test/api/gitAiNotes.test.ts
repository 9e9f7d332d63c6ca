import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { assignDevice, revokeDevice } from "../../src/identity/devices/devices.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { parsePolicy, setPolicy } from "../../src/record/policy/policy.ts";
import { NOTES, noteOf, read, sha, UPLOAD, upload } from "../support/git-ai.ts";
import { startInstance, startWithDevice, type TestDevice, type TestInstance } from "../support/instance.ts";
import { ledgerFaults } from "../support/ledger-faults.ts";
import { turnsOfOthers } from "../support/others.ts";
import { memberOf } from "../support/reads.ts";

const faultsOf = (t: TestInstance) => ledgerFaults(t.instance.core);
const deliveries = (t: TestInstance) =>
  t.rows("SELECT kind, mode, items, item_count, withheld FROM deliveries ORDER BY id");
const LEAF = { kind: "traces", mode: "notes", items: 0, withheld: 0 };

describe("gitAiNotesUpload", () => {
  it("keeps notes byte for byte, the last of each commit, as leaves of the log", async () => {
    const { t, token } = await startWithDevice();
    const odd = "\u0000\r\n\t  tab\u2028\u00a0 \ufeff\u{1f600} é \\u0041 ---\n\n";
    const answer = await upload(t, token, { [sha("a")]: noteOf(), [sha("b")]: odd, [sha("c")]: "" });
    expect([answer.status, answer.body]).toEqual([200, { success_count: 3, failure_count: 0 }]);
    expect(answer.headers.get("reckon-receipt")).not.toBeNull();
    expect((await read(t, token, sha("a"), sha("b"), sha("c"), sha("d"))).body).toEqual({
      notes: { [sha("a")]: noteOf(), [sha("b")]: odd, [sha("c")]: "" },
    });
    expect(deliveries(t)).toEqual([{ ...LEAF, item_count: 4 }]);

    // An unchanged note is not stored again; a changed one is.
    expect((await upload(t, token, { [sha("a")]: noteOf() })).headers.get("reckon-receipt")).toBeNull();
    expect((await upload(t, token, { [sha("a")]: "anew", [sha("b")]: odd })).body.success_count).toBe(2);
    expect((await read(t, token, sha("a"))).body).toEqual({ notes: { [sha("a")]: "anew" } });
    expect(deliveries(t)).toEqual([
      { ...LEAF, item_count: 4 },
      { ...LEAF, item_count: 2 },
    ]);
    expect(t.rows("SELECT session_id FROM trace_note_sessions")).toEqual([]);
    expect(faultsOf(t)).toEqual([]);

    t.rows("UPDATE trace_notes SET content = x'00' WHERE commit_sha = ? RETURNING id", sha("b"));
    expect(faultsOf(t)).toMatchObject([{ problem: "content", detail: expect.stringContaining("notes") }]);
  });

  it("takes gzip and either spelling of its path, and a token in either header", async () => {
    const { t, token } = await startWithDevice();
    const body = new Uint8Array(
      gzipSync(JSON.stringify({ entries: [{ commit_sha: sha("a"), content: "n", more: 1 }] })),
    );
    const headers = { "content-type": "application/json", "content-encoding": "gzip" };
    expect((await t.post(`${UPLOAD}/`, { token, body, headers })).body).toEqual({ success_count: 1, failure_count: 0 });
    for (const path of [NOTES, NOTES.slice(0, -1)])
      expect((await t.get(`${path}?commits=${sha("a")}`, { token })).body).toEqual({ notes: { [sha("a")]: "n" } });
    // A user who is signed in to Git AI's own service sends that token beside the key.
    const both = { "x-api-key": token, authorization: "Bearer eyJhbGciOiJIUzI1NiJ9.e30.x" };
    expect((await t.get(`${NOTES}?commits=${sha("a")}`, { headers: both })).status).toBe(200);
    expect((await t.post(UPLOAD, { token, json: { entries: [] } })).body).toEqual({
      success_count: 0,
      failure_count: 0,
    });
  });

  it("counts what can never be kept as failed, and keeps the rest", async () => {
    const { t, token } = await startWithDevice();
    const key = `AKIA${"QRSTUVWX23456ABC"}`;
    const hidden = noteOf({ more: { custom: "x" } }).replace('"x"', `"\\u0041KIA${key.slice(4)}"`);
    const entries = [
      [sha("a"), noteOf()],
      [sha("b"), `${noteOf()}\n${key}`],
      [sha("c"), hidden],
      ["abc", "too short"],
      ["a".repeat(65), "too long"],
      [`${sha("a")}'; DROP TABLE trace_notes; --`, "no commit"],
      ["__proto__", "no commit"],
      ["../../etc/passwd", "no commit"],
      [sha("d"), "\ud800"],
      [sha("e"), `---\n${"[".repeat(100_000)}`],
      [sha("f"), "x".repeat(8 * 1024 * 1024)],
      [sha("0"), "é".repeat(4 * 1024 * 1024 + 1)],
      ["AbCd", "kept"],
      ["abcd", "another"],
    ].map(([commit_sha, content]) => ({ commit_sha, content }));
    const answer = await t.post(UPLOAD, { token, json: { entries } });
    expect(answer.body).toEqual({ success_count: 4, failure_count: 10 });
    expect(t.rows("SELECT commit_sha AS c FROM trace_notes ORDER BY id").map(({ c }) => c)).toEqual([
      sha("a"),
      sha("f"),
      "AbCd",
      "abcd",
    ]);
    expect((await read(t, token, "AbCd")).body).toEqual({ notes: { AbCd: "kept" } });
    expect((await read(t, token, sha("f"))).body.notes[sha("f")]).toHaveLength(8 * 1024 * 1024);
    expect(faultsOf(t)).toEqual([]);
  });

  it("refuses a body of another form, and one that is too large", async () => {
    const { t, token } = await startWithDevice();
    const headers = { "content-type": "application/json" };
    for (const body of ["not json", "[]", '{"entries":{}}', '{"entries":[{"commit_sha":1,"content":""}]}', "{}"]) {
      const answer = await t.post(UPLOAD, { token, headers, body });
      expect([answer.status, typeof answer.body.error]).toEqual([400, "string"]);
    }
    const bytes = Buffer.from(`{"entries":[{"commit_sha":"${sha("a")}","content":"_"}]}`);
    bytes[bytes.indexOf("_")] = 0xff;
    expect((await t.post(UPLOAD, { token, headers, body: new Uint8Array(bytes) })).status).toBe(400);
    expect((await t.post(UPLOAD, { token, headers, body: " ".repeat(64 * 1024 * 1024 + 1) })).status).toBe(413);
    const many = Array.from({ length: 5_001 }, () => ({ commit_sha: sha("a"), content: "" }));
    expect((await t.post(UPLOAD, { token, json: { entries: many } })).status).toBe(413);
    expect(t.count("trace_notes")).toBe(0);
  });

  it("stores a large batch in parts, each a leaf", async () => {
    const { t, token } = await startWithDevice();
    const entries = Array.from({ length: 450 }, (_, i) => ({
      commit_sha: i.toString(16).padStart(40, "0"),
      content: noteOf(),
    }));
    expect((await t.post(UPLOAD, { token, json: { entries } })).body).toEqual({ success_count: 450, failure_count: 0 });
    expect(deliveries(t).map((one) => one.item_count)).toEqual([201, 201, 51]);
    expect(faultsOf(t)).toEqual([]);
  });

  it("takes the largest batch over a socket, and gives it back piece by piece", async () => {
    const { t, token } = await startWithDevice({ settings: { port: "0", workers: "1" } });
    const url = await t.instance.listen();
    const notes = ["1", "2", "3", "4", "5", "6", "7"].map(
      (digit) => [sha(digit), digit.repeat(8 * 1024 * 1024)] as const,
    );
    const headers = { "x-api-key": token, "content-type": "application/json" };
    const body = JSON.stringify({ entries: notes.map(([commit_sha, content]) => ({ commit_sha, content })) });
    const sent = await fetch(`${url}${UPLOAD}`, { method: "POST", headers, body });
    expect([sent.status, await sent.json()]).toEqual([200, { success_count: 7, failure_count: 0 }]);
    expect(deliveries(t)).toHaveLength(7);
    const given = await fetch(`${url}${NOTES}?commits=${notes.map(([commit]) => commit).join(",")}`, { headers });
    const { notes: held } = (await given.json()) as { notes: Record<string, string> };
    for (const [commit, content] of notes) expect(held[commit] === content).toBe(true);
    expect(faultsOf(t)).toEqual([]);
  });

  it("lets others in while a large note is sent back", async () => {
    const { t, token } = await startWithDevice();
    const large = "\u0001".repeat(8 * 1024 * 1024);
    await upload(t, token, { [sha("d")]: large });
    const { turns, done } = await turnsOfOthers(t.instance.core, () => read(t, token, sha("d")));
    expect([done.body.notes[sha("d")] === large, turns > 30]).toEqual([true, true]);
    // The character at the end of the first piece is a surrogate pair.
    const split = `${"x".repeat(256 * 1024 - 1)}😀"\n`;
    await upload(t, token, { [sha("e")]: split, [sha("f")]: "" });
    expect((await read(t, token, sha("e"), sha("f"))).body).toEqual({ notes: { [sha("e")]: split, [sha("f")]: "" } });
  });

  it.each([
    [
      "it is disconnected",
      (t: TestInstance, { deviceId }: TestDevice) => revokeDevice(t.instance.core, deviceId, COMMAND_LINE),
    ],
    ["its person has left", ({ instance: { core } }: TestInstance) => core.store.db.exec("DELETE FROM memberships")],
  ] as const)("gives a device no more of its notes once %s", async (_, end) => {
    const { t, device } = await startWithDevice();
    await assignDevice(t.instance.core, device.deviceId, (await memberOf(t, device.team)).id, COMMAND_LINE);
    const note = noteOf({ more: { text: "x".repeat(2_000_000) } });
    await upload(t, device.token, { [sha("a")]: note, [sha("b")]: note });
    const request = new Request(`http://localhost${NOTES}?commits=${sha("a")},${sha("b")}`, {
      headers: { "x-api-key": device.token },
    });
    let bytes = 0;
    const readAll = async (): Promise<void> => {
      for await (const piece of (await t.instance.fetch(request)).body as ReadableStream<Uint8Array>) {
        if (bytes === 0) await end(t, device);
        bytes += piece.length;
      }
    };
    await expect(readAll()).rejects.toThrow();
    // Only the pieces that were already made are still sent.
    expect(bytes).toBeLessThan(1_000_000);
  });

  it("keeps what the team's policy allows", async () => {
    const { t, device } = await startWithDevice();
    const mode = (captureMode: string) =>
      setPolicy(t.instance.core, device.team.id, parsePolicy(JSON.stringify({ captureMode })), COMMAND_LINE);
    await mode("off");
    expect((await upload(t, device.token, { [sha("a")]: noteOf() })).body).toEqual({
      success_count: 0,
      failure_count: 1,
    });
    await mode("metadata");
    const asked = noteOf({
      more: {
        prompts: {
          d9978a8723e02b52: { agent_id: { tool: "cursor", id: "x" }, messages: [{ type: "user", text: "Hi" }] },
        },
      },
    });
    expect((await upload(t, device.token, { [sha("a")]: noteOf(), [sha("b")]: asked })).body).toEqual({
      success_count: 1,
      failure_count: 1,
    });
    await mode("full");
    expect((await upload(t, device.token, { [sha("b")]: asked })).body.success_count).toBe(1);
    expect(t.rows("SELECT deliveries FROM policy_violations")).toEqual([{ deliveries: 2 }]);
    expect(deliveries(t).map((one) => one.withheld)).toEqual([1, 0]);
  });

  it("is for teams whose tier includes sessions, and for devices that are connected", async () => {
    const t = await startInstance();
    const starter = await t.device(await t.team({ tier: "starter" }));
    expect((await upload(t, starter.token, { [sha("a")]: "n" })).body.entitled).toEqual(["team", "enterprise"]);
    const device = await t.device();
    expect((await upload(t, "rkd_nobody", { [sha("a")]: "n" })).status).toBe(401);
    expect((await t.post(UPLOAD, { json: { entries: [] } })).status).toBe(401);
    await revokeDevice(t.instance.core, device.deviceId, COMMAND_LINE);
    const refused = await upload(t, device.token, { [sha("a")]: "n" });
    expect([refused.status, typeof refused.body.error]).toEqual([401, "string"]);
    const late = await t.device();
    t.clock.advance(400 * DAY_MS);
    expect((await upload(t, late.token, { [sha("a")]: "n" })).status).toBe(401);
    expect((await read(t, late.token, sha("a"))).status).toBe(401);
    expect(t.count("trace_notes")).toBe(0);
  });
});

describe("gitAiNotesRead", () => {
  it("gives a team its own notes and nobody else's, whichever of its devices sent them", async () => {
    const t = await startInstance();
    const [one, other] = [await t.device(), await t.device()];
    const colleague = await t.device(one.team);
    await upload(t, one.token, { [sha("a")]: "ours" });
    await upload(t, other.token, { [sha("a")]: "theirs", [sha("b")]: "theirs" });
    expect((await read(t, colleague.token, sha("a"), sha("b"))).body).toEqual({ notes: { [sha("a")]: "ours" } });
    expect((await read(t, other.token, sha("a"))).body).toEqual({ notes: { [sha("a")]: "theirs" } });
    await upload(t, colleague.token, { [sha("a")]: "a colleague's" });
    expect((await read(t, one.token, sha("a"))).body).toEqual({ notes: { [sha("a")]: "a colleague's" } });
    // The first device's last delivery holds nothing any more, which is no fault.
    expect(faultsOf(t)).toEqual([]);
  });

  it("answers 404 where there is no note, and accepts up to a hundred commits", async () => {
    const { t, token } = await startWithDevice();
    for (const commits of [[sha("a")], [], ["", ""]]) {
      const answer = await read(t, token, ...commits);
      expect([answer.status, answer.body]).toEqual([404, { notes: {} }]);
    }
    const many = Array.from({ length: 101 }, (_, i) => i.toString(16).padStart(40, "0"));
    await upload(t, token, Object.fromEntries(many.map((commit) => [commit, commit])));
    const answer = await read(t, token, ...many.slice(1));
    expect([answer.status, Object.keys(answer.body.notes).length]).toEqual([200, 100]);
    expect((await read(t, token, ...many)).status).toBe(400);
    expect((await read(t, token, "xyz")).status).toBe(400);
    expect((await t.get(NOTES, { token })).status).toBe(400);
    expect((await t.get(`${NOTES}?commits=${sha("a")}`)).status).toBe(401);
    expect((await t.call("HEAD", `${NOTES}?commits=${many[1]}`, { token })).status).toBe(200);
  });
});

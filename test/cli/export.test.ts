import { execFileSync } from "node:child_process";
import { createHash, randomBytes } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { expect, it } from "vitest";
import { createReadToken } from "../../src/identity/read-tokens/read-tokens.ts";
import { endSessionsOf, storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { noteView } from "../../src/insight/session-views/session-views.ts";
import { SECOND_MS } from "../../src/kit/clock.ts";
import { vkeyOf } from "../../src/kit/transparency/note.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { setPolicy } from "../../src/record/policy/policy.ts";
import { exportArchive, resolveScope } from "../../src/share/export/export.ts";
import { rowsOf } from "../faults/support/data.ts";
import { makeAccount } from "../support/accounts.ts";
import { deliverAll, personWith } from "../support/erasure.ts";
import { newFolder } from "../support/folder.ts";
import { startInstance, startWithDevice } from "../support/instance.ts";
import { cosignerOf } from "../support/ledger.ts";
import { command } from "../support/remote.ts";
import { processorMs } from "../support/time.ts";

/** Unpacks an archive with the system's tar and checks every file against the manifest. @returns texts by path */
function unpack(file: string): { files: Map<string, string>; manifest: { scope: object; files: { path: string }[] } } {
  const folder = newFolder();
  writeFileSync(join(folder, "a.tar"), zstdDecompressSync(readFileSync(file)));
  execFileSync("tar", ["-xf", "a.tar"], { cwd: folder });
  rmSync(join(folder, "a.tar"));
  const manifest = JSON.parse(readFileSync(join(folder, "MANIFEST.json"), "utf8"));
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true, encoding: "utf8" }).filter((one) =>
    one.isFile(),
  );
  const files = new Map<string, string>();
  for (const { parentPath, name } of paths) {
    const path = join(parentPath, name).slice(folder.length + 1);
    if (path !== "MANIFEST.json") files.set(path, readFileSync(join(folder, path), "utf8"));
  }
  const digests = [...files].map(([path, text]) => ({
    path,
    bytes: Buffer.byteLength(text),
    sha256: createHash("sha256").update(text).digest("hex"),
  }));
  expect(manifest.files.toSorted((a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1))).toEqual(
    digests.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
  );
  return { files, manifest };
}

/** Makes an archive of files, with a manifest that fits them. */
function repack(target: string, files: ReadonlyMap<string, string>): void {
  const folder = newFolder();
  const listed = [...files].map(([path, text]) => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
    return { path, bytes: text.length, sha256: createHash("sha256").update(text).digest("hex") };
  });
  writeFileSync(join(folder, "MANIFEST.json"), JSON.stringify({ version: 1, files: listed }));
  const paths = [...files.keys(), "MANIFEST.json"];
  writeFileSync(
    target,
    zstdCompressSync(execFileSync("tar", ["--format=ustar", "-cf", "-", ...paths], { cwd: folder })),
  );
}

const lines = (text: string | undefined) =>
  (text ?? "")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));

it("writes everything of a team, a repository or a person into an archive whose digests hold", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const [mine, other] = [await t.device(team), await t.device(team)];
  await personWith(t, mine, "ada@example.com");
  await deliverAll(t, mine, "shop", "marigold");
  await deliverAll(t, mine, "till", "crocus");
  await deliverAll(t, other, "till", "lavender");
  // Somebody else, whose address ends like the person's.
  await makeAccount(t.instance.core, { email: "rada@example.com", name: "Rada" });
  await t.close();
  const made = async (name: string, ...args: string[]) => {
    const out = join(t.directory, name);
    const done = await command(["export", ...args, "--out", out, "--data", t.directory, "--json"]);
    expect([done.code, done.stderr]).toEqual([0, ""]);
    return { result: JSON.parse(done.stdout), ...unpack(out) };
  };
  const whole = await made("team.tar.zst", "--team", "Acme");
  expect([...whole.files.keys()].filter((path) => !path.startsWith("brain/")).sort()).toEqual([
    "audit/00001.jsonl",
    "checkpoint",
    "deliveries/00001.jsonl",
    "notes/00001.jsonl",
    "sessions/00001.jsonl",
    "telemetry/00001.jsonl",
  ]);
  expect(lines(whole.files.get("telemetry/00001.jsonl"))).toHaveLength(9);
  expect(lines(whole.files.get("deliveries/00001.jsonl"))).toHaveLength(12);
  expect(lines(whole.files.get("notes/00001.jsonl"))).toHaveLength(3);
  expect(whole.result).toMatchObject({
    files: whole.manifest.files.length + 1,
    manifestSha256: expect.stringMatching(/^[0-9a-f]{64}$/),
  });
  const [snapshot] = lines(whole.files.get("brain/00001.jsonl"));
  expect(whole.files.get(`brain/${snapshot.files[1].sha256}.md`)).toBe("# marigold brain 1");

  const repo = await made("repo.tar.zst", "--repo", "till");
  expect(repo.files.has("audit/00001.jsonl")).toBe(false);
  const repos = new Set(lines(repo.files.get("deliveries/00001.jsonl")).map(({ repoKey }) => repoKey));
  expect([...repos]).toEqual(["till"]);
  const text = [...repo.files.values()].join("");
  expect([text.includes("crocus"), text.includes("lavender"), text.includes("marigold")]).toEqual([true, true, false]);
  expect(
    lines(repo.files.get("sessions/00001.jsonl"))
      .map(({ type }) => type)
      .sort(),
  ).toEqual(["label", "label", "label", "label", "session", "session", "span", "span"]);

  const mistyped = join(t.directory, "mistyped.tar.zst");
  for (const team of [[], ["--team", "Acme"]]) {
    const refused = await command(["export", "--repo", "tlil", ...team, "--out", mistyped, "--data", t.directory]);
    expect(refused).toEqual({ code: 1, stdout: "", stderr: 'reckon: nothing was recorded of a repository "tlil"\n' });
  }
  expect(existsSync(mistyped)).toBe(false);

  const person = await made("ada.tar.zst", "--person", "ada@example.com");
  const theirs = [...person.files.values()].join("");
  expect([theirs.includes("crocus"), theirs.includes("marigold"), theirs.includes("lavender")]).toEqual([
    true,
    true,
    false,
  ]);
  expect(JSON.parse(person.files.get("person.json") ?? "")).toMatchObject({ email: "ada@example.com" });
  const devices = new Set(lines(person.files.get("deliveries/00001.jsonl")).map(({ deviceId }) => deviceId));
  expect([...devices]).toEqual([mine.deviceId]);
  expect(theirs).not.toContain("passwordHash");
  expect(lines(person.files.get("audit/00001.jsonl")).length).toBeGreaterThan(0);
  expect(theirs).not.toContain("rada@example.com");

  expect(rowsOf(t.directory, "SELECT count(*) AS n FROM audit_events WHERE action = 'record.exported'")).toEqual([
    { n: 3 },
  ]);
  const again = await command([
    "export",
    "--team",
    "Acme",
    "--out",
    join(t.directory, "team.tar.zst"),
    "--data",
    t.directory,
  ]);
  expect([again.code, again.stderr]).toEqual([1, expect.stringContaining("never overwrites")]);
  expect((await command(["export", "--out", "x", "--data", t.directory])).code).toBe(2);
});

it("gives a person their account, sign-ins and questions, and the sessions that they opened", async () => {
  const t = await startInstance();
  const { core } = t.instance;
  const team = await t.team({ name: "Acme" });
  const device = await t.device(team);
  const ada = await personWith(t, device, "ada@example.com");
  const eve = await makeAccount(core, { email: "eve@example.com", team: { id: team.id, role: "member" } });
  const signIn = (userId: string, ip: string) =>
    core.store.write(() => storeSession(core, userId, { ip, userAgent: `browser of ${ip}` }));
  await signIn(ada.id, "192.0.2.1");
  await core.store.write(() => endSessionsOf(core, ada.id));
  t.clock.advance(SECOND_MS);
  await signIn(ada.id, "192.0.2.2");
  await signIn(eve.id, "192.0.2.3");
  const { token } = await createReadToken(core, { userId: ada.id, name: "editor" }, COMMAND_LINE);
  for (let i = 0; i < 201; i++) {
    t.clock.advance(SECOND_MS);
    expect((await t.get(`/api/me/brain/context?q=question+${i}`, { token })).status).toBe(200);
  }
  const view = { teamId: team.id, deviceId: device.deviceId };
  await noteView(core, { ...view, sessionId: 7, userId: ada.id });
  await noteView(core, { ...view, sessionId: 8, userId: eve.id });
  await t.close();
  const out = join(t.directory, "ada.tar.zst");
  expect((await command(["export", "--person", "ada@example.com", "--out", out, "--data", t.directory])).code).toBe(0);
  const { files } = unpack(out);
  const of = (name: string) => lines(files.get(`${name}/00001.jsonl`));
  expect(JSON.parse(files.get("person.json") ?? "")).toMatchObject({
    email: "ada@example.com",
    createdAt: expect.stringMatching(/^2026-11-\d\dT/),
    teams: [{ name: "Acme", role: "member" }],
    devices: [{ id: device.deviceId }],
    readTokens: [{ name: "editor" }],
  });
  expect(of("sign-ins")).toMatchObject([
    { ip: "192.0.2.1", userAgent: "browser of 192.0.2.1", endedAt: expect.stringMatching(/Z$/) },
    { ip: "192.0.2.2", endedAt: null },
  ]);
  expect(of("questions").map(({ question }) => question)).toEqual(
    expect.arrayContaining(["question 0", "question 200"]),
  );
  expect(of("questions")).toHaveLength(201);
  expect(of("sessions-opened")).toMatchObject([{ sessionId: 7 }]);
  const all = [...files.values()].join("");
  for (const secret of [token, "Hash", "192.0.2.3"]) expect(all).not.toContain(secret);
});

interface Step {
  readonly step: string;
  readonly ok: boolean;
  readonly detail: string;
}

it("makes archives that anybody can check with the log's key, and no forged one", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const device = await t.device(team);
  await personWith(t, device, "ada@example.com");
  await deliverAll(t, device, "shop", "marigold");
  // White space is part of what was delivered.
  const body = '{"entries":[{"seq":1,"payload":{\n "text": "broken line"\n}}]}';
  expect(
    (
      await t.post("/api/telemetry/ingest", {
        token: device.token,
        body,
        headers: { "content-type": "application/json" },
      })
    ).status,
  ).toBe(200);
  await t.close();
  const key = (await command(["ledger", "key", "--data", t.directory])).stdout.trim();
  const out = join(t.directory, "team.tar.zst");
  expect((await command(["export", "--team", "Acme", "--out", out, "--data", t.directory])).code).toBe(0);
  const check = async (file: string, ...args: string[]) => {
    const { code, stdout, stderr } = await command(["ledger", "check", file, "--key", key, ...args, "--json"]);
    expect(stderr).toBe("");
    const { proven, steps } = JSON.parse(stdout) as { proven: boolean; steps: Step[] };
    expect(code).toBe(proven ? 0 : 1);
    return { proven, steps, failed: steps.filter(({ ok }) => !ok).map(({ step, detail }) => `${step}: ${detail}`) };
  };
  const whole = await check(out);
  expect(whole.failed).toEqual([]);
  expect(whole.steps.map(({ step }) => step)).toEqual(["file", "checkpoint", "inclusion", "item"]);
  expect(whole.steps[3]?.detail).toMatch(/^all of \d+ deliveries are what was delivered; nothing proves "audit"$/);

  const witness = vkeyOf(cosignerOf("audit.example/w1", 2));
  expect((await check(out, "--witness", witness)).failed).toEqual([
    expect.stringMatching(/^cosignature: audit\.example\/w1 .* did not cosign/),
  ]);

  const { files } = unpack(out);
  const forged = async (path: string, forge: (text: string) => string) => {
    const target = join(t.directory, "forged.tar.zst");
    const text = files.get(path) as string;
    expect(forge(text)).not.toBe(text);
    repack(target, new Map([...files, [path, forge(text)]]));
    return (await check(target)).failed.join();
  };
  const changed = (from: string | RegExp, to: string) => (text: string) => text.replace(from, to);
  expect(await forged("telemetry/00001.jsonl", changed("marigold", "marygold"))).toMatch(
    /item: .*not what was delivered/,
  );
  expect(await forged("telemetry/00001.jsonl", changed(/^.*\n/, ""))).toMatch(
    /item: not all that was delivered is there/,
  );
  expect(await forged("sessions/00001.jsonl", changed("marigold", "marygold"))).toMatch(
    /item: .*not what was delivered/,
  );
  expect(await forged("brain/00001.jsonl", changed('"version":1', '"version":7'))).toMatch(
    /item: .*not what was delivered/,
  );
  expect(await forged("deliveries/00001.jsonl", changed('"redacted":0', '"redacted":1'))).toMatch(
    /not in its leaf: redacted/,
  );
  expect(
    await forged("deliveries/00001.jsonl", (text) =>
      text.replace(/(?<="inclusion":\[")./, (char) => (char === "A" ? "B" : "A")),
    ),
  ).toMatch(/^inclusion: /);
  expect(await forged("deliveries/00001.jsonl", changed(/"leaf":"\{\\"v\\":2/, '"leaf":"{\\"v\\":3'))).toMatch(
    /^inclusion: /,
  );
  expect(await forged("deliveries/00001.jsonl", changed('"receivedAt":"20', '"receivedAt":"19'))).toMatch(
    /inclusion: delivery \d+ came at another time/,
  );
  const repeated = (text: string) => text + text.slice(0, text.indexOf("\n") + 1);
  expect(await forged("deliveries/00001.jsonl", repeated)).toMatch(/^file: delivery \d+ is there twice/);
  // An item shown differently from what is proven, or shown twice.
  const shown = changed(/("payload":\{[^}]*)broken line/, "$1broken lime");
  expect(await forged("telemetry/00001.jsonl", shown)).toMatch(/item: .* says two things/);
  const twice = (text: string) => `${text.replace(/marigold telemetry 0/, "another")}${text}`;
  expect(await forged("telemetry/00001.jsonl", twice)).toMatch(/item: .* is there twice/);
  for (const name of ["deviceId", "repoKey", "receivedAt"]) {
    const other = changed(new RegExp(`"${name}":"[^"]*"`), `"${name}":"other"`);
    expect(await forged("telemetry/00001.jsonl", other)).toMatch(new RegExp(`item: .*: ${name}$`));
  }
  const doubled = changed(/"payload":/, '"payload":{"text":"shown"},"payload":');
  expect(await forged("telemetry/00001.jsonl", doubled)).toMatch(/item: .* says two things/);
  expect(await forged("checkpoint", changed(/\n\d+\n/, "\n3\n"))).toMatch(/^checkpoint: /);
  const content = [...files.keys()].find((path) => path.endsWith(".md")) as string;
  expect(await forged(content, (text) => `${text}!`)).toMatch(/item: the content of .* is another/);
  expect(await forged(content, () => "")).toMatch(/item: the content of .* is not there/);
  const target = join(t.directory, "forged.tar.zst");
  for (const [missing, problem] of [
    [content, /item: the content of .* is not there/],
    ["checkpoint", /^file: the archive has no checkpoint/],
  ] as const) {
    repack(target, new Map([...files].filter(([path]) => path !== missing)));
    expect((await check(target)).failed.join()).toMatch(problem);
  }
  // A file that somebody added is proven by nothing, and is named.
  const added = createHash("sha256").update("added").digest("hex");
  repack(
    target,
    new Map([
      ...files,
      [`brain/${added}.md`, "added"],
      ["telemetry2/00001.jsonl", "{}\n"],
      ["constructor/1.jsonl", "{}\n"],
    ]),
  );
  const more = await check(target);
  expect(more.proven).toBe(true);
  expect(more.steps[3]?.detail).toContain(`; nothing proves "audit", "telemetry2", "constructor", "brain/${added}.md"`);
  // Cut short, altered without its manifest, no archive at all.
  const bytes = readFileSync(out);
  const spoiled = join(t.directory, "spoiled.tar.zst");
  for (const wrong of [
    bytes.subarray(0, bytes.length / 2),
    Buffer.concat([bytes.subarray(0, 4), randomBytes(2_000)]),
  ]) {
    writeFileSync(spoiled, wrong);
    expect((await check(spoiled)).failed.join()).toMatch(/^file: /);
  }
});

it("an archive of what was erased, or came again with other content, says what it cannot show", async () => {
  const t = await startInstance();
  const team = await t.team({ name: "Acme" });
  const device = await t.device(team);
  await deliverAll(t, device, "shop", "marigold");
  const entry = (...texts: string[]) => ({
    entries: texts.map((text, i) => ({ seq: i + 1, payload: { text } })),
    repoKey: "till",
  });
  await t.post("/api/telemetry/ingest", { token: device.token, json: entry("one") });
  await t.post("/api/telemetry/ingest", { token: device.token, json: entry("other", "beside it") });
  await setPolicy(t.instance.core, team.id, { captureMode: "metadata", watchlist: [] }, COMMAND_LINE);
  const json = { version: 1, repoKey: "kiosk", files: [{ path: "a.md", content: "# Withheld\n" }] };
  expect((await t.post("/api/brain/ingest", { token: device.token, json })).status).toBe(200);
  await t.close();
  const erased = await command(["erase", "--entry", "1", "--reason", "asked", "--yes", "--data", t.directory]);
  expect([erased.code, erased.stderr.includes("rror")]).toEqual([0, false]);
  const key = (await command(["ledger", "key", "--data", t.directory])).stdout.trim();
  const out = join(t.directory, "team.tar.zst");
  await command(["export", "--team", "Acme", "--out", out, "--data", t.directory]);
  const { code, stdout } = await command(["ledger", "check", out, "--key", key]);
  // What was erased or is not exported leaves its hash, so that the entries beside it can be compared.
  expect([code, stdout]).toEqual([0, expect.stringMatching(/all of 7 deliveries are what was delivered/)]);
  expect(stdout).toMatch(/PROVEN/);
  const cut = join(t.directory, "cut.tar.zst");
  writeFileSync(cut, readFileSync(out).subarray(0, 300));
  const ofCut = await command(["ledger", "check", cut, "--key", key]);
  expect([ofCut.code, ofCut.stdout]).toEqual([
    1,
    expect.stringContaining("the archive cannot be read: it is cut short"),
  ]);
  const { files } = unpack(out);
  const forged = join(t.directory, "forged.tar.zst");
  const telemetry = (files.get("telemetry/00001.jsonl") as string).replace(
    "marigold telemetry 2",
    "marygold telemetry 2",
  );
  const note = (files.get("notes/00001.jsonl") as string).replace("src/marigold.ts", "src/marygold.ts");
  const beside = (files.get("telemetry/00001.jsonl") as string).replace("beside it", "before it");
  // A forged claim of an erasure excuses a missing hash, so nothing shown beside it can be compared.
  const claiming = (change: object) =>
    [...files]
      .filter(([path]) => path.startsWith("deliveries"))
      .map(([path, text]): [string, string] => [
        path,
        lines(text)
          .map((line) => `${JSON.stringify({ ...line, ...change, erasedBy: "era_other" })}\n`)
          .join(""),
      ]);
  for (const [path, text, ...more] of [
    ["telemetry/00001.jsonl", telemetry],
    ["notes/00001.jsonl", note],
    ["telemetry/00001.jsonl", beside],
    ["telemetry/00001.jsonl", beside, ...claiming({ noted: {} })],
    ["telemetry/00001.jsonl", telemetry, ...claiming({ itemKey: null, itemSalts: null })],
  ] as [string, string, ...[string, string][]][]) {
    repack(forged, new Map([...files, [path, text], ...more]));
    expect((await command(["ledger", "check", forged, "--key", key])).stdout).toMatch(/NOT PROVEN/);
  }
});

it("has a brain's file once that several teams hold", async () => {
  const t = await startInstance();
  for (const name of ["Acme", "Beta"]) await deliverAll(t, await t.device(await t.team({ name })), "shop", "marigold");
  await t.close();
  const key = (await command(["ledger", "key", "--data", t.directory])).stdout.trim();
  const out = join(t.directory, "shop.tar.zst");
  expect((await command(["export", "--repo", "shop", "--out", out, "--data", t.directory])).code).toBe(0);
  expect([...unpack(out).files.keys()].filter((path) => path.endsWith(".md"))).toHaveLength(2);
  const { code, stdout } = await command(["ledger", "check", out, "--key", key]);
  expect([code, stdout]).toEqual([0, expect.stringContaining("all of 6 deliveries are what was delivered")]);
});

it("reads a team's deliveries once for somebody with hundreds of devices, not once for each", async () => {
  const withFew = await archivedWith(5);
  // A look for each device took four seconds.
  expect(await archivedWith(500)).toBeLessThan(4 * withFew);
});

/** @returns processor time for the archive of somebody with so many devices */
async function archivedWith(devices: number): Promise<number> {
  const { t, device: own } = await startWithDevice();
  const others = await t.device(own.team);
  await personWith(t, own, "ada@example.com");
  const { core } = t.instance;
  for (const { token } of [own, others])
    await t.post("/api/telemetry/ingest", { token, json: { entries: [{ seq: 1, payload: { type: "prompt" } }] } });
  const { db } = core.store;
  const copy = (table: string, count: number, id: string, where: string) => {
    const columns = db
      .prepare<[string], string>("SELECT name FROM pragma_table_info(?) WHERE name <> 'id'")
      .pluck()
      .all(table);
    db.exec(`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
      INSERT INTO ${table} (id, ${columns}) SELECT ${id}, ${columns} FROM n, ${table} WHERE ${where}`);
  };
  copy("devices", devices, "'dev_' || i", `id = '${own.deviceId}'`);
  copy("deliveries", 10_000, "1000 + i", `device_id = '${others.deviceId}'`);
  const file = join(newFolder(), "ada.tar.zst");
  const write = async (archive: AsyncIterable<Uint8Array>) => {
    const chunks = await Array.fromAsync(archive);
    writeFileSync(file, Buffer.concat(chunks));
    return 0;
  };
  const scope = resolveScope(core, { person: "ada@example.com" });
  const taken = await processorMs(() => exportArchive(core, scope, write, COMMAND_LINE));
  expect(unpack(file).files.get("telemetry/00001.jsonl")?.trim().split("\n")).toHaveLength(1);
  return taken;
}

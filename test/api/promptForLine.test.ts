import { expect, it } from "vitest";
import { startInstance, startWithDevice, type TestInstance } from "../support/instance.ts";

const at = (minute: number) => `2026-11-18T12:${String(minute).padStart(2, "0")}:00.000Z`;
const edit = (id: string, minute: number, more: object) => ({
  ...{ id, startedAt: at(minute), endedAt: at(minute) },
  edits: [{ path: "src/login.ts", ...more }],
});

async function filled(t: TestInstance) {
  const device = await t.device();
  const sessions = [
    {
      ...{ id: "s-1", outcome: "success", startedAt: at(0), endedAt: at(30) },
      prompts: [
        { at: at(0), text: "Write the login" },
        { at: at(20), text: "Check the\npassword" },
      ],
      commits: [{ sha: "a1b2c3d4", at: at(25) }],
      spans: [
        edit("write", 10, { startLine: 1, endLine: 20 }),
        edit("check", 24, { startLine: 8, endLine: 9, oldLines: 2, newLines: 2, commit: "a1b2c3d4" }),
        edit("import", 28, { startLine: 1, endLine: 2, added: 2, removed: 0 }),
      ],
    },
  ];
  await t.post("/api/agent-traces/ingest", { token: device.token, json: { repoKey: "shop", sessions } });
  return device;
}
const ask = (t: TestInstance, token: string, query: Record<string, string>) =>
  t.get(`/api/prompt-for-line?${new URLSearchParams({ path: "src/login.ts", ...query })}`, { token });

it("names the prompts that a line comes from, newest first", async () => {
  const t = await startInstance();
  const { token } = await filled(t);
  expect((await ask(t, token, { line: "11", repoKey: "shop" })).body).toEqual({
    ok: true,
    matches: [
      {
        ...{ sessionId: "s-1", spanId: "check", prompt: "Check the password", commit: "a1b2c3d4", at: at(24) },
        band: "strong",
      },
      { sessionId: "s-1", spanId: "write", prompt: "Write the login", commit: null, at: at(10), band: "weak" },
    ],
  });
  expect((await ask(t, token, { line: "2" })).body.matches[0].spanId).toBe("import");
  expect((await ask(t, token, { line: "5" })).body.matches[0]).toMatchObject({ spanId: "write", band: "strong" });
});

it("asks for the file as it stood at a commit", async () => {
  const t = await startInstance();
  const { token } = await filled(t);
  const { matches } = (await ask(t, token, { line: "9", commit: "A1B2C3D" })).body;
  expect(matches[0]).toMatchObject({ spanId: "check", band: "strong" });
  expect((await ask(t, token, { line: "9", commit: "fffffff" })).body).toEqual({ ok: true, matches: [] });
});

it("shows a team nothing of another, and nothing where nothing is known", async () => {
  const t = await startInstance();
  const { token } = await filled(t);
  const other = await t.device();
  expect((await ask(t, other.token, { line: "9" })).body).toEqual({ ok: true, matches: [] });
  expect((await ask(t, token, { line: "9", path: "src/none.ts" })).body).toEqual({ ok: true, matches: [] });
  expect((await ask(t, token, { line: "9", repoKey: "api" })).body).toEqual({ ok: true, matches: [] });
});

it("refuses what is no line, path or commit", async () => {
  const { t, token } = await startWithDevice();
  for (const wrong of [
    {},
    { line: "0" },
    { line: "x" },
    { line: "1.5" },
    { line: "1", path: "" },
    { line: "1", commit: "z" },
  ] as Record<string, string>[])
    expect([wrong, (await ask(t, token, wrong)).status]).toEqual([wrong, 400]);
});

it("answers for a commit of a repository of SHA-256, whose ids have 64 digits", async () => {
  const { t, token } = await startWithDevice();
  const sha = "a1b2c3d4".repeat(8);
  const sessions = [
    {
      ...{ id: "s-1", outcome: "success", startedAt: at(0), endedAt: at(30) },
      prompts: [{ at: at(0), text: "Write the login" }],
      commits: [{ sha, at: at(12) }],
      spans: [
        edit("write", 10, { startLine: 1, endLine: 20, commit: sha }),
        edit("later", 20, { startLine: 1, endLine: 20 }),
      ],
    },
  ];
  await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  for (const commit of [sha, sha.slice(0, 12)])
    expect((await ask(t, token, { line: "3", commit })).body.matches).toMatchObject([{ spanId: "write", commit: sha }]);
  expect((await ask(t, token, { line: "3", commit: `${sha}a` })).status).toBe(400);
});

it("does not attribute a committed line to an edit in another work tree", async () => {
  const { t, token } = await startWithDevice();
  const shas = { a: "a".repeat(39).concat("1"), b: "b".repeat(39).concat("2") };
  // Two agents change the same line of the same file, each in a work tree of its own, and commit it there one after the other.
  const session = (id: "a" | "b", edited: number, committed: number) => ({
    ...{ id, outcome: "success", startedAt: at(0), endedAt: at(50) },
    prompts: [{ at: at(0), text: `Do ${id}` }],
    commits: [{ sha: shas[id], at: at(committed) }],
    spans: [edit(id, edited, { startLine: 3, endLine: 4, added: 2, removed: 1, commit: shas[id] })],
  });
  for (const [one, other] of [
    [session("a", 10, 40), session("b", 20, 50)],
    [session("a", 10, 50), session("b", 20, 40)],
  ]) {
    const sessions = [one, other];
    expect((await t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } })).status).toBe(200);
    for (const id of ["a", "b"] as const)
      expect((await ask(t, token, { line: "4", commit: shas[id] })).body.matches[0]).toMatchObject({
        ...{ sessionId: id, prompt: `Do ${id}`, band: "strong" },
      });
    expect((await ask(t, token, { line: "4", commit: shas.a })).body.matches).toHaveLength(1);
  }
});

import { expect, it, onTestFinished, vi } from "vitest";
import { updateTeam } from "../../src/identity/teams/teams.ts";
import { freshenFinds } from "../../src/insight/find/find.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { startSiteOf, startSiteWithDevice } from "../support/browser.ts";
import { startInstance, startWithDevice, TestClock } from "../support/instance.ts";
import { memberOf, readToken } from "../support/reads.ts";

/** A machine on which each piece of work uses up its slice of time. */
class SlowClock extends TestClock {
  #at = 0;
  override monotonic = () => {
    this.#at += 5;
    return this.#at;
  };
}

it("answers whoever opens a session or searches everything while a large brain is still being read", async () => {
  const { site, person: ada } = await startSiteOf(undefined, { withJobs: true, settings: { workers: "1" } });
  const { token } = await site.t.device(ada.team);
  const session = { id: "s", outcome: "ok", prompts: [{ text: "Mend the till" }], files: ["src/till.ts"], spans: [] };
  await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions: [session] } });
  const content = `# Errors\n\n${Array.from({ length: 5_000 }, (_, i) => `## 2026-11-20: till ${i}\n\nIn src/till.ts\n`).join("\n")}`;
  const brain = { version: 1, repoKey: "shop", files: [{ path: "decisions.md", content }] };
  expect((await site.t.post("/api/brain/ingest", { token, json: brain })).status).toBe(200);
  // The session is read, however slow the machine; the brain is not.
  await freshenFinds(site.t.instance.core);
  await site.t.close();
  const { instance } = await startInstance({
    withJobs: true,
    directory: site.t.directory,
    clock: new SlowClock(),
    settings: { port: "0", workers: "1" },
  });
  const url = await instance.listen();
  const cookie = `${cookieNames(url).session}=${ada.token}`;
  const ask = async (path: string) => (await instance.fetch(new Request(url + path, { headers: { cookie } }))).text();
  const unread = "The brain is still being read";
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  onTestFinished(() => void vi.useRealTimers());
  for (const path of ["/sessions/1", "/search.json?q=till", "/brain?q=till"]) {
    let text: string | undefined;
    void ask(path).then((all) => (text = all));
    while (text === undefined) {
      vi.advanceTimersByTime(2_000);
      await new Promise(setImmediate);
    }
    expect([path, text]).toEqual([path, expect.stringContaining(unread)]);
    if (!path.startsWith("/brain")) expect([path, text]).toEqual([path, expect.stringContaining("Mend the till")]);
  }
  vi.useRealTimers();
  await expect.poll(() => ask("/sessions/1"), { timeout: 60_000 }).not.toContain(unread);
  expect(await ask("/sessions/1")).toContain("In the brain");
});

it("tells programs to ask again while a large brain is still being read, which goes on", async () => {
  const { t, device } = await startWithDevice();
  const read = await readToken(t, (await memberOf(t, device.team)).id);
  const content = `# Errors\n\n${Array.from({ length: 5_000 }, (_, i) => `## 2026-11-20: till ${i}\n\nIn src/till.ts\n`).join("\n")}`;
  const brain = { version: 1, repoKey: "shop", files: [{ path: "decisions.md", content }] };
  expect((await t.post("/api/brain/ingest", { token: device.token, json: brain })).status).toBe(200);
  const asks = [
    () => t.get("/api/brain/search?q=till", { token: device.token }),
    () => t.get("/api/me/brain/context?q=till", { token: read.token }),
  ];
  const slow = vi.spyOn(t.clock, "monotonic");
  const whileUnread = async (ask: (typeof asks)[number]) => {
    let at = 0;
    slow.mockImplementation(() => (at += 5));
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => void vi.useRealTimers());
    let reply: Awaited<ReturnType<typeof ask>> | undefined;
    void ask().then((all) => (reply = all));
    while (reply === undefined) {
      vi.advanceTimersByTime(2_000);
      await new Promise(setImmediate);
    }
    vi.useRealTimers();
    return [reply.status, reply.headers.get("retry-after"), reply.body];
  };
  const setTier = (tier: "starter" | "team") => updateTeam(t.instance.core, device.team.id, { tier }, COMMAND_LINE);
  // Under a tier without the brain none is read.
  await setTier("starter");
  for (const ask of asks) expect(await whileUnread(ask)).toMatchObject([200, null, { total: 0, hits: [] }]);
  await setTier("team");
  for (const ask of asks) expect(await whileUnread(ask)).toMatchObject([503, "10", { error: expect.anything() }]);
  slow.mockRestore();
  for (const ask of asks) await expect.poll(async () => (await ask()).status).toBe(200);
});

it("says on every page of a team that lists lack what was delivered, while it is not read yet", async () => {
  const { site, person: ada, token } = await startSiteWithDevice(undefined, { withJobs: true });
  const { core } = site.t.instance;
  const page = async (path: string) => {
    const headers = { cookie: `${cookieNames(site.url).session}=${ada.token}` };
    return (await fetch(site.url + path, { headers })).text();
  };
  const unread = "Not all that was delivered is read yet";
  const session = { id: "s", outcome: "ok", prompts: [{ text: "Mend the till" }], spans: [] };
  await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions: [session] } });
  core.store.db.pragma("query_only = ON");
  const later = () => {
    site.t.clock.advance(60_000);
    return page("/overview");
  };
  await expect.poll(later).toContain(unread);
  for (const path of ["/overview", "/sessions", "/spend"])
    expect([path, await page(path)]).toEqual([path, expect.stringContaining(unread)]);
  core.store.db.pragma("query_only = OFF");
  await expect.poll(() => page("/sessions"), { timeout: 60_000 }).not.toContain(unread);
  expect(await page("/sessions")).toContain("Mend the till");
});

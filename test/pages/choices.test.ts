import { randomUUID } from "node:crypto";
import { gzipSync } from "node:zlib";
import { expect, it } from "vitest";
import { type Person, type Site, startSite } from "../support/browser.ts";

/** What filters offer where there is very much to choose from; no browser is needed to see it. */

async function shown(site: Site, { cookie }: Person, path: string) {
  const reply = await fetch(site.url + path, { headers: { cookie } });
  expect(reply.status).toBe(200);
  const text = await reply.text();
  expect(gzipSync(text).byteLength).toBeLessThan(60_000);
  const select = (name: string) =>
    new RegExp(`<select[^>]* name="${name}"[^>]*>(.*?)</select>`, "s").exec(text)?.[1] ?? "";
  return (name: string) =>
    [...select(name).matchAll(/<option([^>]*)>([^<]*)/g)].map(([, how = "", label = ""]) => ({ how, label }));
}

const random = () => randomUUID().slice(0, 13);

/** Machines of as many people, the first of which were heard of last. */
function connect(site: Site, teamId: string, count: number): void {
  const { db } = site.t.instance.core.store;
  const user = db.prepare(
    "INSERT INTO users (id, email, email_key, name, operator, created_at) VALUES (?, ?, ?, ?, 0, 0)",
  );
  const device = db.prepare(
    `INSERT INTO devices (id, team_id, label, consent_version, created_at, last_seen_at, person_id)
     VALUES (?, ?, ?, '1', ?, ?, ?)`,
  );
  for (let i = 0; i < count; i++) {
    const email = `${random()}@example.com`;
    const id = `usr_${random()}`;
    user.run(id, email, email, `Person ${random()} ${i}`);
    device.run(`dev_${random()}${i}`, teamId, `laptop ${random()} ${i}`, i, 1e12 - i, id);
  }
}

it("offers five hundred of thousands of machines and people, those heard of last, and says so", async () => {
  const site = await startSite();
  const { token, team } = await site.t.device();
  const ada = await site.person({ team });
  const entries = [{ seq: 1, clientTimestamp: "2026-11-21T12:00:00Z", payload: { type: "prompt" } }];
  await site.t.post("/api/telemetry/ingest", { token, json: { repoKey: "shop", entries } });
  const sessions = [{ id: "s-1", agent: "codex", outcome: "success", spans: [], startedAt: Date.UTC(2026, 10, 20) }];
  await site.t.post("/api/agent-traces/ingest", { token, json: { repoKey: "shop", sessions } });
  await site.t.instance.settle();
  connect(site, team.id, 4_000);
  const devices = (await shown(site, ada, "/telemetry"))("device");
  expect(devices.at(-1)).toEqual({
    how: expect.stringContaining("disabled"),
    label: "3,501 more, from their own pages",
  });
  expect(devices).toHaveLength(502);
  expect(
    devices.filter(({ label }) => / \d+$/.test(label)).map(({ label }) => Number(label.split(" ").at(-1))),
  ).toEqual(Array.from({ length: 499 }, (_, i) => i));
  const last = site.t.rows("SELECT id, label FROM devices WHERE label LIKE '% 3999'")[0] as {
    id: string;
    label: string;
  };
  const chosen = (await shown(site, ada, `/telemetry?device=${last.id}`))("device").find(
    ({ label }) => label === last.label,
  );
  expect(chosen?.how).toContain("selected");
  for (const path of ["/sessions", "/spend", "/devices"]) {
    const people = (await shown(site, ada, path))("person");
    expect([path, people.length, people.at(-1)?.label]).toEqual([path, 502, "3,501 more, from their own pages"]);
  }
});

it("says that sessions are filtered by what the newest have, and offers somebody who sees their own what those have", async () => {
  const site = await startSite();
  const { token, team } = await site.t.device();
  const own = await site.person({ team, role: "own_only" });
  const mine = await site.t.device(team);
  site.t.instance.core.store.db.prepare("UPDATE devices SET person_id = ? WHERE id = ?").run(own.userId, mine.deviceId);
  const send = async (token: string, count: number, branchOf: (i: number) => string, day: number) => {
    const sessions = Array.from({ length: count }, (_, i) => ({
      ...{
        id: randomUUID(),
        agent: "codex",
        outcome: "success",
        spans: [],
        branch: branchOf(i),
        startedAt: Date.UTC(2026, 10, day),
      },
    }));
    const json = { repoKey: "shop", sessions };
    expect((await site.t.post("/api/agent-traces/ingest", { token, json })).status).toBe(200);
  };
  await send(mine.token, 1, () => "mine", 1);
  const ada = await site.person({ team });
  await site.t.instance.settle();
  const labels = async (person: Person) => (await shown(site, person, "/sessions"))("branch").map(({ label }) => label);
  expect(await labels(ada)).toEqual(["all", "mine"]);
  for (let sent = 0; sent < 2_000; sent += 200) await send(token, 200, (i) => `topic-${i % 7}`, 20);
  await site.t.instance.settle();
  expect(await labels(ada)).toEqual([
    "all",
    ...Array.from({ length: 7 }, (_, i) => `topic-${i}`),
    "of the newest sessions",
  ]);
  expect(await labels(own)).toEqual(["all", "mine"]);
});

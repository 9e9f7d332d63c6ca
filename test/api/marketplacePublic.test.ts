import { describe, expect, it } from "vitest";
import { updateTeam, verifyTeam } from "../../src/identity/teams/teams.ts";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { curatePack } from "../../src/share/packs/packs.ts";
import { noteFault, startInstance } from "../support/instance.ts";
import { publish, publisher } from "../support/packs.ts";

const PATH = "/api/marketplace/public";

describe("marketplacePublic", () => {
  it("answers without a credential, empty at first, cacheable for a minute", async () => {
    const t = await startInstance();
    const answer = await t.get(PATH);
    expect([answer.status, answer.body]).toEqual([200, { ok: true, entries: [], total: 0 }]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
  });

  it("shows what was published, with its rank explained, and nothing of who is in the team", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const { team, device, draft } = await publisher(t, "cookie-rules", { tags: ["web"], summary: "All of them." });
    const answer = await t.get(PATH);
    expect(answer.body.total).toBe(1);
    const [entry] = answer.body.entries;
    expect(entry).toMatchObject({
      name: "cookie-rules",
      summary: "All of them.",
      tags: ["web"],
      version: "1.0.0",
      publisher: { name: team.name, verified: false },
      rules: 1,
      installs: 0,
      sha256: draft.sha256,
      createdAt: "2026-11-21T08:00:00.000Z",
      url: "https://reckon.example/sub/marketplace/cookie-rules",
      download: "https://reckon.example/sub/marketplace/packs/cookie-rules/1.0.0/download",
    });
    expect(entry.why.reduce((sum: number, { points }: { points: number }) => sum + points, 0)).toBe(entry.rank);
    for (const secret of [team.id, device.deviceId, "command line", "github.com/acme/shop"])
      expect(answer.text).not.toContain(secret);
  });

  it("orders by trust, then by name", async () => {
    const t = await startInstance();
    const names = async () => (await t.get(PATH)).body.entries.map((one: { name: string }) => one.name);
    await publisher(t, "bb-rules");
    await publisher(t, "aa-rules");
    const { team } = await publisher(t, "cc-rules");
    expect(await names()).toEqual(["aa-rules", "bb-rules", "cc-rules"]);
    await verifyTeam(t.instance.core, team.id, true, COMMAND_LINE);
    expect(await names()).toEqual(["cc-rules", "aa-rules", "bb-rules"]);
    // Ranks change from day to day, although nothing is written.
    const before = (await t.get(PATH)).body.entries[0].rank;
    t.clock.advance(30 * DAY_MS);
    expect((await t.get(PATH)).body.entries[0].rank).toBe(before + 5);
  });

  it("answers 304 until something changes: a version, a removal, a team's name", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const { team } = await publisher(t, "cookie-rules");
    let etag = "";
    const changed = async () => {
      const answer = await t.get(PATH, { headers: { "if-none-match": etag } });
      etag = answer.headers.get("etag") ?? "";
      return answer.status;
    };
    const changes = [
      () => publish(t, team.id, { name: "cookie-rules", version: "1.1.0" }),
      () => updateTeam(core, team.id, { name: "Renamed" }, COMMAND_LINE),
      () => curatePack(core, "cookie-rules", { act: "feature" }, COMMAND_LINE),
      () => curatePack(core, "cookie-rules", { act: "remove", reason: "Wrong." }, COMMAND_LINE),
    ];
    expect(await changed()).toBe(200);
    for (const change of changes) {
      expect(await changed()).toBe(304);
      await change();
      expect(await changed()).toBe(200);
    }
    expect((await t.get(PATH)).body.total).toBe(0);
  });

  it("finds by words and tag, and gives a part of the list with the whole count", async () => {
    const t = await startInstance();
    const { team } = await publisher(t, "aa-rules", { title: "Cookies & sessions", tags: ["web", "go"] });
    await publish(t, team.id, { name: "bb-rules", summary: "Go channels", tags: ["go"] });
    const names = async (query: string) => {
      const { body } = await t.get(`${PATH}?${query}`);
      return [body.total, ...body.entries.map((one: { name: string }) => one.name)];
    };
    expect(await names("q=COOKIES+sess")).toEqual([1, "aa-rules"]);
    expect(await names("q=nothing")).toEqual([0]);
    expect(await names("tag=go")).toEqual([2, "aa-rules", "bb-rules"]);
    expect(await names("tag=Web")).toEqual([1, "aa-rules"]);
    // A form also sends the fields that were left empty.
    for (const query of ["tag=", "q=&tag=&limit=&offset=", "tag=+"])
      expect([query, await names(query)]).toEqual([query, [2, "aa-rules", "bb-rules"]]);
    expect(await names("limit=1")).toEqual([2, "aa-rules"]);
    expect(await names("limit=1&offset=1")).toEqual([2, "bb-rules"]);
    expect(await names("offset=7")).toEqual([2]);
    for (const query of ["limit=0", "limit=1001", "limit=x", "offset=-1"]) {
      const { status, body } = await t.get(`${PATH}?${query}`);
      expect([query, status, body.code]).toEqual([query, 400, "bad_request"]);
    }
    noteFault("marketplacePublic", "malformed");
  });

  it("notices what another process publishes", async () => {
    const t = await startInstance();
    await publisher(t, "cookie-rules");
    expect((await t.get(PATH)).body.total).toBe(1);
    const { default: Sqlite } = await import("better-sqlite3");
    const outside = new Sqlite(`${t.directory}/reckon.db`);
    outside.prepare("UPDATE packs SET title = 'From outside'").run();
    outside.close();
    expect((await t.get(PATH)).body.entries[0].title).toBe("From outside");
  });

  it("answers 500 in the canonical shape when the packs cannot be read", async () => {
    const t = await startInstance();
    t.instance.core.store.db.exec("ALTER TABLE pack_installs RENAME TO elsewhere");
    const answer = await t.get(PATH);
    expect([answer.status, answer.body]).toEqual([500, { ok: false, code: "server_error", error: "Internal error." }]);
  });
});

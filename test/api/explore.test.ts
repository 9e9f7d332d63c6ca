import { describe, expect, it } from "vitest";
import { DAY_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { curatePack } from "../../src/share/packs/packs.ts";
import { startInstance } from "../support/instance.ts";
import { archiveOf, download, publish, publisher } from "../support/packs.ts";

const PATH = "/api/explore";
const EMPTY = { featured: [], trending: [], new: [], byStack: {} };
const names = (list: readonly { name: string }[]) => list.map((one) => one.name);

describe("explore", () => {
  it("has every section, empty, before anything is published", async () => {
    const t = await startInstance();
    const answer = await t.get(PATH);
    expect([answer.status, answer.body]).toEqual([200, EMPTY]);
    expect(answer.headers.get("cache-control")).toBe("public, max-age=60");
  });

  it("sorts packs into featured, trending, new and by stack", async () => {
    const t = await startInstance();
    const { team } = await publisher(t, "aa-rules", { tags: ["go", "web"] });
    t.clock.advance(DAY_MS);
    await publish(t, team.id, { name: "bb-rules", tags: ["go"] });
    t.clock.advance(DAY_MS);
    await publish(t, team.id, { name: "cc-rules" });
    const devices = [await t.device(), await t.device()];
    for (const { token } of devices) await download(t, archiveOf("cc-rules"), { authorization: `Bearer ${token}` });
    await download(t, archiveOf("aa-rules"), { authorization: `Bearer ${devices[0]?.token}` });
    await curatePack(t.instance.core, "bb-rules", { act: "feature" }, COMMAND_LINE);
    const { body } = await t.get(PATH);
    expect(names(body.featured)).toEqual(["bb-rules"]);
    expect(names(body.trending)).toEqual(["cc-rules", "aa-rules"]);
    expect(names(body.new)).toEqual(["cc-rules", "bb-rules", "aa-rules"]);
    expect(Object.entries(body.byStack).map(([tag, list]) => [tag, names(list as { name: string }[])])).toEqual([
      ["go", ["aa-rules", "bb-rules"]],
      ["web", ["aa-rules"]],
    ]);
    // The packs' installs lie fourteen days back by now.
    t.clock.advance(14 * DAY_MS);
    expect((await t.get(PATH)).body.trending).toEqual([]);
  });

  it("answers 304 until something changes", async () => {
    const t = await startInstance();
    await publisher(t, "cookie-rules");
    const etag = (await t.get(PATH)).headers.get("etag") ?? "";
    const again = () => t.get(PATH, { headers: { "if-none-match": etag } });
    expect((await again()).status).toBe(304);
    await curatePack(t.instance.core, "cookie-rules", { act: "feature" }, COMMAND_LINE);
    expect((await again()).status).toBe(200);
  });

  it("degrades to empty sections, logged, when the packs cannot be read, and recovers", async () => {
    const t = await startInstance();
    await publisher(t, "cookie-rules");
    const { db } = t.instance.core.store;
    db.exec("ALTER TABLE pack_versions RENAME TO elsewhere");
    const answer = await t.get(PATH);
    expect([answer.status, answer.body]).toEqual([200, EMPTY]);
    expect(answer.headers.get("etag")).toBeNull();
    expect(t.log.join("")).toContain("explore_failed");
    db.exec("ALTER TABLE elsewhere RENAME TO pack_versions");
    expect(names((await t.get(PATH)).body.new)).toEqual(["cookie-rules"]);
  });
});

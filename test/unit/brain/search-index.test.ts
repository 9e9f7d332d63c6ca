import { expect, it } from "vitest";
import { teamIndex } from "../../../src/record/brain/search-index.ts";
import { startInstance, startWithDevice } from "../../support/instance.ts";

it("holds so much text of a team and no more, however many repositories it names, and says once what is not found", async () => {
  const t = await startInstance();
  const [own, other] = [await t.device(), await t.device()];
  await teamIndex(t.instance.core, own.team.id, 1_000);
  const text = (chars: number) => `# Cookie\n\n${"cookie path ".repeat(chars / 12)}`;
  const send = async (device: typeof own, repoKey: string, chars: number, version = 1) =>
    expect(
      await t.post("/api/brain/ingest", {
        token: device.token,
        json: { version, repoKey, files: [{ path: "docs/a.md", content: text(chars) }] },
      }),
    ).toMatchObject({ status: 200 });
  const found = async ({ token }: typeof own) => {
    const { body } = await t.get("/api/brain/search?q=cookie", { token });
    return body.hits.map(({ repoKey }: { repoKey: string }) => repoKey).toSorted();
  };
  for (const repoKey of ["a", "b", "c", "d"]) await send(own, repoKey, 600);
  await send(other, "e", 600);
  expect([await found(own), await found(other)]).toEqual([["a", "b"], ["e"]]);
  await send(own, "a", 60, 2);
  await send(own, "d", 660, 2);
  expect(await found(own)).toEqual(["a", "b", "d"]);
  expect(t.log.filter((line) => line.includes("search_index_full"))).toHaveLength(1);
});

const HEADINGS = [{ path: "a.md", content: "# a\n".repeat(20) }];
const EMPTY = Array.from({ length: 20 }, (_, i) => ({ path: `${i}.md`, content: "" }));

it.each([
  ["headings", HEADINGS],
  ["files", EMPTY],
])("counts what %s take besides their text, which may be none", async (_, first) => {
  const { t, token, team } = await startWithDevice();
  await teamIndex(t.instance.core, team.id, 1_000);
  for (const [repoKey, files] of Object.entries({ a: first, b: [{ path: "b.md", content: "# b" }] }))
    expect(await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey, files } })).toMatchObject({
      status: 200,
    });
  const { body } = await t.get("/api/brain/search?q=b", { token });
  expect([body.hits, t.log.filter((line) => line.includes("search_index_full")).length]).toEqual([[], 1]);
});

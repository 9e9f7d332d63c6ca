import fc from "fast-check";
import { expect, it } from "vitest";
import { findMentions } from "../../../src/record/brain/brain.ts";
import {
  beginningOf,
  beginningsIn,
  mayName,
  placesIn,
  shasByBeginning,
  sortPaths,
} from "../../../src/record/brain/mention-places.ts";
import { startWithDevice } from "../../support/instance.ts";

const SHA = "4f9d2c1a7b3e5d60819273645546372819a0bcde";

async function withBrain(content: string, path = "errors.md") {
  const { t, token, team } = await startWithDevice();
  await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: "r", files: [{ path, content }] } });
  return { core: t.instance.core, team, t };
}

it("knows a commit by seven digits or more, in any case, inside addresses and ranges, never by fewer or by others", async () => {
  for (const [text, found] of [
    [SHA.slice(0, 7), true],
    [`(${SHA.toUpperCase()}).`, true],
    [`https://example.com/r/commit/${SHA}`, true],
    [`0000000..${SHA.slice(0, 9)}`, true],
    [SHA.slice(0, 6), false],
    [`${SHA.slice(0, 7)}0`, false],
    [`x${SHA.slice(0, 8)}`, false],
    [`${SHA}0`, false],
  ] as const) {
    const { core, team } = await withBrain(`# E\n\nsee ${text}\nand on`);
    const { mentions } = await findMentions(core, team.id, { commits: [SHA, "zz", "1234"], files: [], repoKey: "r" });
    expect(mentions.map((one) => [one.line, one.names.value, one.text])).toEqual(
      found ? [[3, SHA, `see ${text}`]] : [],
    );
    const elsewhere = await findMentions(core, team.id, { commits: [SHA], files: [], repoKey: "another" });
    expect(elsewhere.mentions).toEqual(mentions);
  }
});

it("knows a file by its whole path, with a line number or a full stop behind it, in its own repository only", async () => {
  const wanted = { commits: [], files: ["src/a.ts", "a b/[id].ts"], repoKey: "r" };
  for (const [text, found] of [
    ["`src/a.ts`", "src/a.ts"],
    ["./src/a.ts:12:3,", "src/a.ts"],
    ["src/a.ts#L3-L9", "src/a.ts"],
    ["In src/a.ts.", "src/a.ts"],
    ["see a b/[id].ts", "a b/[id].ts"],
    ["lib/src/a.ts", undefined],
    ["src/a.tsx", undefined],
    ["a.ts", undefined],
    ["xa b/[id].ts", undefined],
  ] as const) {
    const { core, team } = await withBrain(text);
    const { mentions } = await findMentions(core, team.id, wanted);
    expect([text, mentions[0]?.names.value]).toEqual([text, found]);
    expect((await findMentions(core, team.id, { ...wanted, repoKey: "other" })).mentions).toEqual([]);
  }
});

it("looks through what tells of defects and decisions only, and says when it stopped", async () => {
  const text = `# E\n\n${Array.from({ length: 80 }, (_, i) => `## ${i}\n\nsrc/a.ts\n`).join("\n")}`;
  const wanted = { commits: [], files: ["src/a.ts"], repoKey: "r" };
  const notes = await withBrain(text, "notes.md");
  expect(await findMentions(notes.core, notes.team.id, wanted)).toEqual({ mentions: [], cutShort: false });
  const errors = await withBrain(text);
  const { mentions, cutShort } = await findMentions(errors.core, errors.team.id, wanted);
  expect([mentions.length, cutShort]).toEqual([50, true]);
  const other = await errors.t.team();
  expect((await findMentions(errors.core, other.id, wanted)).mentions).toEqual([]);
});

it("leaves no text unread that names a commit or a file", () => {
  const name = fc.constantFrom(SHA, SHA.slice(0, 9), SHA.toUpperCase(), SHA.slice(0, 6), "src/a.ts", "a b/[id].ts");
  const around = fc.constantFrom(" ", "./", "..", "@", "\u0130", "x", "0", ":12", "#L3", ".", ",", "\n", "\u0307", "");
  const text = fc.array(fc.oneof(name, around), { maxLength: 12 }).map((parts) => parts.join(""));
  const commits = shasByBeginning([SHA]);
  const files = sortPaths(["src/a.ts", "a b/[id].ts"]);
  const plain = sortPaths(["src/a.ts"]);
  fc.assert(
    fc.property(text, (one) => {
      const foreseen = beginningsIn(one);
      for (const { names } of placesIn(one, commits, files))
        if (names.kind === "commit") expect(foreseen).toContain(beginningOf(names.value));
        else expect(mayName(names.value === "src/a.ts" ? plain : files, one)).toBe(true);
    }),
    { numRuns: 2_000 },
  );
});

it("finds in a later version what an earlier one did not name", async () => {
  const { core, team, t } = await withBrain("# E\n\nnothing\n");
  const wanted = { commits: [SHA], files: ["src/a.ts"], repoKey: "r" };
  expect((await findMentions(core, team.id, wanted)).mentions).toEqual([]);
  const { token } = await t.device(team);
  const files = [{ path: "errors.md", content: `# E\n\nsrc/a.ts since ${SHA.slice(0, 8)}\n` }];
  await t.post("/api/brain/ingest", { token, json: { version: 1, repoKey: "r", files } });
  const { mentions } = await findMentions(core, team.id, wanted);
  expect(mentions.map(({ names }) => names.value)).toEqual(["src/a.ts", SHA]);
});

import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { attribution, createLink, decideLink, linksOfEntry, listLinks } from "../../../src/insight/causes/causes.ts";
import { type Defect, listDefects } from "../../../src/insight/defects/defects.ts";
import { COMMAND_LINE } from "../../../src/platform/audit/audit.ts";
import { startWithDevice, type TestDevice, type TestInstance } from "../../support/instance.ts";
import { ERRORS, follow, publish, SHA, session, trace } from "./support.ts";

/** What people say of an entry stays with it through its life, and goes to no other. */

const entriesOf = (t: TestInstance, { team }: TestDevice, repoKey = "shop") =>
  listDefects(t.instance.core, team.id, { repoKey });

/** An instance with an entry that names a commit of one session, and a session that says nothing. */
async function opened(entry: string) {
  const { t, device } = await startWithDevice();
  await trace(t, device, [session("a", 18, { commits: [SHA] }), session("b", 2)]);
  let version = 0;
  const put = async (entries: readonly string[], path = ERRORS) => {
    await publish(t, device, entries, { version: ++version, path });
    await follow(t);
  };
  await put([entry]);
  const the = (title: string) => entriesOf(t, device).find((one) => one.title.includes(title)) as Defect;
  const of = (title: string) =>
    linksOfEntry(t.instance.core, device.team.id, the(title)).map(
      ({ sessionId, commit, verdict, origin, counts }) =>
        `${sessionId ?? commit} ${verdict ?? origin}${counts ? " counts" : ""}`,
    );
  const { core } = t.instance;
  return { t, device, core, team: device.team.id, put, the, of };
}

const BODY = `Introduced in ${SHA}.`;
const rule = (text: string) => `**Prevention rule:** ${text}`;

/** The life of an entry, step by step. After each step, what people said of it must still hold. */
const LIFE: readonly [string, readonly string[], string?][] = [
  ["its mark goes", [`## ✅ 2026-11-20 – Z\n\n${BODY}`]],
  ["it gets a rule and another mark", [`## ☑️ 2026-11-20 – Z\n\n${BODY}\n\n${rule("zz")}`]],
  ["its rule is edited", [`## 2026-11-20: z!\n\n${BODY}\n\n${rule("zz yy")}`]],
  ["it gets another title", [`## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("zz yy")}`]],
  ["another comes above it", ["## 2026-11-21 New", `## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("zz yy")}`]],
  ["its file moves", [`## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("zz yy")}`], "docs/errors.md"],
  ["its file moves back and its rule changes", [`## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("xx")}`]],
  ["it is deleted", ["## 2026-11-10 Other"]],
  ["it is brought back", [`## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("xx")}`, "## 2026-11-10 Other"]],
  ["it is deleted with the file", [], "docs/notes.md"],
  [
    "it is brought back elsewhere, its rule another",
    [`## 2026-11-20 Z of carts\n\n${BODY}\n\n${rule("w")}`],
    "errors.md",
  ],
];

describe.each(["rejected", "confirmed"] as const)("a link that somebody %s", (verdict) => {
  it("stays so through the life of its entry", async () => {
    const { t, device, core, team, put, the, of } = await opened(`## ⏳ 2026-11-20 – Z\n\n${BODY}`);
    const [link] = linksOfEntry(core, team, the("Z"));
    await decideLink(core, team, link?.id ?? "", verdict, COMMAND_LINE);
    for (const [what, entries, path] of LIFE) {
      await put(entries, path);
      const there = entriesOf(t, device).some(({ title }) => title.toLowerCase().startsWith("z"));
      const title = what === "its rule is edited" ? "z" : "Z";
      const expected = verdict === "rejected" ? "a rejected" : "a confirmed counts";
      expect([what, there ? of(title) : t.count("causal_links")]).toEqual([what, there ? [expected] : 1]);
      expect([what, attribution(core, team).defects]).toEqual([what, there && verdict === "confirmed" ? 1 : 0]);
      expect(t.count("causal_links")).toBe(1);
    }
    const [row] = t.rows(
      "SELECT l.path, l.fingerprint = d.fingerprint AS same FROM causal_links l, defects d WHERE d.id = l.entry_id",
    );
    expect(row).toEqual({ path: "errors.md", same: 1 });
  });
});

it("keeps a person's own statement through the life of its entry, under the present fingerprint", async () => {
  const { t, device, core, team, put, the } = await opened(`## ⏳ 2026-11-20 – Z\n\n${BODY}`);
  await createLink(core, team, the("Z"), { sessionId: "b" }, COMMAND_LINE);
  for (const [what, entries, path] of LIFE) {
    await put(entries, path);
    const found = entriesOf(t, device).find(({ title }) => title.toLowerCase().startsWith("z"));
    const words = (await listLinks(core, team)).links.filter(({ origin }) => origin === "person");
    expect([what, words.map(({ sessionId, fingerprint, path: at }) => [sessionId, fingerprint, at])]).toEqual([
      what,
      found ? [["b", found.fingerprint, found.path]] : [],
    ]);
  }
});

it("takes an entry that comes back for the same one only if date, title and rule are equal", async () => {
  const { t, device, core, team, put, the, of } = await opened(`## 2026-11-20 Z\n\n${rule("z")}`);
  await createLink(core, team, the("Z"), { sessionId: "b" }, COMMAND_LINE);
  // The entry moves to an archive beside the file.
  const { token } = device;
  const files = [
    { path: ERRORS, content: "## 2026-11-21 New\n" },
    { path: ".claude/brain/errors-2025.md", content: `## 2026-11-20 Z\n\n${rule("z")}\n` },
  ];
  await t.post("/api/brain/ingest", { token, json: { version: 2, repoKey: "shop", files } });
  await follow(t);
  expect(of("Z")).toEqual(["b person counts"]);
  await put(["## 2026-11-21 New"]);
  await put(["## 2026-11-21 Z", "## 2026-11-20 Y"]);
  expect((await listLinks(core, team)).links).toEqual([]);
});

it("moves no statement to two entries, nor to one of two that could be meant", async () => {
  const { core, team, put, the } = await opened(`## 2026-11-20 Z\n\n${rule("z")}`);
  await createLink(core, team, the("Z"), { sessionId: "b" }, COMMAND_LINE);
  await put([]);
  await put([`## 2026-11-20 Z\n\n${rule("z1")}`, `## 2026-11-20 Z\n\n${rule("z2")}`]);
  expect((await listLinks(core, team)).links).toEqual([]);
  await put([]);
  await put([`## 2026-11-20 Z\n\n${rule("z1")}`, `## 2026-11-20 Z\n\n${rule("z")}`]);
  expect((await listLinks(core, team)).links.map(({ ordinal, sessionId }) => [ordinal, sessionId])).toEqual([[0, "b"]]);
});

it("moves computed links of equal headings with their entries, too, and changes nothing when that is run again", async () => {
  const { t, device, core, team, put } = await opened(`## 2026-11-20\n\n${BODY}\n\n${rule("a")}`);
  const links = () => t.rows("SELECT id, entry_id, ordinal FROM causal_links ORDER BY id");
  const [link] = links();
  for (const below of [["b"], ["b", "c"], ["c"], []]) {
    const others = below.map((one) => `## 2026-11-20\n\n${rule(one)}`);
    await put([`## 2026-11-20\n\n${BODY}\n\n${rule("a")}`, ...others]);
    expect(links()).toEqual([{ ...link, ordinal: below.length }]);
    const [entry] = entriesOf(t, device);
    expect(linksOfEntry(core, team, entry as Defect).map(({ id }) => id)).toEqual([link?.id]);
  }
});

/** Changes that may happen to a file between two versions. */
const step = fc.record({
  insert: fc.array(fc.nat(20), { maxLength: 2 }),
  remove: fc.array(fc.nat(20), { maxLength: 2 }),
  shuffle: fc.option(fc.nat(1_000)),
  say: fc.nat(20),
  reject: fc.boolean(),
});

it("moves no statement to another entry, whatever comes, goes and changes places", { timeout: 60_000 }, async () => {
  const { t, core, device } = await startWithDevice({ settings: { limitBrain: "off" } });
  let repos = 0;
  await fc.assert(
    fc.asyncProperty(fc.boolean(), fc.array(step, { minLength: 2, maxLength: 6 }), async (titled, steps) => {
      const repoKey = `r${++repos}`;
      const heading = titled ? "## 2026-11-20 Login" : "## 2026-11-20";
      let rules = ["r0", "r1"];
      let last = 1;
      const said = new Map<string, string>();
      const numbers = new Map<string, number>();
      for (const [i, { insert, remove, shuffle, say, reject }] of steps.entries()) {
        // The only entry left under its title counts as the same entry even with another rule, which another test covers.
        for (const at of remove) if (rules.length > 2) rules.splice(at % rules.length, 1);
        for (const at of insert) rules.splice(at % (rules.length + 1), 0, `r${++last}`);
        if (shuffle !== null) rules = rules.toSorted((a, b) => hash(a, shuffle) - hash(b, shuffle));
        const entries = rules.map((one) => `${heading}\n\n${rule(one)}`);
        await publish(t, device, entries, { repoKey, version: i + 1 });
        await follow(t);
        const found = entriesOf(t, device, repoKey);
        expect(found.map((one) => one.rule).sort()).toEqual(rules.toSorted());
        for (const entry of found) {
          const own = linksOfEntry(core, device.team.id, entry).map(({ commit }) => commit);
          expect([entry.rule, own]).toEqual([
            entry.rule,
            said.has(entry.rule ?? "") ? [said.get(entry.rule ?? "")] : [],
          ]);
          expect(numbers.get(entry.rule ?? "") ?? entry.id).toBe(entry.id);
          numbers.set(entry.rule ?? "", entry.id);
        }
        for (const gone of numbers.keys()) if (!rules.includes(gone)) numbers.delete(gone);
        const entry = found[say % found.length] as Defect;
        if (said.has(entry.rule ?? "")) continue;
        const commit = `${entry.rule?.slice(1)}abc`.padStart(40, "0");
        const link = await createLink(core, device.team.id, entry, { commit }, COMMAND_LINE);
        if (reject && typeof link !== "string")
          await decideLink(core, device.team.id, link.id, "rejected", COMMAND_LINE);
        said.set(entry.rule ?? "", commit);
      }
    }),
    { numRuns: 25 },
  );
});

const hash = (text: string, seed: number) => (Number(text.slice(1)) * 7_919 + seed * 104_729) % 1_009;

import { describe, expect, it } from "vitest";
import { StoredContents } from "../../src/capture/brain/stored-contents.ts";
import { runPass } from "../../src/capture/capture.ts";
import { sha256Hex } from "../../src/kit/hash.ts";
import { type Refusal, relay } from "../support/relay.ts";
import { startMachine, type TestMachine, write } from "../support/work-tree.ts";

interface Sent {
  readonly path: string;
  readonly content?: string;
  readonly contentSha256?: string;
}

const A = ".claude/brain/a.md";
const B = ".claude/brain/b.md";
const ERRORS = ".claude/brain/errors.md";
const [LONG, OTHER] = ["a line of words\n".repeat(20), "other words\n".repeat(20)];

/** A machine whose publications are noted. Each lists its files by path: a content in full, a digest as `#`. */
async function watched(
  judge: (files: readonly Sent[], call: number) => Refusal | undefined = () => undefined,
  hidden?: string[],
) {
  const sent: string[][] = [];
  const machine = await startMachine({}, (url) =>
    relay(
      url,
      (path, body) => {
        if (path !== "/api/brain/ingest") return undefined;
        const { files } = JSON.parse(body.toString()) as { files: Sent[] };
        const ordered = files.toSorted((a, b) => (a.path < b.path ? -1 : 1));
        sent.push(ordered.map(({ content, contentSha256 }) => content ?? (contentSha256 ? "#" : "nothing")));
        return judge(files, sent.length);
      },
      hidden,
    ),
  );
  return { machine, sent };
}

async function pass({ t, capture }: TestMachine) {
  t.clock.advance(61_000);
  return runPass(capture, { force: true });
}

const current = ({ t }: TestMachine) =>
  t.rows(
    `SELECT s.version, b.content FROM brain_currents k JOIN brain_snapshots s ON s.id = k.snapshot_id
     JOIN brain_manifests m ON m.id = s.manifest_id, json_each(m.entries) e JOIN brain_blobs b ON b.id = e.value ->> 1 ORDER BY e.value ->> 0`,
  );

describe("publishing a brain of which the server holds most", () => {
  it("sends what changed, and names the rest", async () => {
    const { machine, sent } = await watched();
    const root = machine.repository("shop", { [A]: LONG, [B]: LONG.repeat(2), ".claude/brain/short.md": "short" });
    await pass(machine);
    write(root, { [B]: OTHER });
    await pass(machine);
    expect(sent).toEqual([
      [LONG, LONG.repeat(2), "short"],
      ["#", OTHER, "short"],
    ]);
    expect(current(machine)).toEqual([LONG, OTHER, "short"].map((content) => ({ version: 2, content })));
  });

  it("sends what the server does not hold any more", async () => {
    const { machine, sent } = await watched();
    const root = machine.repository("shop", { [A]: LONG, [B]: OTHER });
    await pass(machine);
    machine.t.instance.core.store.db.exec("UPDATE brain_blobs SET rules_version = 'older' WHERE content LIKE 'other%'");
    write(root, { ".claude/brain/c.md": "new" });
    await pass(machine);
    expect(sent.slice(1)).toEqual([
      ["#", "#", "new"],
      ["#", OTHER, "new"],
    ]);
    expect(current(machine)).toEqual([LONG, OTHER, "new"].map((content) => ({ version: 2, content })));
  });

  it("sends everything to a server that asks twice", async () => {
    const asks: Refusal = { status: 400, body: { ok: false, code: "content_needed", error: "no", missing: [0] } };
    const { machine, sent } = await watched((_files, call) => (call === 2 || call === 3 ? asks : undefined));
    const root = machine.repository("shop", { [A]: LONG, [B]: OTHER });
    await pass(machine);
    write(root, { ".claude/brain/c.md": "new" });
    await pass(machine);
    expect(sent.slice(2).map((files) => files.filter((file) => file === "#").length)).toEqual([1, 0]);
    expect(current(machine)).toHaveLength(3);
  });

  it("names no digests to a server that does not offer to take them", async () => {
    const { machine, sent } = await watched(undefined, ["reckon-accepts"]);
    const root = machine.repository("shop", { [A]: LONG });
    await pass(machine);
    write(root, { [B]: OTHER });
    await pass(machine);
    expect(sent).toEqual([[LONG], [LONG, OTHER]]);
  });

  it("goes on with a server that was replaced by an earlier version", async () => {
    const knowsNone = (files: readonly Sent[]): Refusal | undefined =>
      files.some(({ content }) => content === undefined)
        ? { status: 400, body: { error: 'In the body, "files.0.content" is missing.' } }
        : undefined;
    const { machine, sent } = await watched(knowsNone);
    const root = machine.repository("shop", { [A]: LONG });
    await pass(machine);
    write(root, { [B]: OTHER });
    await pass(machine);
    expect(sent.slice(1)).toEqual([
      ["#", OTHER],
      [LONG, OTHER],
    ]);
    expect(current(machine)).toEqual([LONG, OTHER].map((content) => ({ version: 2, content })));
    expect(machine.capture.rows.rejected.all()).toEqual([]);
  });

  it("does not count a content as held if the server replaced something in its snapshot", () => {
    const files = [{ path: A, content: LONG }];
    for (const [redactionHits, isNamed] of [
      [0, true],
      [1, false],
      [undefined, false],
    ] as const) {
      const contents = new StoredContents({});
      const parts = { status: 200, text: "", etag: null, receipt: null, log: null };
      contents.learn({ ...parts, kind: "ok", body: { redactionHits }, takesDigests: true }, files, files);
      expect(new StoredContents(contents.remembered()).named(files)[0]).toEqual(
        isNamed ? { path: A, contentSha256: sha256Hex(LONG) } : files[0],
      );
    }
  });
});

describe("a brain too large for a slow line", () => {
  /** A server that receives only so many characters in the time that it gives a request. */
  const slow = (chars: number) =>
    watched((files) =>
      JSON.stringify(files).length > chars
        ? { status: 408, body: { error: "The request took too long to arrive." } }
        : undefined,
    );
  const files = Object.fromEntries(
    Array.from({ length: 8 }, (_, n) => [`docs/adr/${n}.md`, `${n} is decided.\n`.repeat(6_000)]),
  );
  const held = (machine: TestMachine) => current(machine).map(({ content }) => content.split("\n")[0]);
  const whole = Object.keys(files).map((_, n) => `${n} is decided.`);

  it("is published in part, and as a whole once the rest can be named by digests", async () => {
    const { machine, sent } = await slow(600_000);
    machine.repository("shop", files);
    await pass(machine);
    expect(held(machine)).toEqual(["# Not published", ...whole.slice(-6)]);
    await pass(machine);
    expect(held(machine)).toEqual(whole);
    await pass(machine);
    expect(sent).toHaveLength(3);
  });

  it("is published as far as there is room, and holds up nothing else", async () => {
    const { machine, sent } = await slow(200_000);
    const root = machine.repository("shop", { ...files, [ERRORS]: `## 2026-11-20 Login loop\n\n${LONG}` });
    for (let i = 0; i < 5; i++) await pass(machine);
    const tries = sent.length;
    await pass(machine);
    expect(sent).toHaveLength(tries);
    expect(held(machine)).toEqual(["## 2026-11-20 Login loop", "# Not published", ...whole.slice(-2)]);
    expect(machine.t.rows("SELECT count(*) AS n FROM brain_pulses")).toEqual([{ n: 1 }]);
    write(root, { [ERRORS]: OTHER });
    await pass(machine);
    expect(held(machine)).toContain("other words");
  });
});

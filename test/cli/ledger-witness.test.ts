import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { consistencyProof } from "../../src/kit/merkle.ts";
import { writeBundle } from "../../src/kit/transparency/bundle.ts";
import { ED25519, noteSigner, parseNote, parseVkey, verifiedBy, vkeyOf } from "../../src/kit/transparency/note.ts";
import { writeGrowthProof } from "../../src/kit/transparency/proof.ts";
import { parseTilePath, tileBytes, tileWidth } from "../../src/kit/transparency/tiles.ts";
import { local } from "../../src/platform/store/store.ts";
import { newFolder } from "../support/folder.ts";
import { keyOf, logSigner, TestLog } from "../support/ledger.ts";
import { command } from "../support/remote.ts";

const texts = (from: number, to: number, of = "") =>
  Array.from({ length: to - from }, (_, i) => JSON.stringify({ leaf: from + i, of }));
const KEY = ["--key", vkeyOf(logSigner)];

type Answer = (path: string, response: ServerResponse) => boolean;

/** Serves a log below `/base/ledger`. @param instead answers what it has something else for */
async function served(log: () => TestLog, instead: Answer = () => false) {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? "").replace(/^\/base\/ledger\//, "");
    paths.push(path);
    if (instead(path, response)) return;
    if (path === "checkpoint") return void response.end(log().checkpoint());
    const tile = parseTilePath(path);
    if (!tile || tileWidth(tile.level, tile.n, log().size) < tile.width) return void response.writeHead(404).end();
    response.end(tileBytes(tile, log().nodeAt));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/base`, paths };
}

const observe = (state: string, place: string, ...args: string[]) =>
  command(["ledger", "witness", "--state", state, place, ...args]);

/** Looks once, and expects a cosignature. */
async function cosigned(state: string, place: string, ...args: string[]) {
  const done = await observe(state, place, "--json", ...args);
  expect([done.code, done.stderr]).toEqual([0, expect.not.stringContaining("reckon:")]);
  const result = JSON.parse(done.stdout);
  const [verified] = verifiedBy(parseNote(result.note), [parseVkey(result.vkey)]);
  expect(verified?.at).toBeGreaterThan(Date.UTC(2026, 0));
  expect(verifiedBy(parseNote(result.note), [logSigner])).toHaveLength(1);
  expect(JSON.parse(readFileSync(state, "utf8"))).toMatchObject({ checkpoint: result.note, log: KEY[1] });
  return result;
}

describe("a witness", () => {
  it("follows a log that grows, by its tiles, and cosigns each head", async () => {
    const log = new TestLog();
    const state = join(newFolder(), "shop", "log.json");
    const { url, paths } = await served(() => log);
    log.append(...texts(0, 300));
    const first = await cosigned(state, url, ...KEY, "--name", "audit.example/w1");
    expect(first).toMatchObject({ cosigned: true, origin: log.origin, size: 300, previous: null });
    expect(parseVkey(first.vkey).name).toBe("audit.example/w1");
    expect(paths).toEqual(["checkpoint"]);
    for (const size of [301, 512, 513, 70_000, 70_001]) {
      const before = log.size;
      log.append(...texts(before, size));
      const next = await cosigned(state, `${url}/`);
      expect(next).toMatchObject({
        size,
        previous: { size: before },
        vkey: first.vkey,
        root: log.rootAt(size).toString("base64"),
      });
    }
    expect(await cosigned(state, url)).toMatchObject({ size: 70_001, previous: { size: 70_001 } });
    const names = readdirSync(join(state, "..")).sort();
    expect(names).toEqual(["log.json", "log.json.in-use", "witness-key.pem", "witness-key.vkey"]);
    for (const name of names) expect([name, statSync(join(state, "..", name)).mode & 0o777]).toEqual([name, 0o600]);
    expect(readFileSync(join(state, "../witness-key.vkey"), "utf8")).toBe(`${first.vkey}\n`);
  });

  it("prints the note with its line, and its key once", async () => {
    const log = new TestLog().append("a", "b");
    const state = join(newFolder(), "log.json");
    const { url } = await served(() => log);
    const first = await observe(state, url, ...KEY);
    expect(first.stdout).toMatch(/^reckon\.example\/ledger\/4f00\/1\n2\n\S+\n\n— reckon\S+ \S+\n— \S+ \S+\n$/);
    expect(first.stderr).toContain("first look");
    expect(first.stderr).toContain(readFileSync(join(state, "../witness-key.vkey"), "utf8").trim());
    const second = await observe(state, url);
    expect(second.stderr).not.toContain("A key was made");
    expect(second.stderr).toContain("only grew");
  });

  it("takes the full tile where the partial one is gone", async () => {
    let log = new TestLog().append(...texts(0, 100));
    const { url, paths } = await served(
      () => log,
      (path, response) => path.includes(".p/") && Boolean(response.writeHead(404).end()),
    );
    const state = join(newFolder(), "log.json");
    await cosigned(state, url, ...KEY);
    log = new TestLog().append(...texts(0, 256));
    const note = log.checkpoint(200);
    log.checkpoint = () => note;
    expect(await cosigned(state, url)).toMatchObject({ size: 200 });
    expect(paths).toEqual(["checkpoint", "checkpoint", "tile/0/000.p/200", "tile/0/000"]);
  });

  it("refuses a fork, keeps both notes and forgets nothing", async () => {
    let log = new TestLog().append(...texts(0, 300));
    const state = join(newFolder(), "log.json");
    const { url } = await served(() => log);
    await cosigned(state, url, ...KEY);
    const before = readFileSync(state, "utf8");
    for (const [forked, reason, detail] of [
      [new TestLog().append(...texts(0, 299), "other"), "fork", "two different trees of 300"],
      [new TestLog().append("other", ...texts(1, 700)), "fork", "not the beginning"],
      [new TestLog().append(...texts(0, 299)), "shrunk", "it has 299 leaves and had 300"],
    ] as const) {
      log = forked;
      const done = await observe(state, url, "--json");
      expect(done.code).toBe(1);
      const result = JSON.parse(done.stdout);
      expect(result).toMatchObject({ cosigned: false, reason, detail: expect.stringContaining(detail) });
      expect(done.stderr).toContain("NOT COSIGNED");
      const [own, seen] = result.evidence.map((path: string) => readFileSync(path, "utf8"));
      expect([own, seen]).toEqual([JSON.parse(before).checkpoint, forked.checkpoint()]);
      expect(readFileSync(state, "utf8")).toBe(before);
    }
    log = new TestLog().append(...texts(0, 301));
    expect(await cosigned(state, url)).toMatchObject({ size: 301, previous: { size: 300 } });
  });

  it("follows a log that got a new name, where nothing of it was lost", async () => {
    let log = new TestLog().append(...texts(0, 30));
    const state = join(newFolder(), "log.json");
    const { url } = await served(() => log);
    await cosigned(state, url, ...KEY);
    log.append(...texts(30, 40)).epoch = 2;
    const renamed = await cosigned(state, url);
    expect(renamed).toMatchObject({
      origin: log.origin,
      size: 40,
      previous: { origin: `${logSigner.name}/1`, size: 30 },
    });
    log = new TestLog().append(...texts(0, 35), "epoch", ...texts(36, 50));
    log.epoch = 3;
    const done = await observe(state, url, "--json");
    const result = JSON.parse(done.stdout);
    expect([done.code, result.reason]).toEqual([1, "fork"]);
    expect(result.detail).toContain(`it goes by the name of ${log.origin}, and lacks what came after the backup`);
  });

  it("cosigns nothing that it cannot check", async () => {
    const log = new TestLog().append(...texts(0, 300));
    const state = join(newFolder(), "log.json");
    let instead: Answer = () => false;
    const { url } = await served(
      () => log,
      (path, response) => instead(path, response),
    );
    await cosigned(state, url, ...KEY);
    const before = readFileSync(state, "utf8");
    log.append(...texts(300, 600));
    const onTile =
      (answer: (response: ServerResponse) => void): Answer =>
      (path, response) => {
        if (path === "checkpoint") return false;
        answer(response);
        return true;
      };
    const onCheckpoint =
      (answer: string): Answer =>
      (path, response) =>
        path === "checkpoint" && Boolean(response.end(answer));
    const zeros: Answer = (path, response) => {
      const tile = parseTilePath(path);
      if (tile) response.end(Buffer.alloc(tile.width * 32));
      return tile !== undefined;
    };
    const elsewhere = new TestLog(noteSigner("reckon.example/ledger/4f01", ED25519, keyOf(1))).append("a");
    const forger = new TestLog(noteSigner(logSigner.name, ED25519, keyOf(8))).append("a");
    for (const [answer, message] of [
      [onTile((response) => response.writeHead(404).end()), "is not there"],
      [
        onTile((response) => response.writeHead(302, { location: "http://x.example/" }).end()),
        "points to http://x.example/",
      ],
      [onTile((response) => response.writeHead(500).end()), "answers 500"],
      [onTile((response) => response.end("short")), "shorter"],
      [zeros, "not those of the tree that it signed"],
      [onTile((response) => response.end(Buffer.alloc(9_000))), "more than"],
      [onTile((response) => response.destroy()), "cannot be read"],
      [onCheckpoint("<html>"), "no checkpoint that can be believed"],
      [onCheckpoint("\u00ff".repeat(200_000)), "more than"],
      [onCheckpoint(forger.checkpoint()), "no signature of reckon.example"],
      [onCheckpoint(elsewhere.checkpoint()), "of the log reckon.example/ledger/4f01"],
    ] as const) {
      instead = answer;
      const done = await observe(state, url);
      expect([done.code, done.stdout, done.stderr]).toEqual([1, "", expect.stringContaining(message)]);
      expect(readFileSync(state, "utf8")).toBe(before);
    }
    instead = () => false;
    expect(await cosigned(state, url)).toMatchObject({ size: 600, previous: { size: 300 } });
    const gone = await observe(state, "http://127.0.0.1:9/");
    expect([gone.code, gone.stderr]).toEqual([
      1,
      expect.stringContaining("http://127.0.0.1:9/ledger/checkpoint cannot be read"),
    ]);
  });

  it("reads what was brought on a stick: a note, a consistency proof, a bundle", async () => {
    const log = new TestLog().append(...texts(0, 40));
    const at = newFolder();
    const [state, stick] = [join(at, "log.json"), join(at, "stick.txt")];
    writeFileSync(stick, log.checkpoint());
    expect(await cosigned(state, stick, ...KEY)).toMatchObject({ size: 40, previous: null });
    log.append(...texts(40, 90));
    writeFileSync(stick, log.checkpoint());
    const bare = await observe(state, stick);
    expect([bare.code, bare.stderr]).toEqual([1, expect.stringContaining("one from 40 leaves to 90 is needed")]);
    const growth = (oldSize: number, size = log.size) => {
      const hashes = consistencyProof(oldSize, size, log.nodeAt);
      return writeGrowthProof({ oldSize, hashes, checkpoint: log.checkpoint(size) });
    };
    writeFileSync(stick, growth(39));
    expect((await observe(state, stick)).stderr).toContain("proves growth from 39 leaves on");
    writeFileSync(stick, growth(40));
    const { note } = await cosigned(state, stick);
    const bundle = { index: 7, leaf: log.leaves[7] as string, inclusion: log.inclusion(7), items: [] };
    writeFileSync(stick, writeBundle({ ...bundle, checkpoint: note }));
    expect(await cosigned(state, stick)).toMatchObject({ size: 90, previous: { size: 90 } });
    const [, own] = parseNote(JSON.parse(readFileSync(state, "utf8")).checkpoint).signatures;
    expect(own?.name).toBe(parseVkey(readFileSync(join(at, "witness-key.vkey"), "utf8").trim()).name);
    expect(parseNote(JSON.parse(readFileSync(state, "utf8")).checkpoint).signatures).toHaveLength(2);
    expect((await observe(state, join(at, "is-not-there"))).stderr).toContain("there is no such file");
  });

  it("belongs to one log and one name, and asks for the log's key at first", async () => {
    const at = newFolder();
    const [state, stick] = [join(at, "log.json"), join(at, "stick.txt")];
    writeFileSync(stick, new TestLog().append("a").checkpoint());
    expect((await observe(state, stick)).stderr).toContain("give its key once, with --key");
    expect(existsSync(state)).toBe(false);
    await cosigned(state, stick, ...KEY, "--name", "audit.example/w1");
    const other = noteSigner("other.example/ledger", ED25519, keyOf(7));
    expect((await observe(state, stick, "--key", vkeyOf(other))).stderr).toContain("a log with another key");
    expect((await observe(state, stick, "--name", "audit.example/w2")).stderr).toContain("is called audit.example/w1");
    expect((await observe(state, stick, "--key", "x")).code).toBe(2);
    const before = readFileSync(state, "utf8");
    const keyFile = join(at, "witness-key.pem");
    writeFileSync(keyFile, keyOf(7).export({ type: "pkcs8", format: "pem" }));
    const replaced = await observe(state, stick);
    expect([replaced.code, replaced.stderr]).toEqual([1, expect.stringContaining(`is not of the key ${keyFile}`)]);
    expect(readFileSync(state, "utf8")).toBe(before);
    writeFileSync(state, "{}");
    expect((await observe(state, stick)).stderr).toContain("not the state of a witness");
  });

  it("goes on after one that was killed, and never beside one that runs", async () => {
    const at = newFolder();
    const [state, stick] = [join(at, "log.json"), join(at, "stick.txt")];
    writeFileSync(stick, new TestLog().append("a").checkpoint());
    const release = local.tryLock(`${state}.in-use`);
    const busy = await observe(state, stick, ...KEY);
    expect([busy.code, busy.stderr]).toEqual([1, expect.stringContaining("in use by another process")]);
    expect(existsSync(state)).toBe(false);
    release?.();
    // Lock files that earlier versions left behind do not count, whether their process runs or is gone.
    for (const pid of [process.pid, 2 ** 30]) {
      writeFileSync(`${state}.lock`, `${pid}\n`);
      await cosigned(state, stick, ...KEY);
    }
    expect(readFileSync(`${state}.lock`, "utf8")).toBe(`${2 ** 30}\n`);
  });
});

import { createPublicKey } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { consistencyProof, Frontier, inclusionProof, leafHash, type NodeAt, rootOf } from "../../../src/kit/merkle.ts";
import { checkpointText, openCheckpoint, parseCheckpointText } from "../../../src/kit/transparency/checkpoint.ts";
import {
  ED25519,
  noteKey,
  noteSigner,
  parseNote,
  parseVkey,
  signatureLine,
  signNote,
  verifiedBy,
  vkeyOf,
} from "../../../src/kit/transparency/note.ts";
import {
  parseGrowthProof,
  parseTlogProof,
  writeGrowthProof,
  writeTlogProof,
} from "../../../src/kit/transparency/proof.ts";
import {
  nodesFromTiles,
  parseTilePath,
  type Tile,
  tileBytes,
  tilePath,
  tilesFor,
  tileWidth,
} from "../../../src/kit/transparency/tiles.ts";
import { cosignerOf, keyOf } from "../../support/ledger.ts";
import { anyText } from "../../support/texts.ts";

const log = noteSigner("reckon.example/ledger/1", ED25519, keyOf(1));
const cosigner = cosignerOf("audit.example/w1", 2);
const problem = (message: RegExp) =>
  expect.objectContaining({ name: "Problem", message: expect.stringMatching(message) });

describe("signed notes", () => {
  it("verify the example of the specification", () => {
    const key = parseVkey("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
    const note = parseNote(
      "This is an example message.\n\n— example.com/foo Uw2QOkn8srV1yJGh2VYRlL1Tnagv1YEq6TfXppzi2ONncAlTgK7Ztg1ERYNZXsYjOBH3mFXmRKuwHjG1Yu72IneyaQM=\n",
    );
    expect(verifiedBy(note, [key])).toEqual([{ key, at: null }]);
    expect(vkeyOf(key)).toBe("example.com/foo+530d903a+AekyeRrm56hApGFkyQR4ZCbV54Id2LKaANYcrnKv3U2k");
  });

  it("name keys by vkeys, which survive writing and reading", () => {
    for (const key of [log, cosigner]) {
      const read = parseVkey(vkeyOf(key));
      expect([read.name, read.id, read.type]).toEqual([key.name, key.id, key.type]);
      expect(read.publicKey.equals(createPublicKey(key.privateKey))).toBe(true);
    }
  });

  it("refuse invalid vkeys", () => {
    const vkey = vkeyOf(log);
    const [name, id, key] = vkey.split("+") as [string, string, string];
    for (const bad of ["", "+", vkey.slice(1), vkey.slice(0, -4), `${name} ${id} ${key}`, `${vkey} `, `${vkey}\n`])
      expect(() => parseVkey(bad)).toThrow(problem(/./));
    expect(() => parseVkey(`${name}+00000000+${key}`)).toThrow(problem(/does not fit/));
    expect(() => parseVkey(`${name}+${id}+${Buffer.of(6, 1, 2).toString("base64")}`)).toThrow(problem(/type 6/));
    expect(() => noteKey("a b", ED25519, log.publicKey)).toThrow(problem(/no spaces/));
    expect(() => noteKey("a+b", ED25519, log.publicKey)).toThrow(problem(/no plus/));
  });

  it("ignore signatures of unknown keys, and refuse a false one of a known key", () => {
    const text = "a\n\nb\n";
    const signed = signNote(text, log) + signatureLine(text, cosigner, 1_700_000_000_999);
    const note = parseNote(signed);
    expect(note.text).toBe(text);
    expect(verifiedBy(note, [log, cosigner])).toEqual([
      { key: log, at: null },
      { key: cosigner, at: 1_700_000_000_000 },
    ]);
    const other = noteSigner("other.example", ED25519, keyOf(3));
    expect(verifiedBy(note, [other])).toEqual([]);
    for (const not of [{ name: log.name }, { id: log.id }])
      expect(verifiedBy(note, [{ ...other, ...not }])).toEqual([]);
    expect(verifiedBy(parseNote(signed + signatureLine(text, log, 0)), [log])).toHaveLength(1);
    expect(() => verifiedBy(parseNote(signed + signatureLine("c\n", log, 0)), [log])).toThrow(
      problem(/not of that key/),
    );
    const altered = parseNote(signed.replace("a\n", "A\n"));
    expect(() => verifiedBy(altered, [log])).toThrow(problem(/names reckon.example/));
    expect(() => verifiedBy(altered, [cosigner])).toThrow(problem(/names audit.example/));
    const { publicKey } = other;
    expect(() => verifiedBy(note, [{ ...log, publicKey }])).toThrow(problem(/not of that key/));
  });

  it("cosign with the time under the signature", () => {
    const text = "reckon.example/ledger/1\n1\nabc\n";
    const [own] = parseNote(`${text}\n${signatureLine(text, cosigner, 1_679_315_147_000)}`).signatures;
    const bytes = own?.bytes as Buffer;
    expect(bytes.readBigUInt64BE()).toBe(1_679_315_147n);
    for (const [offset, value] of [
      [7, 1],
      [0, 255],
      [9, bytes[9] === 0 ? 1 : 0],
    ] as const) {
      const changed = Buffer.from(bytes);
      changed[offset] = value;
      const note = { text, signatures: [{ name: cosigner.name, keyId: cosigner.id, bytes: changed }] };
      expect(() => verifiedBy(note, [cosigner])).toThrow(problem(/./));
    }
    const beyond = parseNote(`${text}\n${signatureLine(text, cosigner, Date.UTC(10_000, 0))}`);
    expect(() => verifiedBy(beyond, [cosigner])).toThrow(problem(/not of that key/));
    const short = { text, signatures: [{ name: cosigner.name, keyId: cosigner.id, bytes: Buffer.alloc(3) }] };
    expect(() => verifiedBy(short, [cosigner])).toThrow(problem(/./));
  });

  it("refuse malformed notes", () => {
    const good = signNote("text\n", log);
    const line = good.split("\n").at(-2) as string;
    for (const bad of [
      "",
      "\n",
      "\n\n",
      "text\n\n",
      good.slice(0, -1),
      `text\n${line}\n`,
      `${good}\n`,
      good.replace("— ", "- "),
      good.replace("text", "te\rxt"),
      good.replace("text", "te\u0000xt"),
      good.replace("text", "te\ud800xt"),
      good.replace(log.name, "a\u00a0b"),
      good.replace("=\n", "\n"),
      `text\n\n— name AAAA\n`,
      `text\n\n${`${line}\n`.repeat(101)}`,
      `${"x".repeat(300_000)}\n\n${line}\n`,
    ])
      expect(() => parseNote(bad)).toThrow(problem(/./));
    expect(parseNote(`text\n\n${`${line}\n`.repeat(100)}`).signatures).toHaveLength(100);
    fc.assert(
      fc.property(anyText({ maxLength: 60 }), (text) => {
        for (const input of [text, `${text}\n\n— ${text}\n`, `t\n\n— a ${text}\n`])
          try {
            parseNote(input);
          } catch (error) {
            expect(error).toEqual(problem(/./));
          }
      }),
    );
  });
});

describe("checkpoints", () => {
  const head = { origin: log.name, size: 3, root: leafHash(Buffer.from("x")) };
  const text = checkpointText(head);

  it("go there and back, with the log's signature", () => {
    expect(openCheckpoint(signNote(text, log), log)).toEqual({ ...head, note: parseNote(signNote(text, log)) });
    expect(parseCheckpointText(`${text}more\n`)).toEqual(head);
  });

  it("are refused without it, and of another log", () => {
    expect(() => openCheckpoint(signNote(text, noteSigner(log.name, ED25519, keyOf(9))), log)).toThrow(
      problem(/no signature/),
    );
    const elsewhere = checkpointText({ ...head, origin: `${log.name}2` });
    expect(() => openCheckpoint(signNote(elsewhere, log), log)).toThrow(problem(/not of/));
    expect(openCheckpoint(signNote(checkpointText({ ...head, origin: `${log.name}/2` }), log), log).size).toBe(3);
  });

  it("are refused when their text has another form", () => {
    const [origin, , root] = text.split("\n");
    for (const size of ["", "03", "-1", "3.0", " 3", "3 ", "1e3", "0x3", "9007199254740992", "99999999999999999999"])
      expect(() => parseCheckpointText(`${origin}\n${size}\n${root}\n`)).toThrow(problem(/tree size/));
    for (const bad of ["", "abc", root?.slice(0, -1), `${root}=`, Buffer.alloc(31).toString("base64")])
      expect(() => parseCheckpointText(`${origin}\n3\n${bad}\n`)).toThrow(problem(/root hash/));
    expect(() => parseCheckpointText(`\n3\n${root}\n`)).toThrow(problem(/log's name/));
    expect(() => parseCheckpointText(`${origin}\n3\n${root}`)).toThrow(problem(/./));
    expect(() => parseCheckpointText(`${origin}\n3\n${root}\n\nmore\n`)).toThrow(problem(/empty line/));
    expect(() => parseCheckpointText(`${origin}\n0\n${root}\n`)).toThrow(problem(/without leaves/));
  });
});

describe("proof files", () => {
  const hashes = [leafHash(Buffer.from("1")), leafHash(Buffer.from("2"))];
  const checkpoint = signNote("a\n1\nb\n", log);

  it("go there and back", () => {
    for (const extra of [null, Buffer.from("{}")])
      for (const some of [hashes, []]) {
        const proof = { extra, index: 7, hashes: some, checkpoint };
        expect(parseTlogProof(writeTlogProof(proof))).toEqual(proof);
      }
    const growth = { oldSize: 0, hashes, checkpoint };
    expect(parseGrowthProof(writeGrowthProof(growth))).toEqual(growth);
    expect(writeTlogProof({ extra: null, index: 0, hashes: [], checkpoint: "c" })).toBe(
      "c2sp.org/tlog-proof@v1\nindex 0\n\nc",
    );
  });

  it("are refused when they have another form", () => {
    const good = writeTlogProof({ extra: Buffer.from("x"), index: 7, hashes, checkpoint });
    for (const [from, to] of [
      ["@v1", "@v2"],
      ["extra ", "extra  "],
      ["index 7", "index 07"],
      ["index 7", "index -7"],
      ["index 7\n", ""],
      ["index 7\n", `index 7\n${"AAAA\n"}`],
      ["\n\n", "\n"],
      ["index 7\n", `index 7\n${`${hashes[0]?.toString("base64")}\n`.repeat(64)}`],
    ] as const)
      expect(() => parseTlogProof(good.replace(from, to))).toThrow(problem(/./));
    expect(() => parseTlogProof(good + "x".repeat(1024 * 1024))).toThrow(problem(/longer/));
    expect(() => parseGrowthProof(good)).toThrow(problem(/old/));
  });
});

describe("tiles", () => {
  it("have the paths of the specification", () => {
    expect(tilePath({ level: 0, n: 1_234_067, width: 256 })).toBe("tile/0/x001/x234/067");
    expect(tilePath({ level: 2, n: 0, width: 1 })).toBe("tile/2/000.p/1");
    expect(tilePath({ level: 0, n: 999, width: 256 })).toBe("tile/0/999");
    expect(tilePath({ level: 0, n: 1_000, width: 112 })).toBe("tile/0/x001/000.p/112");
    const tile = fc.record<Tile>({
      level: fc.nat({ max: 63 }),
      n: fc.maxSafeNat(),
      width: fc.integer({ min: 1, max: 256 }),
    });
    fc.assert(
      fc.property(tile, (one) => {
        expect(parseTilePath(tilePath(one))).toEqual(one);
      }),
    );
  });

  it("have one path each", () => {
    for (const path of [
      "tile/00/000",
      "tile/64/000",
      "tile/0/0",
      "tile/0/x000/001",
      "tile/0/001/002",
      "tile/0/x001",
      "tile/0/000.p/0",
      "tile/0/000.p/256",
      "tile/0/000.p/257",
      "tile/0/000.p/01",
      "tile/0/000/",
      "/tile/0/000",
      "tile/0/x999/x999/x999/x999/x999/999",
      "tile/entries/000",
      "tile/0/../000",
    ])
      expect([path, parseTilePath(path)]).toEqual([path, undefined]);
  });

  it("are as many and as wide as the specification's example says", () => {
    const widths = (level: number) =>
      Array.from({ length: 300 }, (_, n) => tileWidth(level, n, 70_000)).filter(Boolean);
    expect(widths(0)).toEqual([...Array(273).fill(256), 112]);
    expect(widths(1)).toEqual([256, 17]);
    expect(widths(2)).toEqual([1]);
    expect(widths(3)).toEqual([]);
    expect([tileWidth(0, 0, 256), tileWidth(1, 0, 256)]).toEqual([256, 1]);
  });

  it("prove what the tree proves", () => {
    const size = 66_000;
    const leaves = Array.from({ length: size }, (_, i) => leafHash(Buffer.from(`${i}`)));
    const nodes = new Map<string, Buffer>();
    const frontier = new Frontier();
    const roots = [frontier.root()];
    for (const [i, leaf] of leaves.entries()) {
      for (const [level, hash] of frontier.append(leaf).entries())
        nodes.set(`${level} ${(i + 1) / 2 ** level - 1}`, hash);
      if (i < 1_000 || i > 65_900) roots[i + 1] = frontier.root();
    }
    expect(roots[777]).toEqual(rootOf(leaves.slice(0, 777)));
    const nodeAt: NodeAt = (level, n) => nodes.get(`${level} ${n}`) as Buffer;
    for (const [from, to] of [
      [1, 2],
      [5, 700],
      [256, 512],
      [300, 65_950],
      [777, 66_000],
      [65_950, 66_000],
    ] as const) {
      const fetched = new Map<string, Buffer>();
      for (const tile of tilesFor(to, (at) => consistencyProof(from, to, at))) {
        expect(tile.width).toBe(tileWidth(tile.level, tile.n, to));
        fetched.set(tilePath(tile), tileBytes(tile, nodeAt));
      }
      const fromTiles = nodesFromTiles(to, (path) => fetched.get(path) as Buffer);
      expect(consistencyProof(from, to, fromTiles)).toEqual(consistencyProof(from, to, nodeAt));
    }
    const all = new Map(
      tilesFor(size, (at) => inclusionProof(65_537, size, at)).map((tile) => [tilePath(tile), tileBytes(tile, nodeAt)]),
    );
    const fromTiles = nodesFromTiles(size, (path) => all.get(path) as Buffer);
    expect(inclusionProof(65_537, size, fromTiles)).toEqual(inclusionProof(65_537, size, nodeAt));
  });
});

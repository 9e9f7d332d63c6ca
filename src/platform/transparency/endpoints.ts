import * as v from "valibot";
import { fail, notFound } from "../../kit/problem.ts";
import { endpoint, Reply } from "../http/endpoint.ts";
import { checkpoint, ledgerVerifierKey } from "./checkpoint.ts";
import { tree } from "./tree.ts";

const TEXT = "text/plain; charset=utf-8";
const text = (content: string) => new Reply(content, { content });

const ORIGIN = "reckon.example/ledger/2f6b1c9d0a4e8375/1";
const NOTE = `${ORIGIN}
42
3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ3m0rJ9l4Yk2v3E=

\u2014 ${ORIGIN} 5qk0vQ3m0rJ9l4Yk2v3E3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ3m0rJ9l4Yk2v3E3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ==
`;

/** What was signed last. */
export const getCheckpoint = endpoint(
  {
    id: "ledgerCheckpoint",
    method: "GET",
    path: "/ledger/checkpoint",
    summary: "The newest checkpoint of the log, signed",
    tag: "Ledger",
    auth: "none",
    media: TEXT,
    ok: v.pipe(v.string(), v.description("A C2SP tlog-checkpoint: origin, size and root hash, as a signed note.")),
    faults: [],
    limits: [],
    example: { ok: NOTE },
  },
  ({ core }) => text(checkpoint(core)?.note ?? ""),
);

/** What it is checked with. */
export const getLedgerKey = endpoint(
  {
    id: "ledgerKey",
    method: "GET",
    path: "/ledger/key",
    summary: "The verifier key of the log",
    tag: "Ledger",
    auth: "none",
    media: TEXT,
    ok: v.pipe(v.string(), v.description("A C2SP verifier key. Note it where nobody here can change it.")),
    faults: [],
    limits: [],
    example: { ok: `${ORIGIN}+e6a934bd+AWmZJb7kYf0pYb8m8m0mH2bq1bqvQ3m0rJ9l4Yk2v3E=\n` },
  },
  ({ core }) => text(`${ledgerVerifierKey(core)}\n`),
);

/** Hashes of a tile (C2SP tlog-tiles): 256 nodes of every eighth level. */
const TILE_HEIGHT = 8;
const TILE_WIDTH = 2 ** TILE_HEIGHT;
/** Level, number in groups of three digits, all but the last with an x, and the width of one that is not full yet. */
const TILE = /^(\d|[1-5]\d|6[0-3])\/((?:x\d{3}\/){0,5}\d{3})(?:\.p\/([1-9]\d{0,2}))?$/;

/** What any proof is made of. */
export const getTile = endpoint(
  {
    id: "ledgerTile",
    method: "GET",
    path: "/ledger/tile/**:tile",
    summary: "Hashes of the log's tree, a tile of them",
    tag: "Ledger",
    auth: "none",
    media: "application/octet-stream",
    ok: v.pipe(
      v.string(),
      v.description("A C2SP tlog-tiles tile: up to 256 SHA-256 hashes of a level, in their order."),
    ),
    faults: [notFound],
    limits: [],
    example: { ok: "" },
    cache: "public, max-age=31536000, immutable",
  },
  ({ core, params }) => {
    const [, level = "", path = "", width = `${TILE_WIDTH}`] = TILE.exec(params.tile ?? "") ?? [];
    const n = Number(path.replace(/[x/]/g, ""));
    const height = Number(level) * TILE_HEIGHT;
    const own = tree(core);
    own.sync();
    const first = n * TILE_WIDTH;
    const last = first + Number(width);
    if (path === "" || Number(width) > TILE_WIDTH || last > Math.floor(own.size / 2 ** height))
      fail(notFound, "The tree has no such tile.");
    const hashes = Array.from({ length: Number(width) }, (_, i) => own.nodeAt(height, first + i));
    return new Reply("", { content: Buffer.concat(hashes) });
  },
);

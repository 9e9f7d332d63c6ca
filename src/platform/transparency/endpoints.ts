import * as v from "valibot";
import { fail, notFound } from "../../kit/problem.ts";
import { parseTilePath, tileBytes, tileWidth } from "../../kit/transparency/tiles.ts";
import { endpoint, Reply } from "../http/endpoint.ts";
import { checkpoint } from "./checkpoint.ts";
import { ledgerKeys } from "./ledger-key.ts";
import { tree } from "./tree.ts";

const TEXT = "text/plain; charset=utf-8";
const text = (content: string) => new Reply(content, { content });

const ORIGIN = "reckon.example/ledger/2f6b1c9d0a4e8375/1";
const NOTE = `${ORIGIN}
42
3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ3m0rJ9l4Yk2v3E=

\u2014 ${ORIGIN} 5qk0vQ3m0rJ9l4Yk2v3E3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ3m0rJ9l4Yk2v3E3a6ZJb7kYf0pYb8m8m0mH2bq1bqvQ==
`;

/** The checkpoint that was signed last. */
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

/** The key that checkpoints are checked with. */
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
  ({ core }) => text(`${ledgerKeys.vkey(core)}\n`),
);

/** Tiles, of which any proof can be made. */
export const getTile = endpoint(
  {
    id: "ledgerTile",
    method: "GET",
    path: "/ledger/tile/**:tile",
    summary: "A tile of hashes of the log's tree",
    tag: "Ledger",
    auth: "none",
    media: "application/octet-stream",
    ok: v.pipe(
      v.unknown(),
      v.description("A C2SP tlog-tiles tile: up to 256 SHA-256 hashes of a level, in their order."),
    ),
    faults: [notFound],
    limits: [],
    example: { ok: "" },
    // Full tiles never change while the log lives, but after a restore another log is served at the same address.
    cache: "no-cache",
  },
  ({ core, params }) => {
    const own = tree(core);
    own.sync();
    // Generated clients escape the slashes in a path parameter.
    const tile = parseTilePath(`tile/${params.tile?.replaceAll(/%2f/gi, "/")}`);
    if (!tile || tileWidth(tile.level, tile.n, own.size) < tile.width) fail(notFound, "The tree has no such tile.");
    return new Reply("", { content: tileBytes(tile, own.nodeAt) });
  },
);

import * as v from "valibot";
import { type Core, slot } from "../../core.ts";
import { baseUrlOf } from "../../kit/base-url.ts";
import { etagMatches } from "../../kit/etag.ts";
import { sha256Hex } from "../../kit/hash.ts";
import { endpoint, Reply, unchanged } from "./endpoint.ts";
import { type Described, type OpenApiDocument, openApiDocument } from "./openapi.ts";

/** The document describes the list that this endpoint belongs to, so the list is handed over once it is complete. */
const described = slot((): Described => ({ endpoints: [], tags: {} }));
const rendered = slot((core) => {
  const document = openApiDocument(described(core), baseUrlOf(core.config));
  const text = JSON.stringify(document);
  return { document, text, etag: `"${sha256Hex(text).slice(0, 32)}"` };
});

/** Tells an instance what its document describes. */
export function describeEndpoints(core: Core, contract: Described): void {
  Object.assign(described(core), contract);
}

/** The document as this instance serves it. */
export const servedDocument = (core: Core): OpenApiDocument => rendered(core).document;

export const openapi = endpoint(
  {
    id: "getOpenapi",
    method: "GET",
    path: "/openapi.json",
    summary: "This document",
    tag: "Meta",
    auth: "none",
    ok: v.looseObject({
      openapi: v.string(),
      info: v.looseObject({ title: v.string(), version: v.string() }),
      paths: v.looseObject({}),
    }),
    also: [unchanged],
    faults: [],
    limits: [],
    cache: "public, max-age=300",
    example: { ok: { openapi: "3.1.0", info: { title: "Reckon", version: "1.0.0" }, paths: {} } },
  },
  ({ core, header }) => {
    const { document, text, etag } = rendered(core);
    if (etagMatches(header("if-none-match"), etag)) return new Reply<never>(null, { status: 304, headers: { etag } });
    return new Reply(document, { headers: { etag }, content: text });
  },
);

import type { IncomingMessage, ServerResponse } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect, it } from "vitest";
import { checkLake } from "../../../src/share/lake/check.ts";
import { flow } from "../../../src/share/lake/flow.ts";
import { lakeStatus } from "../../../src/share/lake/status.ts";
import type { TestOptions } from "../../support/instance.ts";
import { flowAll, sendEntries, startOnBucket } from "../../support/lake.ts";

const error = (code: string, more = "") => `<?xml version="1.0"?><Error><Code>${code}</Code>${more}</Error>`;

/** A bucket of a service that may answer in ways of its own. @param answer whether it did */
async function bucket(
  answer: (request: IncomingMessage, response: ServerResponse, tries: number) => boolean | Promise<boolean>,
  options?: Pick<TestOptions, "withJobs">,
) {
  const objects = new Map<string, number>();
  const tries = new Map<string, number>();
  const t = await startOnBucket(async (request, response) => {
    const path = (request.url ?? "").replace("/company/", "");
    const { length } = await buffer(request);
    tries.set(path, (tries.get(path) ?? 0) + 1);
    if (await answer(request, response, tries.get(path) ?? 0)) return;
    if (request.method === "PUT") objects.set(path, length);
    if (request.method === "DELETE") objects.delete(path);
    const listed = [...objects].map(([key, size]) => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`);
    response.end(request.method === "GET" ? `<ListBucketResult>${listed.join("")}</ListBucketResult>` : "");
  }, options);
  return { t, tries, objects };
}

it("finishes a turn though S3 is busy, disconnects, or cuts answers short, each object once", async () => {
  let asked = 0;
  const { t, objects } = await bucket((_request, response, tries) => {
    if (tries > 1) return false;
    const kind = asked++ % 5;
    if (kind === 4) response.writeHead(400).end(error("RequestTimeout"));
    else if (kind === 0) response.writeHead(503, { "retry-after": "1" }).end(error("SlowDown"));
    else if (kind === 1) response.writeHead(500).end(error("InternalError"));
    else if (kind === 2) response.destroy();
    else {
      response.writeHead(200, { "content-length": "100" }).write("half");
      response.destroy();
    }
    return true;
  });
  await sendEntries(t, await t.device());
  await flowAll(t);
  const { core } = t.instance;
  expect(lakeStatus(core)).toMatchObject({ waiting: { blocks: 0, days: 0, removals: 0 }, failure: null });
  expect([objects.size > 4, asked >= objects.size]).toEqual([true, true]);
  expect(await checkLake(core, false)).toMatchObject({ objects: objects.size, missing: [], unknown: [] });
});

it("gives up for this turn, after four tries, what S3 keeps refusing", async () => {
  const { t, tries } = await bucket((_request, response) => {
    response.writeHead(503).end(error("SlowDown"));
    return true;
  });
  await t.device();
  await expect(flow(t.instance.core)).rejects.toThrow("the lake refused to list the bucket: 503 SlowDown");
  expect([...tries.values()]).toEqual([4]);
});

it("waits for S3 no longer than the server runs", async () => {
  const { promise: wasAsked, resolve } = Promise.withResolvers<void>();
  const { t } = await bucket(
    (_request, response) => {
      response.writeHead(503, { "retry-after": "86400" }).end(error("SlowDown"), resolve);
      return true;
    },
    { withJobs: true },
  );
  await t.device();
  const ended = flow(t.instance.core).catch((failure: Error) => failure.name);
  await wasAsked;
  await t.instance.close();
  expect(await ended).toBe("AbortError");
});

it("lists a bucket in which others' names are as long as S3 allows", async () => {
  const others = Array.from({ length: 500 }, (_, i) => encodeURIComponent("€".repeat(330) + i));
  const { t, objects } = await bucket((request, response) => {
    if (request.method !== "GET") return false;
    const key = (name: string) =>
      `<Contents><Key>${name}</Key><Size>1</Size><ETag>&quot;${"0".repeat(32)}&quot;</ETag>`;
    const all = [...others.map(key), ...[...objects].map(([name, size]) => key(name).replace(">1<", `>${size}<`))];
    response.end(`<EncodingType>url</EncodingType>${all.map((one) => `${one}</Contents>`).join("")}`);
    return true;
  });
  await sendEntries(t, await t.device());
  await flowAll(t);
  expect(await checkLake(t.instance.core, false)).toMatchObject({ objects: objects.size, missing: [], unknown: [] });
});

it("reads a list of nothing but prefixes once", async () => {
  let isHostile = false;
  const { t, objects } = await bucket(({ method }, response) => {
    const answers = isHostile && method === "GET";
    const listed = [...objects].map(([key, size]) => `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`);
    if (answers) response.end(`<ListBucketResult>${listed.join("")}${"<Contents>".repeat(100_000)}`);
    return answers;
  });
  await sendEntries(t, await t.device());
  await flowAll(t);
  isHostile = true;
  const before = process.threadCpuUsage();
  const found = await checkLake(t.instance.core, false);
  const { user, system } = process.threadCpuUsage(before);
  expect(found).toMatchObject({ objects: objects.size, missing: [], unknown: [] });
  expect((user + system) / 1000).toBeLessThan(2_000);
});

it("reads a list that S3 gives in pages to its end", async () => {
  const { t, objects } = await bucket(({ method, url = "" }, response) => {
    if (method !== "GET") return false;
    const token = new URL(url, "http://s3").searchParams.get("continuation-token") ?? "0+/=";
    const at = Number(token.replace("+/=", ""));
    const [key, size] = [...objects][at] ?? [];
    const next = `<NextContinuationToken>${at + 1}+/=</NextContinuationToken>`;
    const content = `<Contents><Key>${key}</Key><Size>${size}</Size></Contents>`;
    response.end(`<ListBucketResult>${key ? content : ""}${at + 1 < objects.size ? next : ""}</ListBucketResult>`);
    return true;
  });
  await sendEntries(t, await t.device());
  await flowAll(t);
  expect(objects.size).toBeGreaterThan(2);
  expect(await checkLake(t.instance.core, false)).toMatchObject({ objects: objects.size, missing: [], unknown: [] });
});

it.each([
  [403, error("RequestTimeTooSkewed"), "put the clock of this machine right"],
  [400, error("ExpiredToken"), "temporary credentials are not taken"],
  [403, error("InvalidAccessKeyId"), "RECKON_LAKE_ACCESS_KEY_ID"],
  [403, error("SignatureDoesNotMatch"), "RECKON_LAKE_SECRET_ACCESS_KEY"],
  [403, error("AccessDenied"), "docs/lake.md"],
  [400, error("AuthorizationHeaderMalformed", "<Region>eu-west-3</Region>"), "RECKON_LAKE_REGION=eu-west-3"],
  [301, error("PermanentRedirect"), "RECKON_LAKE_REGION=eu-west-3"],
])("says what to do where S3 answers %i %s", async (status, body, advice) => {
  const { t } = await bucket((_request, response) => {
    response.writeHead(status, status === 301 ? { "x-amz-bucket-region": "eu-west-3" } : {}).end(body);
    return true;
  });
  await t.device();
  await expect(flow(t.instance.core)).rejects.toThrow(advice);
});

it("reports wrong credentials although nothing is to be written", async () => {
  let isRefused = false;
  const { t } = await bucket((_request, response) => {
    if (isRefused) response.writeHead(403).end(error("InvalidAccessKeyId"));
    return isRefused;
  });
  await t.device();
  await flow(t.instance.core);
  isRefused = true;
  await expect(flow(t.instance.core)).rejects.toThrow("RECKON_LAKE_ACCESS_KEY_ID");
});

it("works without the right to list", async () => {
  const { t, objects } = await bucket(({ method }, response) => {
    if (method === "GET") response.writeHead(403).end(error("AccessDenied"));
    return method === "GET";
  });
  await t.device();
  await flow(t.instance.core);
  expect(objects.size).toBe(1);
});

it("neither writes nor removes after a bucket was emptied, until it is repaired", async () => {
  const { t, objects } = await bucket(() => false);
  const device = await t.device();
  await sendEntries(t, device);
  await flowAll(t);
  const all = [...objects.keys()].sort();
  objects.clear();
  await sendEntries(t, device, { repoKey: "till" });
  await expect(flowAll(t)).rejects.toThrow("lake check --repair");
  expect([...objects.keys()]).toEqual([]);
  await checkLake(t.instance.core, true);
  await flowAll(t);
  expect([...objects.keys()]).toEqual(expect.arrayContaining(all));
  expect(await checkLake(t.instance.core, false)).toMatchObject({ missing: [], unknown: [] });
});

it("says which service does not answer", async () => {
  const { t } = await bucket((_request, response) => {
    response.destroy();
    return true;
  });
  await t.device();
  await expect(flow(t.instance.core)).rejects.toThrow(/^http:\/\/127\.0\.0\.1:\d+: ECONNRESET$/);
});

it("writes again what a repair found missing while blocks were being written", async () => {
  let lost = "";
  const { t, objects } = await bucket(async ({ method, url }) => {
    if (method === "PUT" && url?.includes("/entries/") && lost !== "") {
      objects.delete(lost);
      const found = await checkLake(t.instance.core, true);
      expect(found.missing).toEqual([lost]);
      lost = "";
    }
    return false;
  });
  const device = await t.device();
  await sendEntries(t, device, { repoKey: "shop" });
  await flowAll(t);
  const first = [...objects.keys()].find((path) => path.startsWith("entries/")) as string;
  lost = first;
  await sendEntries(t, device, { repoKey: "till" });
  await flowAll(t);
  await flowAll(t);
  expect(lost).toBe("");
  expect([...objects.keys()]).toContain(first);
});

it("keeps an object that was unknown and then written during a repair", async () => {
  let isFirst = true;
  const { t, objects } = await bucket(async ({ method }) => {
    if (method === "DELETE" && isFirst) {
      isFirst = false;
      await flow(t.instance.core);
    }
    return false;
  });
  await t.device();
  const { core } = t.instance;
  await flow(core);
  const shard = lakeStatus(core)?.shard;
  const { team } = await t.device();
  const path = `devices/team=${team.id}/${shard}.parquet`;
  const other = `devices/team=team_gone/${shard}.parquet`;
  objects.set(other, 1).set(path, 1);
  expect((await checkLake(core, true)).unknown).toEqual([other, path]);
  expect([objects.has(other), objects.has(path)]).toEqual([false, true]);
  expect(await checkLake(core, false)).toMatchObject({ missing: [], unknown: [] });
});

import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import type { Core } from "../../core.ts";
import { sha256Hex } from "../../kit/hash.ts";
import type { LakePlace } from "../../kit/lake-place.ts";
import { OutboundFailed, outboundFetch, readRetryAfter } from "../../platform/outbound/outbound.ts";
import type { Listed, Place } from "./place.ts";

/** For one object, however slow the line. */
const TOTAL_MS = 60_000;
const MAX_KEYS = 500;
/** So many names of a kilobyte, each byte of it escaped, and what is told with them. */
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
/** Services are busy for a moment as a matter of course, and a turn that ends with it would begin anew. */
const PAUSES_MS = [200, 800, 3_200];
const MAX_PAUSE_MS = 10_000;

/** A bucket of S3, or of what speaks its protocol, by addresses of the form ENDPOINT/BUCKET/KEY. */
export function s3Place(core: Core, lake: Extract<LakePlace, { kind: "s3" }>, signal?: AbortSignal): Place {
  const { lakeRegion: region, lakeAccessKeyId, lakeSecretAccessKey } = core.config;
  const endpoint = core.config.lakeEndpoint ?? `https://s3.${region}.amazonaws.com`;
  const send = outboundFetch(core, TOTAL_MS, MAX_REPLY_BYTES);
  const askOnce = async (method: string, key: string, body?: Uint8Array, query = ""): Promise<Response> => {
    const signer = new AwsV4Signer({
      method,
      url: `${endpoint}/${lake.bucket}${key === "" ? "" : `/${key}`}${query}`,
      headers: { "x-amz-content-sha256": sha256Hex(body ?? "") },
      accessKeyId: lakeAccessKeyId ?? "",
      secretAccessKey: lakeSecretAccessKey ?? "",
      service: "s3",
      region,
      datetime: isoBasic(core.clock.now()),
    });
    const signed = await signer.sign();
    const headers = Object.fromEntries(signed.headers as unknown as Iterable<[string, string]>);
    return send(String(signed.url), { method, headers, body, signal }).catch((error) => {
      throw error instanceof OutboundFailed ? new OutboundFailed(`${endpoint}: ${error.message}`) : error;
    });
  };
  const ask: typeof askOnce = async (...what) => {
    const lateAt = core.clock.monotonic() + TOTAL_MS;
    for (const pause of PAUSES_MS) {
      const answer = await askOnce(...what).catch((error) => {
        if (!(error instanceof OutboundFailed) || core.clock.monotonic() >= lateAt) throw error;
      });
      if (answer && !(await isBusy(answer))) return answer;
      const desired = readRetryAfter(answer?.headers.get("retry-after") ?? undefined, core.clock.now());
      await sleep(Math.min(Math.max(pause, desired), MAX_PAUSE_MS), undefined, signal && { signal });
    }
    return askOnce(...what);
  };
  const page = (count: number, more = "") => {
    const prefix = `&prefix=${encodeURIComponent(lake.prefix)}`;
    return ask("GET", "", undefined, `?list-type=2&encoding-type=url&max-keys=${count}${prefix}${more}`);
  };
  return {
    name: `${endpoint}/${lake.bucket}/${lake.prefix}`,
    async put(path, bytes) {
      await expectDone(await ask("PUT", lake.prefix + path, bytes), "put an object", region);
    },
    async remove(path) {
      await expectDone(await ask("DELETE", lake.prefix + path), "remove an object", region, "NoSuchKey");
    },
    async isEmpty() {
      // Nobody needs that right for a lake that is only written to.
      const text = await expectDone(await page(1), LIST, region, NOT_ALLOWED);
      return text.includes("<ListBucketResult") && listedIn(text, lake.prefix).next().done === true;
    },
    async *list() {
      for (let token: string | undefined = ""; token !== undefined; ) {
        const more = token === "" ? "" : `&continuation-token=${encodeURIComponent(token)}`;
        const text = await expectDone(await page(MAX_KEYS, more), LIST, region);
        yield* listedIn(text, lake.prefix);
        token = memberOf(text, "NextContinuationToken");
      }
    },
  };
}

const LIST = "list the bucket";
const NOT_ALLOWED = "AccessDenied";

/** Whether to ask once more. S3 says with 400 that it waited too long for the rest of what was put. */
const isBusy = async (answer: Response) =>
  answer.status === 429 ||
  answer.status >= 500 ||
  (answer.status === 400 && memberOf(await answer.clone().text(), "Code") === "RequestTimeout");

/** As the signature has it: 20261121T080000Z. */
const isoBasic = (at: number) => new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, "");

/** What to do about it, by what S3 calls it. */
const ADVICE = new Map([
  [NOT_ALLOWED, "the key may not; docs/lake.md says what it needs"],
  ["ExpiredToken", "temporary credentials are not taken"],
  ["InvalidAccessKeyId", "it knows no such RECKON_LAKE_ACCESS_KEY_ID"],
  ["RequestTimeTooSkewed", "put the clock of this machine right"],
  ["SignatureDoesNotMatch", "RECKON_LAKE_SECRET_ACCESS_KEY is not that of the key"],
]);

/**
 * @param taken the code with which it may refuse: a bucket that is not there, as one whose disk is not mounted, keeps what it held
 * @returns what it answered
 * @throws Error with what it says is wrong, and what to do about it
 */
async function expectDone(answer: Response, what: string, region: string, taken?: string): Promise<string> {
  const text = await answer.text();
  const code = wordOf(memberOf(text, "Code"));
  if (answer.ok || (taken !== undefined && code === taken)) return text;
  const elsewhere = wordOf(answer.headers.get("x-amz-bucket-region") ?? memberOf(text, "Region"));
  const isElsewhere = elsewhere !== undefined && elsewhere !== region;
  const advice = isElsewhere ? `the bucket is in RECKON_LAKE_REGION=${elsewhere}` : ADVICE.get(code ?? "");
  throw new Error(
    `the lake refused to ${what}: ${answer.status}${code ? ` ${code}` : ""}${advice ? `: ${advice}` : ""}`,
  );
}

const wordOf = (text: string | undefined) => text?.replace(/[^\w.-]/g, "").slice(0, 60);

const memberOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.replaceAll("&amp;", "&");

function* listedIn(xml: string, prefix: string): Generator<Listed> {
  // Not every service heeds that they were asked for as in addresses, and a name of somebody else's may be none then.
  const decode = memberOf(xml, "EncodingType") === "url" ? decodeURIComponent : String;
  // What has no end is looked for once, and not from the beginning of each.
  for (const object of xml.split("</Contents>").slice(0, -1)) {
    const key = decode(memberOf(object, "Key") ?? "");
    if (key.startsWith(prefix)) yield { path: key.slice(prefix.length), bytes: Number(memberOf(object, "Size")) };
  }
}

import { AwsV4Signer } from "aws4fetch";
import type { Core } from "../../core.ts";
import { sha256Hex } from "../../kit/hash.ts";
import type { LakePlace } from "../../kit/lake-place.ts";
import { outboundFetch } from "../../platform/outbound/outbound.ts";
import type { Listed, Place } from "./place.ts";

/** For one object, however slow the line. */
const TOTAL_MS = 60_000;
/** So many names fit into a reply. */
const MAX_KEYS = 500;

/** A bucket of S3, or of what speaks its protocol, by addresses of the form ENDPOINT/BUCKET/KEY. */
export function s3Place(core: Core, lake: Extract<LakePlace, { kind: "s3" }>, signal?: AbortSignal): Place {
  const { lakeRegion: region, lakeAccessKeyId, lakeSecretAccessKey } = core.config;
  const endpoint = core.config.lakeEndpoint ?? `https://s3.${region}.amazonaws.com`;
  const send = outboundFetch(core, TOTAL_MS);
  const ask = async (method: string, key: string, body?: Uint8Array, query = ""): Promise<Response> => {
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
    return send(String(signed.url), { method, headers, body, signal });
  };
  return {
    name: `${endpoint}/${lake.bucket}/${lake.prefix}`,
    async put(path, bytes) {
      await expectDone(await ask("PUT", lake.prefix + path, bytes), "put an object");
    },
    async remove(path) {
      await expectDone(await ask("DELETE", lake.prefix + path), "remove an object", "NoSuchKey");
    },
    async *list() {
      for (let token: string | undefined = ""; token !== undefined; ) {
        const more = token === "" ? "" : `&continuation-token=${encodeURIComponent(token)}`;
        const prefix = `&prefix=${encodeURIComponent(lake.prefix)}`;
        const answer = await ask(
          "GET",
          "",
          undefined,
          `?list-type=2&encoding-type=url&max-keys=${MAX_KEYS}${prefix}${more}`,
        );
        const text = await expectDone(answer, "list the bucket");
        yield* listedIn(text, lake.prefix);
        token = memberOf(text, "NextContinuationToken");
      }
    },
  };
}

/** As the signature has it: 20261121T080000Z. */
const isoBasic = (at: number) => new Date(at).toISOString().replace(/[:-]|\.\d{3}/g, "");

/**
 * @param taken the code with which it may refuse: a bucket that is not there, as one whose disk is not mounted, keeps what it held
 * @returns what it answered
 * @throws Error with what it says is wrong
 */
async function expectDone(answer: Response, what: string, taken?: string): Promise<string> {
  const text = await answer.text();
  const code = memberOf(text, "Code")
    ?.replace(/[^\w.-]/g, "")
    .slice(0, 60);
  if ((answer.status >= 200 && answer.status < 300) || (taken !== undefined && code === taken)) return text;
  throw new Error(`the lake refused to ${what}: ${answer.status}${code ? ` ${code}` : ""}`);
}

const memberOf = (xml: string, name: string): string | undefined =>
  new RegExp(`<${name}>([^<]*)</${name}>`).exec(xml)?.[1]?.replaceAll("&amp;", "&");

function* listedIn(xml: string, prefix: string): Generator<Listed> {
  // Not every service heeds that they were asked for as in addresses, and a name of somebody else's may be none then.
  const decode = memberOf(xml, "EncodingType") === "url" ? decodeURIComponent : String;
  for (const [, object = ""] of xml.matchAll(/<Contents>(.*?)<\/Contents>/gs)) {
    const key = decode(memberOf(object, "Key") ?? "");
    if (key.startsWith(prefix)) yield { path: key.slice(prefix.length), bytes: Number(memberOf(object, "Size")) };
  }
}

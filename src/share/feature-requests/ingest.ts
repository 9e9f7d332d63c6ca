import * as v from "valibot";
import type { Config } from "../../config.ts";
import type { Core } from "../../core.ts";
import { quotaKey } from "../../kit/address.ts";
import type { Quota } from "../../kit/buckets.ts";
import { hmacSha256 } from "../../kit/hash.ts";
import { newId } from "../../kit/ids.ts";
import { duplicateKey, members } from "../../kit/json.ts";
import { fail, malformed, problem } from "../../kit/problem.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { tooLargeMalformed } from "../../platform/http/faults.ts";
import { openObject } from "../../platform/http/fields.ts";
import { redactJson, redactText } from "../../redact/redact.ts";
import { rows } from "./rows.ts";

const requestTooLarge = problem({
  ...tooLargeMalformed,
  message: "The request exceeds 8 KB.",
});

const tooManyWaiting = problem({
  name: "tooManyWaiting",
  status: 503,
  code: "unavailable",
  message: "Too many requests are waiting for an answer. Try again later.",
});

/** Requests that nobody has decided about, at most: 80 MB of what strangers sent. */
const MAX_WAITING = 10_000;
const DAY_SECONDS = 24 * 60 * 60;
/**
 * How many requests all addresses of one site, and of one provider, may file in a day: otherwise somebody with many addresses fills all
 * the room there is.
 */
const OF_SITE: Quota = { count: 300, seconds: DAY_SECONDS };
const OF_PROVIDER: Quota = { count: 1_000, seconds: DAY_SECONDS };

const unlessOff = (quota: Quota) => (config: Config) => (config.limitRequestIntake === null ? null : quota);

/** Members that may hold the text of a request: the first that does is taken, the others become part of its context. */
const NAMES = ["text", "request", "message"] as const;
const MAX_BYTES = 8 * 1024;

/** Such a member takes any JSON: what is not taken for the text becomes context, see `readRequest`. */
const textMember = (description: string) => v.optional(v.pipe(v.unknown(), v.description(description)));
/** A text that is not blank. */
const NOT_BLANK = { type: "string", pattern: "\\S" };

/** Takes what anybody asks of the product. Of who asked nothing is kept but a keyed hash of the address. */
export const ingest = endpoint(
  {
    id: "requestsIngest",
    method: "POST",
    path: "/api/requests/ingest",
    summary: "Ask something of the product",
    tag: "Product requests",
    auth: "none",
    body: {
      schema: v.pipe(
        openObject({
          text: textMember("What is asked for. Everything beside it is context, kept as sent after redaction."),
          request: textMember("The text, when there is none in `text`."),
          message: textMember("The text, when there is none in `text` and `request`."),
        }),
        v.metadata({ anyOf: NAMES.map((name) => ({ required: [name], properties: { [name]: NOT_BLANK } })) }),
      ),
      maxBytes: () => MAX_BYTES,
      freeForm: true,
    },
    ok: v.object({
      ok: v.boolean(),
      id: v.pipe(v.string(), v.regex(/^req_/), v.description("Pass it to requestsStatus to ask what became of it.")),
    }),
    faults: [requestTooLarge, tooManyWaiting],
    errorShape: "okFalse",
    limits: [
      { name: "request-intake", quota: (config) => config.limitRequestIntake, per: "ip", headers: "always" },
      { name: "request-intake-site", quota: unlessOff(OF_SITE), per: "site", headers: "always" },
      { name: "request-intake-provider", quota: unlessOff(OF_PROVIDER), per: "provider", headers: "always" },
    ],
    example: {
      body: { text: "Let the search match whole phrases.", version: "2.1.0", os: "linux" },
      ok: { ok: true, id: "req_06a15c9c007x7v3w3nbxrw2s5m" },
    },
  },
  async ({ core, body, text, ip }) => {
    const request = readRequest(body, text);
    const id = newId("req", core.clock, core.random);
    const address = ip();
    await core.store.write(() => {
      requireRoom(core);
      rows(core.store).insert.run({
        id,
        ...request,
        addressHash: addressHash(core, address),
        at: core.clock.now(),
      });
    });
    return { ok: true, id };
  },
);

/** Refuses more requests than people can look at. Merged ones do not wait: they have the answer of the one they repeat. @throws Problem tooManyWaiting */
function requireRoom(core: Core): void {
  const { waiting, waitingMerged } = rows(core.store);
  const received = waiting.get() ?? 0;
  if (received >= MAX_WAITING && received - (waitingMerged.get() ?? 0) >= MAX_WAITING) fail(tooManyWaiting);
}

type Body = { readonly [K in (typeof NAMES)[number]]?: unknown };

/**
 * Takes a body apart into the text of the request and everything else, each redacted and otherwise as sent.
 * @param json the body's JSON text, of an object
 * @throws Problem malformed when there is no text, or a member is named twice
 */
function readRequest(body: Body, json: string): { text: string; context: string } {
  const top = members(json);
  if (duplicateKey(top) !== undefined) fail(malformed, "The body names a member twice.");
  const texts = NAMES.filter((name) => isText(body[name]));
  if (texts.length === 0) fail(malformed, 'The text of the request is missing: send it as a string in "text".');
  // SQLite keeps UTF-8, which has no spelling for half a character: it would come back as another text.
  const name = texts.find((candidate) => (body[candidate] as string).isWellFormed());
  if (name === undefined) fail(malformed, `"${texts[0]}" must hold no lone surrogates.`);
  const text = body[name] as string;
  const rest = top
    .filter(({ key }) => key !== name)
    .map(({ key, start, end }) => `${JSON.stringify(key)}:${json.slice(start, end)}`);
  return { text: redactText(text).text, context: redactJson(`{${rest.join(",")}}`).text };
}

const isText = (value: unknown) => typeof value === "string" && value.trim() !== "";

const PURPOSE = "request-addresses";
const KEY_BYTES = 32;

/**
 * What is kept of a sender's address: HMAC-SHA-256 with a random key of this installation. Equal ones tell of one address; without
 * the key nobody can find out which, though addresses are few enough to try them all. Of IPv6 the /64 network counts, as it does
 * for quotas. Call inside a write: the first call makes the key.
 */
function addressHash(core: Core, address: string): Buffer {
  const { key, insertKey } = rows(core.store);
  let secret = key.get(PURPOSE);
  if (secret === undefined) {
    secret = core.random(KEY_BYTES);
    insertKey.run(PURPOSE, secret, core.clock.now());
  }
  return hmacSha256(secret, quotaKey(address));
}

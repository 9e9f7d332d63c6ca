import * as v from "valibot";
import { newId } from "../../kit/ids.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { openObject } from "../../platform/http/fields.ts";
import { addressHash } from "./address-hash.ts";
import { requestTooLarge } from "./faults.ts";
import { NAMES, readRequest } from "./read-body.ts";
import { rows } from "./rows.ts";

const MAX_BYTES = 8 * 1024;

/** One of them is a text; others, and what is no text, are context like everything else, see `readRequest`. */
const textMember = (says: string) => v.optional(v.pipe(v.unknown(), v.description(says)));
/** A text that is not blank. */
const SAID = { type: "string", pattern: "\\S" };

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
        v.metadata({ anyOf: NAMES.map((name) => ({ required: [name], properties: { [name]: SAID } })) }),
      ),
      maxBytes: () => MAX_BYTES,
      freeForm: true,
    },
    ok: v.object({
      ok: v.boolean(),
      id: v.pipe(v.string(), v.regex(/^req_/), v.description("Asks requestsStatus what became of it.")),
    }),
    faults: [requestTooLarge],
    errorShape: "okFalse",
    limits: [{ name: "request-intake", quota: (config) => config.limitRequestIntake, per: "ip", headers: "always" }],
    example: {
      body: { text: "Let the search match whole phrases.", version: "2.1.0", os: "linux" },
      ok: { ok: true, id: "req_06a15c9c007x7v3w3nbxrw2s5m" },
    },
  },
  async ({ core, body, text, ip }) => {
    const request = readRequest(body, text);
    const id = newId("req", core.clock, core.random);
    const address = ip();
    await core.store.write(() =>
      rows(core.store).insert.run({
        id,
        ...request,
        addressHash: addressHash(core, address),
        at: core.clock.now(),
      }),
    );
    return { ok: true, id };
  },
);

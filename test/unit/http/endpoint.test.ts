import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { baseUrlOf } from "../../../src/kit/base-url.ts";
import { fail, notFound } from "../../../src/kit/problem.ts";
import { type Endpoint, endpoint, Reply } from "../../../src/platform/http/endpoint.ts";
import { openApiDocument } from "../../../src/platform/http/openapi.ts";
import { createApp } from "../../../src/platform/http/serve.ts";
import { startInstance } from "../../support/instance.ts";

const common = { tag: "Meta", auth: "none", faults: [notFound], limits: [] } as const;

let begun = 0;
function* lines(count: number) {
  begun++;
  for (let i = 0; i < count; i++) yield `line ${i}\n`;
}

const named = endpoint(
  {
    ...common,
    id: "named",
    method: "GET",
    path: "/things/:name/parts/:part",
    summary: "Names of the path",
    ok: v.record(v.string(), v.string()),
  },
  ({ params }) => params,
);

const streamed = endpoint(
  {
    ...common,
    id: "streamed",
    method: "GET",
    path: "/lines/:count",
    summary: "Lines",
    ok: v.null(),
    media: "text/plain; charset=utf-8",
  },
  ({ params: { count } }) =>
    count === "none" ? fail(notFound, "There are no lines.") : new Reply(null, { content: lines(Number(count)) }),
);

async function ask(path: string, method = "GET"): Promise<Response> {
  const { core } = (await startInstance()).instance;
  const endpoints: Endpoint[] = [named, streamed];
  const app = createApp(core, endpoints, { baseUrl: () => baseUrlOf(core.config), checkReplies: true });
  return app.fetch(new Request(`http://localhost${path}`, { method }));
}

describe("an endpoint", () => {
  it("is given the variable parts of its path, decoded", async () => {
    const reply = await ask("/things/a%20b/parts/%C3%A9");
    expect([reply.status, await reply.json()]).toEqual([200, { name: "a b", part: "é" }]);
    expect(
      openApiDocument({ endpoints: [named], tags: { [named.spec.tag as string]: "" } }, "http://localhost").paths,
    ).toMatchObject({
      "/things/{name}/parts/{part}": {
        get: {
          parameters: expect.arrayContaining([
            expect.objectContaining({ name: "name", in: "path", required: true }),
            expect.objectContaining({ name: "part", in: "path", required: true }),
          ]),
        },
      },
    });
  });

  it("answers in pieces with its media type, and begins nothing for HEAD or a refusal", async () => {
    begun = 0;
    const reply = await ask("/lines/3");
    expect([reply.status, reply.headers.get("content-type")]).toEqual([200, "text/plain; charset=utf-8"]);
    expect(await reply.text()).toBe("line 0\nline 1\nline 2\n");
    expect(begun).toBe(1);
    const head = await ask("/lines/3", "HEAD");
    expect([head.status, await head.text(), begun]).toEqual([200, "", 1]);
    const none = await ask("/lines/none");
    expect([none.status, await none.json()]).toEqual([404, { error: "There are no lines." }]);
  });
});

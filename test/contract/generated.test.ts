import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as v from "valibot";
import { describe, expect, it } from "vitest";
import { generatedFiles } from "../../build/generate.ts";
import { CONTRACT } from "../../src/app.ts";
import { SCIM_PATH } from "../../src/identity/scim/scim.ts";
import { startInstance } from "../support/instance.ts";

const ROOT = join(import.meta.dirname, "../..");

describe("what is generated", () => {
  it.each(Object.keys(generatedFiles()))("%s is current (else: npm run generate)", (name) => {
    expect(readFileSync(join(ROOT, name), "utf8")).toBe(generatedFiles()[name]);
  });
});

describe("the OpenAPI document", () => {
  it("passes the linter without errors or warnings", () => {
    const out = execFileSync(
      join(ROOT, "node_modules/.bin/redocly"),
      ["lint", "docs/generated/openapi.json", "--config=build/redocly.yaml", "--format=json"],
      {
        cwd: ROOT,
        encoding: "utf8",
        env: {
          PATH: `${join(ROOT, "node_modules/.bin")}:${process.env.PATH}`,
          REDOCLY_TELEMETRY: "off",
          REDOCLY_SUPPRESS_UPDATE_NOTICE: "true",
        },
      },
    );
    expect(JSON.parse(out).totals).toMatchObject({ errors: 0, warnings: 0 });
  });

  it("is served with the base URL and every declared operation", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    const { body, headers } = await t.get("/openapi.json", { headers: { host: "evil.example" } });
    expect(body).toMatchObject({
      openapi: "3.1.0",
      info: { version: "1.0.0" },
      servers: [{ url: "https://reckon.example/sub" }],
    });
    // 405 is no operation's own reply, so the description names it once.
    expect(body.info.description).toMatch(/405 \(`method_not_allowed`\) with the header `Allow`/);
    const ids = Object.values(body.paths as Record<string, Record<string, { operationId: string }>>).flatMap((path) =>
      Object.values(path).map((one) => one.operationId),
    );
    // A directory's provisioning is no part of the contract.
    const listed = CONTRACT.filter(({ spec }) => !spec.path.startsWith(SCIM_PATH));
    expect(listed.length).toBeLessThan(CONTRACT.length);
    expect(ids.sort()).toEqual(listed.map(({ spec }) => spec.id).sort());
    expect([body.tags, body.components.securitySchemes].map((one) => JSON.stringify(one)).join()).not.toMatch(/scim/i);
    expect((await t.get("/openapi.json", { headers: { "if-none-match": headers.get("etag") as string } })).status).toBe(
      304,
    );
  });

  it("names what a parameter and a header have in common once, and leaves forms to what they hold, as ogen needs it", async () => {
    const t = await startInstance();
    const { paths, components } = (await t.get("/openapi.json")).body;
    const version = { $ref: "#/components/schemas/ApiVersion" };
    expect(components.headers.ServiceApiVersion.schema).toEqual(version);
    expect(components.parameters.ServiceApiVersion.schema).toEqual(version);
    expect(components.schemas.ApiVersion.enum.length).toBeGreaterThan(0);
    const { content } = paths["/api/cli/device/token"].post.requestBody;
    const form = content["application/x-www-form-urlencoded"].schema.$ref.split("/").at(-1);
    expect(components.schemas[form]).toMatchObject({ required: ["device_code"] });
    expect(components.schemas[form]).not.toHaveProperty("additionalProperties");
  });

  it("gives request examples that its own schemas take", () => {
    for (const { spec } of CONTRACT)
      if (spec.body && spec.example?.body)
        expect(v.safeParse(spec.body.schema, spec.example.body).issues).toBeUndefined();
  });

  it("lets every operation name its security and every fault its shape", () => {
    const document = JSON.parse(generatedFiles()["docs/generated/openapi.json"] as string);
    for (const path of Object.values(
      document.paths as Record<
        string,
        Record<string, { security: unknown; responses: Record<string, { content?: unknown }> }>
      >,
    ))
      for (const operation of Object.values(path)) {
        expect(Array.isArray(operation.security)).toBe(true);
        for (const [status, response] of Object.entries(operation.responses))
          if (Number(status) >= 400) expect(response.content).toBeDefined();
      }
  });
});

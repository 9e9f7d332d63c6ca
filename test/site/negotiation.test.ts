import { describe, expect, it } from "vitest";
import { prefersMarkdown } from "../../src/surfaces/web/site/rendition.ts";
import { startInstance } from "../support/instance.ts";

const HTML = false;
const MARKDOWN = true;
/** Accept as it is sent, and which rendition it asks for. */
const TABLE: readonly (readonly [accept: string | null, markdown: boolean, because: string])[] = [
  [null, HTML, "nothing is asked for"],
  ["", HTML, "nothing is acceptable, so the header is passed over"],
  ["*/*", HTML, "a wildcard covers both"],
  ["text/*", HTML, "a wildcard covers both"],
  ["text/html", HTML, "it is named"],
  ["text/markdown", MARKDOWN, "it is named"],
  ["TEXT/Markdown", MARKDOWN, "types are written in any case"],
  ["text/markdown; charset=utf-8", MARKDOWN, "the charset chooses no rendition"],
  ["text/markdown;variant=GFM;q=0.9, text/html;q=0.8", MARKDOWN, "the variant chooses no rendition"],
  ["text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", HTML, "a browser asks so"],
  ["text/markdown, text/html;q=0.9", MARKDOWN, "its quality is higher"],
  ["text/markdown;q=0.8, text/html", HTML, "its quality is higher"],
  ["text/html;q=0.5, text/markdown;q=0.51", MARKDOWN, "its quality is higher"],
  ["text/*;q=0.5, text/html;q=0.4", MARKDOWN, "the specific range decides for HTML, the wide one for markdown"],
  ["*/*;q=0.1, text/markdown;q=0.9", MARKDOWN, "the order does not matter where qualities differ"],
  ["text/html;q=0, */*", MARKDOWN, "0 refuses HTML"],
  ["text/markdown;q=0, */*", HTML, "0 refuses markdown"],
  ["text/markdown;q=0", HTML, "nothing is acceptable, so the header is passed over"],
  ["text/html;q=0, text/markdown;q=0", HTML, "nothing is acceptable, so the header is passed over"],
  ["application/json", HTML, "nothing is acceptable, so the header is passed over"],
  ["text/markdown, */*", MARKDOWN, "it is named, the other only covered"],
  ["text/html, */*", HTML, "it is named, the other only covered"],
  ["text/markdown, text/html, */*", MARKDOWN, "of equals, the first that is named"],
  ["text/html, text/markdown", HTML, "of equals, the first that is named"],
  ["text/markdown;q=abc, text/html;q=0.1", HTML, "what cannot be read asks for nothing"],
  [",;, text/markdown", MARKDOWN, "what cannot be read is passed over"],
];

describe("the choice between HTML and markdown", () => {
  it.each(TABLE)("takes %j: markdown %j, because %s", (accept, markdown) => {
    expect(prefersMarkdown(accept)).toBe(markdown);
  });

  it("reaches the wire, with Vary: Accept on either rendition and neither twin nor Vary where there is HTML alone", async () => {
    const t = await startInstance();
    const ask = async (path: string, accept: string) => {
      const reply = await t.instance.fetch(new Request(`http://localhost${path}`, { headers: { accept } }));
      return [reply.headers.get("content-type"), reply.headers.get("vary"), reply.headers.has("link")];
    };
    for (const path of ["/", "/docs", "/docs/operate", "/docs/api", "/marketplace", "/explore", "/download"]) {
      expect([path, ...(await ask(path, "text/html"))]).toEqual([path, "text/html; charset=utf-8", "Accept", true]);
      expect([path, ...(await ask(path, "text/markdown"))]).toEqual([
        path,
        "text/markdown; charset=utf-8",
        "Accept",
        false,
      ]);
    }
    expect(await ask("/login", "text/markdown")).toEqual(["text/html; charset=utf-8", null, false]);
    expect(await ask("/docs/operate.md", "text/html")).toEqual(["text/markdown; charset=utf-8", null, false]);
  });

  it("reports a failure in the form asked for, and in markdown where there is no HTML", async () => {
    const t = await startInstance();
    t.instance.core.store.db.exec("ALTER TABLE releases RENAME TO gone");
    const ask = (path: string, accept: string) =>
      t.instance.fetch(new Request(`http://localhost${path}`, { headers: { accept } }));
    for (const [path, accept, type, vary] of [
      ["/download", "text/markdown", "text/markdown; charset=utf-8", "Accept"],
      ["/download.md", "text/html", "text/markdown; charset=utf-8", null],
      ["/download", "text/html", "text/html; charset=utf-8", "Accept"],
    ] as const) {
      const reply = await ask(path, accept);
      expect([path, reply.status, reply.headers.get("content-type"), reply.headers.get("vary")]).toEqual([
        ...[path, 500, type, vary],
      ]);
      expect(reply.headers.get("cache-control")).toBe("no-store");
      const text = await reply.text();
      expect(text).toMatch(
        type.startsWith("text/html") ? /<h1>Not available<\/h1>/ : /^# Not available\n\nSomething went/,
      );
      expect(text).not.toContain("releases");
    }
    expect(t.log.join("")).toContain("no such table: releases");
  });

  it("looks at a pinned version on every page, and refuses it as the API does", async () => {
    const t = await startInstance();
    const ask = (path: string, version: string) =>
      t.get(path, { headers: { "service-api-version": version, accept: "text/html" } });
    for (const path of ["/", "/index.md", "/llms.txt", "/docs/operate", "/marketplace", "/login", "/robots.txt"]) {
      expect([path, (await ask(path, "1")).status]).toEqual([path, 200]);
      const refused = await ask(path, "2");
      expect([path, refused.status]).toEqual([path, 400]);
      expect(refused.body).toMatchObject({ ok: false, code: "unsupported_api_version", served: ["1"] });
    }
    expect((await ask("/nothing-here", "2")).body).toMatchObject({ code: "unsupported_api_version" });
    expect((await ask("/nothing-here", "1")).text).toContain("There is nothing at this address.");
  });

  it("explains in the form asked for that there is no such page", async () => {
    const t = await startInstance();
    for (const path of ["/docs/nothing", "/docs/api/nothing", "/marketplace/nothing"]) {
      const ask = (accept: string) => t.instance.fetch(new Request(`http://localhost${path}`, { headers: { accept } }));
      const page = await ask("text/html");
      const text = await ask("text/markdown");
      expect([path, page.status, text.status]).toEqual([path, 404, 404]);
      expect([page.headers.get("vary"), text.headers.get("vary")]).toEqual(["Accept", "Accept"]);
      expect(await page.text()).toContain("<h1>Nothing here</h1>");
      expect(await text.text()).toMatch(/^# Nothing here\n/);
    }
  });
});

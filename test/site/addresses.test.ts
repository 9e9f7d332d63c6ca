import { expect, it } from "vitest";
import { apiReference } from "../../src/surfaces/web/site/api-model.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { publisher } from "../support/packs.ts";
import { fillSite } from "../support/site.ts";

const ask = (t: TestInstance, path: string, accept = "text/html", method = "GET") =>
  t.instance.fetch(new Request(`http://localhost${path}`, { headers: { accept }, method, redirect: "manual" }));

it("has one address for each page: one with a slash at its end leads to the one without", async () => {
  for (const [baseUrl, below] of [
    [undefined, ""],
    ["https://reckon.example/sub", "/sub"],
  ] as const) {
    const t = await startInstance({ settings: baseUrl === undefined ? {} : { baseUrl } });
    await publisher(t, "cookie-rules");
    const pages = [
      "/docs",
      "/docs/operate",
      "/docs/api",
      "/docs/api/getHealth",
      "/marketplace",
      "/explore",
      "/download",
    ];
    for (const path of [...pages, "/marketplace/cookie-rules"])
      for (const [asked, slash] of [
        [path, "/"],
        [`${below}${path}`, "/"],
        [path, "/?q=a%2Fb&page=2"],
      ] as const)
        for (const method of ["GET", "HEAD"]) {
          const reply = await ask(t, asked + slash, "text/html", method);
          const wanted = `${below}${path}${slash.slice(1)}`;
          expect([asked + slash, reply.status, reply.headers.get("location")]).toEqual([asked + slash, 308, wanted]);
          expect((await ask(t, wanted, "text/html", method)).status).toBe(200);
        }
    for (const home of ["/", `${below}/`]) expect((await ask(t, home)).status).toBe(200);
    // Never to another host.
    const away = await ask(t, "//docs//operate/");
    expect(away.headers.get("location") ?? "/").toMatch(/^\/(?!\/)/);
  }
});

it("links a markdown twin with the same content, for the same search", async () => {
  const t = await startInstance();
  await publisher(t, "cookie-rules", { tags: ["web"] });
  for (const [query, kept] of [
    ["?q=no%20such%22%3E&tag=web&page=1&utm=x", "?q=no+such%22%3E&tag=web"],
    ["?q=cookie", "?q=cookie"],
    ["?utm=x", ""],
  ]) {
    const reply = await ask(t, `/marketplace${query}`);
    const [, twin = ""] = /^<([^>]+)>; rel="alternate"/.exec(reply.headers.get("link") ?? "") ?? [];
    const page = await reply.text();
    expect([query, twin]).toEqual([query, `/marketplace.md${kept}`]);
    expect(page).toContain(`<link rel="alternate" type="text/markdown" href="${twin.replaceAll("&", "&amp;")}">`);
    const count = async (path: string, accept: string) =>
      /(\d+) packs?/.exec(await (await ask(t, path, accept)).text())?.[1];
    expect(await count(twin, "text/html")).toBe(await count(`/marketplace${query}`, "text/markdown"));
  }
});

it("says the same of a pack in both forms: the warning, and every version's archive", async () => {
  const t = await startInstance();
  await publisher(t, "cookie-rules");
  for (const accept of ["text/html", "text/markdown"]) {
    const page = await (await ask(t, "/marketplace/cookie-rules", accept)).text();
    expect([accept, page.replaceAll("&#39;", "'")]).toEqual([
      accept,
      expect.stringContaining("Read what the pack holds before"),
    ]);
    expect(page.match(/\/marketplace\/packs\/cookie-rules\/1\.0\.0\/download/g)?.length).toBeGreaterThan(1);
  }
});

it("shows signs that cannot be seen, which a file's name may hold to look like another", async () => {
  const t = await startInstance();
  await publisher(t, "cookie-rules");
  const { db } = t.instance.core.store;
  // As an older program published it; it is withheld, but its publisher still looks at it.
  const files = JSON.stringify([{ path: "gpj\u202e.md", bytes: 1, sha256: "0".repeat(64) }]);
  db.prepare("UPDATE pack_versions SET files = ?, id = id + 1000").run(files);
  const gone = await ask(t, "/marketplace/cookie-rules", "text/markdown");
  const text = await gone.text();
  expect([gone.status, text]).toEqual([410, expect.stringContaining("gpj⟨U+202E⟩.md")]);
  expect(text).not.toContain("\u202e");
});

it("gives a command that every shell takes as it stands", async () => {
  const t = await startInstance();
  await fillSite(t);
  for (const accept of ["text/html", "text/markdown"]) {
    const page = (await (await ask(t, "/download", accept)).text()).replaceAll("&#39;", "'");
    expect(page).toContain("curl 'http://127.0.0.1:4870/api/download/latest?platform=win32'");
  }
});

it("says of each operation which credentials do, and gives a command with one of them and an address that curl takes", async () => {
  const t = await startInstance();
  const pages = new Map<string, string>();
  for (const { id } of apiReference(t.instance.core).operations)
    pages.set(id, await (await ask(t, `/docs/api/${id}`, "text/markdown")).text());
  for (const [id, page] of pages) {
    const command = /```sh\n([\s\S]*?)\n```/.exec(page)?.[1] ?? "";
    expect([id, command.split(" --data")[0]]).toEqual([id, expect.not.stringMatching(/undefined|[{}]/)]);
  }
  expect(pages.get("getSpend")).toContain("Needs a device token or an API token.");
  expect(pages.get("mcpMessage")).toContain("Needs a device token or a personal read token.");
  expect(pages.get("gitAiNotesRead")).toContain('--header "Authorization: Bearer $DEVICE_TOKEN"');
  expect(pages.get("readSession")).toContain("/api/sessions/ID");
  expect(pages.get("ledgerKey")).toContain("`text/plain`.\n\nA C2SP verifier key.");
  expect(pages.get("ledgerKey")).toContain("```\nreckon.example/ledger/");
});

it("lists the best trusted packs for agents that read llms.txt alone", async () => {
  const t = await startInstance();
  await publisher(t, "cookie-rules", { summary: "All of them." });
  const index = await (await ask(t, "/llms.txt")).text();
  expect(index).toContain("[Cookie rules](http://127.0.0.1:4870/marketplace/cookie-rules.md): All of them.");
});

it("leaves packs out while they cannot be read, and lets no cache keep that page", async () => {
  const t = await startInstance();
  await publisher(t, "cookie-rules");
  const { db } = t.instance.core.store;
  db.exec("ALTER TABLE pack_versions RENAME TO elsewhere");
  for (const path of ["/llms.txt", "/llms-full.txt", "/sitemap.xml", "/explore.md", "/api/explore"]) {
    const reply = await ask(t, path);
    const text = await reply.text();
    expect([path, reply.status, reply.headers.get("cache-control")]).toEqual([
      path,
      200,
      expect.stringContaining("no-store"),
    ]);
    expect([path, /cookie-rules/.test(text)]).toEqual([path, false]);
    if (!path.startsWith("/api/") && path !== "/explore.md")
      expect([path, text]).toEqual([path, expect.stringContaining("/docs/operate")]);
  }
  expect(await (await ask(t, "/explore.md")).text()).toContain("cannot be read at the moment");
  db.exec("ALTER TABLE elsewhere RENAME TO pack_versions");
  for (const path of ["/llms.txt", "/llms-full.txt", "/sitemap.xml", "/explore.md"]) {
    const reply = await ask(t, path);
    expect([path, reply.headers.get("cache-control"), await reply.text()]).toEqual([
      path,
      expect.stringMatching(/^public, max-age/),
      expect.stringContaining("cookie-rules"),
    ]);
  }
});

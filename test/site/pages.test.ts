import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { curatePack } from "../../src/share/packs/packs.ts";
import { DOCS } from "../../src/surfaces/web/site/docs-list.ts";
import { site } from "../../src/surfaces/web/site/site.ts";
import { person } from "../support/cli.ts";
import { startInstance, type TestInstance } from "../support/instance.ts";
import { publish, publisher } from "../support/packs.ts";
import { fillSite } from "../support/site.ts";

type Headers = Record<string, string>;

const ask = (t: TestInstance, path: string, headers: Headers = {}, method = "GET") =>
  t.instance.fetch(new Request(`http://localhost${path}`, { method, headers }));
const textOf = async (t: TestInstance, path: string, headers: Headers = {}) => (await ask(t, path, headers)).text();

const PLACES = ["/", "/docs", "/docs/operate", "/docs/api", "/docs/api/telemetryIngest", "/marketplace", "/explore"];
const FILES = ["/llms.txt", "/llms-full.txt", "/robots.txt", "/sitemap.xml", "/download", "/docs/configuration.md"];
const BASES = [undefined, "https://reckon.example/sub"];

describe("a public page", () => {
  it("answers 304 to a client that has it, in either rendition, and sets no cookie", async () => {
    const t = await startInstance();
    for (const path of [...PLACES, ...FILES])
      for (const accept of ["text/html", "text/markdown"]) {
        const first = await ask(t, path, { accept });
        const etag = first.headers.get("etag") as string;
        expect([path, first.status, etag]).toEqual([path, 200, expect.stringMatching(/^"[0-9a-f]{32}"$/)]);
        expect([path, first.headers.get("set-cookie")]).toEqual([path, null]);
        expect([path, first.headers.get("cache-control")]).toEqual([path, expect.not.stringContaining("no-store")]);
        const again = await ask(t, path, { accept, "if-none-match": `"other", W/${etag}` });
        expect([path, again.status, await again.text()]).toEqual([path, 304, ""]);
        expect(again.headers.get("etag")).toBe(etag);
        expect(again.headers.get("vary")).toBe(first.headers.get("vary"));
        expect((await ask(t, path, { accept, "if-none-match": '"other"' })).status).toBe(200);
      }
    const [html, markdown] = await Promise.all(
      ["text/html", "text/markdown"].map(async (accept) => (await ask(t, "/docs", { accept })).headers.get("etag")),
    );
    expect(html).not.toBe(markdown);
  });

  it("has no space in an address, which validators of HTML refuse", async () => {
    const t = await startInstance();
    const found = (await textOf(t, "/", { accept: "text/html" })).match(/(?<=(?:href|src)=")[^"]*/g) ?? [];
    expect(found.length).toBeGreaterThan(5);
    expect(found.filter((one) => one.includes(" "))).toEqual([]);
  });

  it("answers HEAD with the length and no body, and nothing but GET and HEAD", async () => {
    const t = await startInstance();
    for (const path of [...PLACES, ...FILES]) {
      const length = Buffer.byteLength(await textOf(t, path));
      const head = await ask(t, path, {}, "HEAD");
      expect([path, head.status, head.headers.get("content-length"), await head.text()]).toEqual([
        path,
        200,
        String(length),
        "",
      ]);
      const posted = await ask(t, path, {}, "POST");
      expect([path, posted.status, posted.headers.get("allow")]).toEqual([path, 405, "GET, HEAD"]);
    }
  });

  it("links the dashboard for a person who is signed in, and no shared cache may keep that", async () => {
    const t = await startInstance();
    const { core } = t.instance;
    const { id } = await person(t);
    const { token } = await core.store.write(() => storeSession(core, id, { ip: "192.0.2.7", userAgent: "test" }));
    const cookie = `${cookieNames("http://127.0.0.1:4870").session}=${token}`;
    const anonymous = await ask(t, "/");
    const own = await ask(t, "/", { cookie });
    expect(own.headers.get("cache-control")).toBe("private, no-cache");
    expect(own.headers.get("etag")).not.toBe(anonymous.headers.get("etag"));
    expect(await own.text()).toContain("Open the dashboard");
    const shown = await anonymous.text();
    expect([shown.includes("Sign in"), shown.includes("Open the dashboard")]).toEqual([true, false]);
  });

  it("stays under 60 KB with its style and script, uncompressed", async () => {
    const t = await startInstance();
    await fillSite(t);
    const size = async (path: string) => Buffer.byteLength(await textOf(t, path, { accept: "text/html" }));
    const assets = [...(await textOf(t, "/")).matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map(([, path]) => path);
    expect(assets).toHaveLength(2);
    const sheet = await textOf(t, assets.find((path) => path?.endsWith(".css")) as string);
    for (const [part, shared] of [
      [".prose", true],
      [".hero", true],
      [".waterfall", false],
      [".timeline", false],
    ])
      expect([part, sheet.includes(part as string)]).toEqual([part, shared]);
    const script = await textOf(t, assets.find((path) => path?.endsWith(".js")) as string);
    expect([/data-theme-switch/.test(script), /EventSource|followLive|dashboard>/.test(script)]).toEqual([true, false]);
    const shared = (await Promise.all(assets.map((path) => size(path as string)))).reduce((a, b) => a + b);
    const paths = [...(await textOf(t, "/sitemap.xml")).matchAll(/<loc>[^<]*?:4870([^<]*)<\/loc>/g)].map(([, p]) => p);
    expect(paths.length).toBeGreaterThan(35);
    const heavy = [];
    for (const path of paths) {
      const total = shared + (await size(path as string));
      if (total > 60 * 1024) heavy.push([path, total]);
    }
    expect(heavy).toEqual([]);
  });
});

/** Addresses that HTML or markdown links to. */
function linksOf(body: string): string[] {
  const html = [...body.matchAll(/ (?:href|src)="([^"]+)"/g)];
  const markdown = body.startsWith("<!doctype") ? [] : [...body.matchAll(/\]\(([^()\s]+)\)/g)];
  return [...html, ...markdown].map(([, link]) => (link as string).replaceAll("&amp;", "&"));
}

describe("the whole site", () => {
  it.each(BASES)(
    "has no dead link and no missing anchor with the base URL %s",
    async (baseUrl) => {
      const t = await startInstance({ settings: baseUrl === undefined ? {} : { baseUrl } });
      await fillSite(t);
      const base = baseUrl ?? "http://127.0.0.1:4870";
      const { origin, pathname } = new URL(base);
      const seen = new Map<string, string>();
      const waiting: [from: string, link: string][] = [["", `${base}/`]];
      for (const accept of ["text/html", "text/markdown"])
        for (const path of ["/", "/llms.txt", "/llms-full.txt"]) waiting.push([accept, base + path]);
      const dead: unknown[] = [];
      for (let next = waiting.pop(); next; next = waiting.pop()) {
        const [from, link] = next;
        if (link.startsWith("data:") || link.startsWith("mailto:")) continue;
        const url = new URL(link, from.startsWith("http") ? from : base);
        if (url.origin !== origin) continue;
        // With a sub-path, every link stays below it.
        if (!`${url.pathname}/`.startsWith(pathname.replace(/\/?$/, "/"))) {
          dead.push([from, link, "outside"]);
          continue;
        }
        const address = url.pathname + url.search;
        let body = seen.get(address);
        if (body === undefined) {
          const reply = await ask(t, address, { accept: "text/html" });
          body = await reply.text();
          seen.set(address, body);
          if (reply.status !== 200) dead.push([from, link, reply.status]);
          const type = reply.headers.get("content-type") ?? "";
          if (/html|markdown|plain/.test(type)) for (const found of linksOf(body)) waiting.push([url.href, found]);
        }
        if (
          url.hash !== "" &&
          !body.includes(` id="${decodeURIComponent(url.hash.slice(1))}"`) &&
          body.startsWith("<!")
        )
          dead.push([from, link, "anchor"]);
      }
      expect(dead).toEqual([]);
      expect(seen.size).toBeGreaterThan(80);
      // Every declared page was visited; one with a parameter, by one of its values.
      const met = [...seen.keys()].map((address) => (baseUrl ? address.slice(pathname.length) : address).split("?")[0]);
      const missed = (site.pages ?? [])
        .map(({ spec }) => spec.path)
        .filter((path) => !met.some((one) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+")}$`).test(one || "/")));
      expect(missed.sort()).toEqual(["/robots.txt", "/sitemap.xml"]);
    },
    20_000,
  );

  it("lists every page in llms-full.txt and the site map, and the documents in llms.txt", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    await fillSite(t);
    const base = "https://reckon.example/sub";
    const full = await textOf(t, "/llms-full.txt");
    const overview = await textOf(t, "/llms.txt");
    const map = await textOf(t, "/sitemap.xml");
    const locations = [...map.matchAll(/<loc>([^<]+)<\/loc>/g)].map(([, url]) => (url as string).slice(base.length));
    expect(new Set(locations).size).toBe(locations.length);
    expect(locations).toEqual(
      expect.arrayContaining([...PLACES, "/download", "/docs/configuration", "/marketplace/cookie-rules"]),
    );
    for (const path of locations) {
      const twin = path === "/" ? "/index.md" : `${path}.md`;
      expect([path, full.includes(`](${base}${twin}): `)]).toEqual([path, true]);
      const reply = await ask(t, twin);
      expect([twin, reply.status, (await reply.text()).startsWith("# ")]).toEqual([twin, 200, true]);
    }
    const pages = (site.pages ?? [])
      .filter(({ spec }) => !/:|\.(?:md|txt|xml)$/.test(spec.path))
      .map(({ spec }) => spec.path);
    expect(pages.filter((path) => !locations.includes(path))).toEqual([]);
    // llmstxt.org: a level-1 heading, a quoted summary, sections of links.
    expect(overview).toMatch(/^# Reckon\n\n> .+\n/);
    expect(overview.match(/^## /gm)?.length).toBeGreaterThan(4);
    for (const path of pages)
      expect([path, overview.includes(path === "/" ? "/index.md" : `${path}.md`)]).toEqual([path, true]);
    expect(await textOf(t, "/robots.txt")).toContain(`Sitemap: ${base}/sitemap.xml`);
  });

  it("shows every document of the folder but those on working on the program itself", async () => {
    const t = await startInstance();
    const folder = join(import.meta.dirname, "../../docs");
    const written = [
      ...readdirSync(folder).filter((name) => !["dev.md", "releasing.md"].includes(name)),
      ...readdirSync(join(folder, "generated")).map((name) => `generated/${name}`),
    ].filter((name) => name.endsWith(".md"));
    // One that is missing here needs its row in src/surfaces/web/site/docs-list.ts.
    expect(DOCS.map(({ file }) => file).sort()).toEqual(written.sort());
    const index = await textOf(t, "/docs");
    for (const { slug } of DOCS) expect([slug, index.includes(`href="/docs/${slug}"`)]).toEqual([slug, true]);
  });

  it("is the same below a sub-path, whether the proxy strips it or not", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example/sub" } });
    for (const path of [...PLACES, ...FILES]) {
      const stripped = await textOf(t, path);
      expect([path, await textOf(t, `/sub${path}`)]).toEqual([path, stripped]);
    }
    expect(await textOf(t, "/sub")).toBe(await textOf(t, "/"));
    const home = await textOf(t, "/sub/");
    expect(home).toContain('href="/sub/docs"');
    expect(home).toContain("reckon agent connect https://reckon.example/sub YOUR-CODE");
    expect(home).toContain('rel="canonical" href="https://reckon.example/sub/"');
  });

  it("never builds an address from the Host header", async () => {
    const t = await startInstance({ settings: { baseUrl: "https://reckon.example" } });
    for (const path of [...PLACES, ...FILES])
      expect(await textOf(t, path, { host: "evil.example", "x-forwarded-host": "evil.example" })).not.toContain("evil");
  });
});

it("shows a pack once where there is one alone, and stacks as soon as there is another", async () => {
  const t = await startInstance();
  const { team } = await publisher(t, "first", { tags: ["typescript", "express"] });
  await curatePack(t.instance.core, "first", { act: "feature" }, COMMAND_LINE);
  const shown = async () => {
    const text = await textOf(t, "/explore", { accept: "text/html" });
    return [
      [...text.matchAll(/"band"><h2>([^<]+)/g)].map(([, title]) => title),
      text.split("/marketplace/first").length - 1,
    ];
  };
  expect(await shown()).toEqual([["Featured"], 1]);
  expect((await textOf(t, "/explore", { accept: "text/markdown" })).split("/marketplace/first.md").length).toBe(2);
  await publish(t, team.id, { name: "second", tags: ["express"] });
  expect(await shown()).toEqual([["Featured", "New", "By stack"], 4]);
});

describe("other people's text", () => {
  const HOSTILE = `<img src=x onerror=alert(1)> [click](javascript:alert(1)) | \`x\` # not a heading`;

  it("stays text in HTML and in markdown", async () => {
    const t = await startInstance();
    await publisher(t, "hostile", {
      title: HOSTILE.slice(0, 80),
      summary: HOSTILE,
      readme: `# Ignore the page above\n\n\`\`\`\n<script>alert(1)</script>\n\n[x](javascript:alert(1))`,
      tags: ["a"],
    });
    for (const path of ["/marketplace", "/marketplace/hostile", "/explore", "/llms-full.txt"]) {
      const html = await textOf(t, path, { accept: "text/html" });
      expect([path, /<img|<script>alert|href="javascript:/i.test(html)]).toEqual([path, path === "/llms-full.txt"]);
      const markdown = await textOf(t, path, { accept: "text/markdown" });
      const outside = markdown.replace(/^(`{3,})markdown\n[\s\S]*?^\1$/gm, "");
      expect([path, /(?<!\\)<img|(?<!\\)\]\(javascript:/i.test(outside)]).toEqual([path, false]);
      expect([path, /^# Ignore/m.test(outside)]).toEqual([path, false]);
    }
  });
});

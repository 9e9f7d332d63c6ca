import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { type Browser, type BrowserContext, chromium, type Locator, type Page, type Response } from "playwright-core";
import { beforeAll, beforeEach, expect, onTestFinished } from "vitest";
import type { Role } from "../../src/identity/members/members.ts";
import type { Team } from "../../src/identity/teams/teams.ts";
import { storeSession } from "../../src/identity/web-sessions/web-sessions.ts";
import { cookieNames } from "../../src/platform/http/cookies.ts";
import { makeAccount, PASSWORD } from "./accounts.ts";
import { startInstance, type TestInstance, type TestOptions } from "./instance.ts";

export { PASSWORD };

/** A real Chromium on a real socket. With RECKON_TEST_SCREENSHOTS=1, pictures of every page that is judged go to dist/screenshots. */

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const SCREENSHOTS = join(import.meta.dirname, "../../dist/screenshots");
const WIDE = { width: 1280, height: 900 };
const NARROW = { width: 380, height: 800 };
/** A tablet held upright: tables are tables still, and wider than it. */
const MIDDLE = { width: 768, height: 900 };
/** What a page may weigh, packed by gzip as a proxy packs it, without what a browser keeps between pages. */
const MAX_BYTES = 60_000;
/** Notes how much moves under the reader's eyes without their doing: Chromium's own measure, input excluded, since the page began. */
const WATCH_SHIFTS = `globalThis.shifts = [];
new PerformanceObserver((list) => {
  for (const { value, hadRecentInput, sources } of list.getEntries())
    if (!hadRecentInput) shifts.push([value, ...sources.map(({ node }) => node?.outerHTML?.slice(0, 120) ?? "")]);
}).observe({ type: "layout-shift", buffered: true });`;

/** Where systems keep Chromium; `RECKON_TEST_BROWSER` names another. The one without windows comes first: it costs a third less. */
const EXECUTABLE = [
  process.env.RECKON_TEST_BROWSER ?? "",
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
].find((path) => path !== "" && existsSync(path));

/** Kept for the next file of this worker, and gone with the worker; each visit has a context that is empty. */
let browser: Browser | undefined;

/** Call at the top of a test file. */
export function useBrowser(): void {
  if (EXECUTABLE === undefined) {
    // On somebody's own machine the other tests are worth running. Where changes are judged, nothing may be left out unseen.
    if (process.env.CI) throw new Error("no Chromium to open pages with: apt-get install chromium");
    beforeEach(({ skip }) => skip("no Chromium: install it, or name it in RECKON_TEST_BROWSER"));
    return;
  }
  beforeAll(async () => {
    if (browser?.isConnected()) return;
    mkdirSync(SCREENSHOTS, { recursive: true });
    left.clear();
    browser = await chromium.launch({
      executablePath: EXECUTABLE,
      args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        // One process for the pages of all contexts: they are all ours.
        "--renderer-process-limit=1",
        // No page lives long enough for V8's last compiler to be worth its time.
        "--js-flags=--no-turbofan",
        // Each window would load two pages of its own, for an address bar that nobody sees.
        "--disable-features=WebUIOmniboxPopup,WebUIOmniboxAimPopup",
      ],
    });
  });
}

export interface Person {
  readonly userId: string;
  readonly email: string;
  readonly team: Team;
  /** The session's token, as the cookie holds it. */
  readonly token: string;
  readonly cookie: string;
}

export interface Site {
  readonly t: TestInstance;
  readonly url: string;
  /** Somebody with an account (password PASSWORD) in a team, and a session of theirs. */
  person(options?: { role?: Role; team?: Team; operator?: boolean; email?: string; name?: string }): Promise<Person>;
  /** A browser of its own, signed in as somebody or as nobody. @param options `scale`: pixels for one of CSS */
  open(person?: Person, options?: { javaScript?: boolean; scale?: number }): Promise<Visit>;
}

export interface Visit {
  readonly page: Page;
  readonly context: BrowserContext;
  /** What the page complained about: script errors, refused content, requests to other hosts. */
  readonly complaints: string[];
  /** Goes to a path and expects it to be answered with a status. */
  go(path: string, status?: number): Promise<void>;
  /**
   * Judges the page that is open: under 60 KB, nothing moved since it began, nothing wrong for axe-core in light and dark, no sideways
   * scrolling at 380 and at 768 px, no complaints. Leaves screenshots `NAME-light`, `NAME-dark` and `NAME-narrow`.
   */
  judge(name: string): Promise<void>;
}

let people = 0;

/** An instance that listens on a socket, with its pages. */
export async function startSite(options: TestOptions = {}): Promise<Site> {
  const t = await startInstance({ ...options, settings: { port: "0", ...options.settings } });
  const url = await t.instance.listen();
  const { core } = t.instance;
  return {
    t,
    url,
    async person({ role = "owner", team, operator = false, email, name } = {}) {
      const of = team ?? (await t.team());
      const address = email ?? `person${++people}@example.com`;
      const user = await makeAccount(core, {
        email: address,
        name: name ?? null,
        operator,
        team: { id: of.id, role },
      });
      const { token } = await core.store.write(() =>
        storeSession(core, user.id, { ip: "127.0.0.1", userAgent: "test" }),
      );
      return { userId: user.id, email: address, team: of, token, cookie: `${cookieNames(url).session}=${token}` };
    },
    open: (person, options) => openAt(url, person, options),
  };
}

/** A site, and somebody of a team in it. @param who as of `Site.person` @param options as of `startSite` */
export async function startSiteOf(who?: Parameters<Site["person"]>[0], options?: TestOptions) {
  const site = await startSite(options);
  return { site, t: site.t, core: site.t.instance.core, person: await site.person(who) };
}

/** The same with a device of their team. */
export async function startSiteWithDevice(...of: Parameters<typeof startSiteOf>) {
  const made = await startSiteOf(...of);
  const device = await made.t.device(made.person.team);
  return { ...made, device, ...device };
}

/** A browser of its own at an instance, signed in as somebody or as nobody. @param options as of `Site.open` */
async function openAt(
  url: string,
  person?: Person,
  { javaScript = true, scale = process.env.RECKON_TEST_SCREENSHOTS ? 1 : 0.25 }: Parameters<Site["open"]>[1] = {},
): Promise<Visit> {
  const context = await contextFor(javaScript, scale);
  if (person) await context.addCookies([{ name: cookieNames(url).session, value: person.token, url }]);
  const [before] = context.pages();
  const page = await context.newPage();
  await before?.close();
  readWhatArrived(page);
  let arrived: Response | undefined;
  page.on("response", (response) => {
    const isRedirect = response.status() >= 300 && response.status() < 400;
    if (!isRedirect && response.request().isNavigationRequest()) arrived = response;
  });
  const complaints: string[] = [];
  page.on("pageerror", (error) => complaints.push(`script error: ${error.message}`));
  page.on("console", (message) => {
    // Chromium reports every reply with an error status here; the tests look at those themselves.
    if (message.type() === "error" && !message.text().startsWith("Failed to load resource"))
      complaints.push(`console: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (!request.url().startsWith(url) && !request.url().startsWith("data:"))
      complaints.push(`request to ${request.url()}`);
  });
  return {
    page,
    context,
    complaints,
    async go(path, status = 200) {
      const response = await page.goto(url + path);
      expect([path, response?.status()]).toEqual([path, status]);
    },
    async judge(name) {
      await weigh(page, name, arrived);
      await judge(page, name, complaints);
    },
  };
}

/** Contexts that visits have left, by what they were made for: in a new context a process of its own reads and compiles everything anew. */
const left = new Map<string, BrowserContext[]>();

/** A context that knows nothing of earlier visits, and is left to later ones when the test ends. */
async function contextFor(javaScript: boolean, scale: number): Promise<BrowserContext> {
  const kind = `${javaScript} ${scale}`;
  const context = left.get(kind)?.pop() ?? (await newContext(javaScript, scale));
  onTestFinished(async () => {
    const [first, ...others] = context.pages();
    // The process goes with its last page.
    if (!first) return context.close();
    for (const page of others) await page.close();
    // A later server on the same port might find what its pages kept; an error's page keeps nothing and refuses.
    await first.evaluate("localStorage.clear()").catch(() => {});
    await first.goto("about:blank");
    await context.clearCookies();
    await context.clearPermissions();
    await context.setExtraHTTPHeaders({});
    left.set(kind, [...(left.get(kind) ?? []), context]);
  });
  return context;
}

async function newContext(javaScript: boolean, scale: number): Promise<BrowserContext> {
  const context = await (browser as Browser).newContext({
    viewport: WIDE,
    // Nobody looks at most of what is painted, and painting is a good part of what a page costs.
    deviceScaleFactor: scale,
    javaScriptEnabled: javaScript,
    timezoneId: "Europe/Berlin",
  });
  // As patient as the tests themselves: a busy machine is slow, not wrong.
  context.setDefaultTimeout(60_000);
  if (javaScript) await context.addInitScript(WATCH_SHIFTS);
  return context;
}

/** Signs in at an instance of `reckon dev`, by its form. */
export async function signedIn(t: { baseUrl: string; email: string; password: string }): Promise<Visit> {
  const visit = await openAt(t.baseUrl);
  await visit.go("/login");
  await visit.page.locator("input[type=email]").fill(t.email);
  await visit.page.locator("input[type=password]").fill(t.password);
  await visit.page.locator("main button[type=submit]").first().click();
  await visit.page.waitForURL("**/overview");
  return visit;
}

/**
 * Playwright's clicks wait until the navigation they begin is committed, when the new page may be there in part; counts and texts
 * are read without waiting. From here on clicks wait until the page is there whole.
 */
function readWhatArrived(page: Page): void {
  const locators = Object.getPrototypeOf(page.locator("html")) as Locator;
  const { click } = locators;
  if (click.name === "clickAndArrive") return;
  locators.click = async function clickAndArrive(this: Locator, options) {
    await click.call(this, options);
    await this.page().waitForLoadState("domcontentloaded");
  };
}

interface AxeResult {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

/** The rules of axe-core whose verdict depends on colours, and so on the scheme; all others say the same in both. */
const COLOUR_RULES = ["color-contrast", "link-in-text-block"];

/**
 * Runs axe-core in the page. It is injected past the page's own content security policy, as a test tool may, and once a page: half
 * a megabyte takes longer to read than most pages to judge.
 * @param rules those to judge by; all that are on by default when left out
 */
async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  if (!(await page.evaluate("'axe' in window"))) await page.evaluate(`(() => { ${AXE} })()`);
  const options = JSON.stringify({ resultTypes: ["violations"], ...(rules ? { runOnly: rules } : {}) });
  const found = (await page.evaluate(
    `axe.run(document, ${options}).then(({ violations }) => violations)`,
  )) as AxeResult[];
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html}\n${node.failureSummary}`),
  );
}

/** Sends a form as a browser does, with the token of a page that this person can open; goes on to nowhere. */
export async function sendForm(
  { url }: Pick<Site, "url">,
  { cookie }: Pick<Person, "cookie">,
  path: string,
  fields: Record<string, string> = {},
): Promise<globalThis.Response> {
  const own = await fetch(`${url}/account`, { headers: { cookie } });
  const csrf = /name="_csrf" value="([^"]+)"/.exec(await own.text())?.[1] as string;
  const body = new URLSearchParams({ _csrf: csrf, ...fields });
  return fetch(url + path, { method: "POST", redirect: "manual", headers: { cookie }, body });
}

/**
 * Leaves a picture for people to look at, where they asked for it: taking them is a fifth of what the page tests cost.
 * @param fullPage the whole page, or what is in sight
 */
export async function picture(page: Page, name: string, fullPage = true): Promise<void> {
  if (process.env.RECKON_TEST_SCREENSHOTS) await page.screenshot({ path: join(SCREENSHOTS, `${name}.png`), fullPage });
}

/** What the page weighs, and what moved on it by itself until now. */
async function weigh(page: Page, name: string, arrived: Response | undefined): Promise<void> {
  const body = await arrived?.body().catch(() => undefined);
  if (body) expect(gzipSync(body).byteLength, `${name} is too heavy`).toBeLessThan(MAX_BYTES);
  expect(await shiftsOf(page, arrived?.request().method() === "GET"), `${name} moves by itself`).toEqual([]);
}

/** What moves each time that the page is opened: a busy machine may paint in two steps what arrives in two pieces. */
async function shiftsOf(page: Page, mayOpenAgain: boolean): Promise<readonly (readonly [number, ...string[]])[]> {
  const look = (at: Page) => at.evaluate<[number, ...string[]][]>("globalThis.shifts ?? []");
  let shifts = await look(page);
  for (let tries = 0; tries < 2 && mayOpenAgain && shifts.length > 0; tries++) {
    // In another page: what the test did on this one stays.
    const again = await page.context().newPage();
    await again.goto(page.url());
    shifts = await look(again);
    await again.close();
  }
  return shifts;
}

async function judge(page: Page, name: string, complaints: readonly string[]): Promise<void> {
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: "reduce" });
    const found = await violations(page, scheme === "dark" ? COLOUR_RULES : undefined);
    expect(found, `${name} in ${scheme}`).toEqual([]);
    await picture(page, `${name}-${scheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
  for (const size of [MIDDLE, NARROW]) {
    await page.setViewportSize(size);
    const overflow = await page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth");
    if (size === NARROW) await picture(page, `${name}-narrow`);
    expect(overflow, `${name} scrolls sideways at ${size.width} px`).toBeLessThanOrEqual(0);
  }
  await page.setViewportSize(WIDE);
  expect(complaints, name).toEqual([]);
}

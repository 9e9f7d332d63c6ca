import { afterEach, describe, expect, it } from "vitest";
import { setRole } from "../../src/identity/members/members.ts";
import { endSession, findSession, switchTeam } from "../../src/identity/web-sessions/web-sessions.ts";
import { MINUTE_MS } from "../../src/kit/clock.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { SessionPrincipal } from "../../src/platform/http/page.ts";
import { type Person, type Site, startSiteWithDevice, useBrowser } from "../support/browser.ts";
import type { TestDevice } from "../support/instance.ts";
import { sessionNumber } from "../support/sessions.ts";

useBrowser();

/** What a browser's EventSource reads of a stream, over a real socket. */
interface Stream {
  readonly status: number;
  readonly headers: Headers;
  /** The next event's data and id; undefined once the stream has ended. */
  next(): Promise<{ readonly id: string; readonly data: string } | undefined>;
  leave(): void;
}

const open: Stream[] = [];
afterEach(() => {
  for (const stream of open.splice(0)) stream.leave();
});

async function follow(site: Site, path: string, person: Person | undefined, lastEventId?: string): Promise<Stream> {
  const gone = new AbortController();
  const response = await fetch(site.url + path, {
    signal: gone.signal,
    redirect: "manual",
    headers: {
      accept: "text/event-stream",
      ...(person ? { cookie: person.cookie } : {}),
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId }),
    },
  });
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = "";
  let id = "";
  const stream: Stream = {
    status: response.status,
    headers: response.headers,
    leave: () => gone.abort(),
    async next() {
      for (;;) {
        const end = text.indexOf("\n\n");
        if (end !== -1) {
          const block = text.slice(0, end);
          text = text.slice(end + 2);
          id = /^id: (.*)$/m.exec(block)?.[1] ?? id;
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data !== undefined) return { id, data };
          continue;
        }
        const { done, value } = (await reader?.read()) ?? { done: true };
        if (done) return undefined;
        text += value;
      }
    },
  };
  open.push(stream);
  return stream;
}

const START = Date.UTC(2026, 10, 21, 7, 30);
const at = (seconds: number) => new Date(START + seconds * 1_000).toISOString();

/** A session that has not ended, with so many steps. */
const running = (id: string, steps: number, more: object = {}) => ({
  ...{ id, outcome: "", agent: "codex", startedAt: at(0), prompts: [{ at: at(0), text: "Add a dark theme" }], ...more },
  spans: Array.from({ length: steps }, (_, i) => ({
    ...{ id: `s${i}`, name: "Bash", kind: "tool", startedAt: at(i), endedAt: at(i + 1) },
    ...{ input: `echo ${i}`, output: `${i}\n`.repeat(30) },
  })),
});

async function send(site: Site, device: TestDevice, ...sessions: object[]) {
  const json = { repoKey: "github.com/acme/shop", sessions };
  expect((await site.t.post("/api/agent-traces/ingest", { token: device.token, json })).status).toBe(200);
}

async function start() {
  const { site, person: ada, device } = await startSiteWithDevice({ role: "member" });
  await send(site, device, running("one", 1), running("other", 1));
  return { site, ada, device, path: `/sessions/${sessionNumber(site, "one")}/live` };
}

const places = (site: Site, path: string, person: Person, count: number) =>
  Promise.all(Array.from({ length: count }, () => follow(site, path, person)));

describe("a stream of a session", () => {
  it("sends an event for each change of the session, and for nothing else", async () => {
    const { site, ada, device, path } = await start();
    const stream = await follow(site, path, ada);
    expect(stream.status).toBe(200);
    expect(Object.fromEntries(stream.headers)).toMatchObject({
      "content-type": "text/event-stream",
      "cache-control": "no-store, no-transform",
      "x-accel-buffering": "no",
      "x-content-type-options": "nosniff",
    });
    await send(site, device, running("other", 2));
    await send(site, device, running("one", 2));
    const [{ delivery }] = site.t.rows("SELECT delivery_id AS delivery FROM trace_sessions WHERE external_id = 'one'");
    const first = await stream.next();
    expect(first).toEqual({ id: `${delivery}.0`, data: `${delivery}.0` });
    // A label changes the session, too.
    const labels = [{ sessionId: "one", name: "review", value: "good" }];
    await site.t.post("/api/agent-traces/ingest", {
      token: device.token,
      json: { repoKey: "github.com/acme/shop", sessions: [], labels },
    });
    expect((await stream.next())?.data).toBe(`${delivery}.1`);
  });

  it("goes on where a browser was cut off, or from what its page shows", async () => {
    const { site, ada, device, path } = await start();
    const page = await (await fetch(site.url + path.replace("/live", ""), { headers: { cookie: ada.cookie } })).text();
    const since = /data-live-events="([^"]+)"/.exec(page)?.[1] ?? "";
    expect(since).toMatch(/\/live\?since=\d+\.0$/);
    await send(site, device, running("one", 2));
    const missed = await (await follow(site, since, ada)).next();
    const [state] = /\d+\.\d+$/.exec(since) as RegExpExecArray;
    expect((await (await follow(site, path, ada, state)).next())?.data).toBe(missed?.data);
    // The last event that a browser got outranks the state that its page was drawn from.
    const current = await follow(site, since, ada, missed?.data);
    await send(site, device, running("one", 3));
    expect((await current.next())?.data).not.toBe(missed?.data);
    // A malformed state counts as none.
    const odd = await follow(site, path, ada, "x y\tz");
    await send(site, device, running("one", 4));
    expect((await odd.next())?.data).toMatch(/^\d+\.0$/);
  });

  it("is open to people who may see the session, as long as they may", async () => {
    const { site, ada, device, path } = await start();
    const eve = await site.person();
    expect((await follow(site, path, eve)).status).toBe(404);
    expect((await follow(site, "/sessions/999/live", ada)).status).toBe(404);
    expect((await follow(site, path, undefined)).status).toBe(303);
    const { core } = site.t.instance;
    const [signedOut, gone] = await places(site, path, ada, 2);
    const [{ id }] = site.t.rows("SELECT id FROM web_sessions WHERE user_id = ?", ada.userId);
    expect(await endSession(core, ada.userId, id, COMMAND_LINE)).toBe(true);
    await send(site, device, running("one", 2));
    expect([await signedOut?.next(), await gone?.next()]).toEqual([undefined, undefined]);
  });

  it("ends when its reader looks at another team", async () => {
    const { site, ada, path } = await start();
    const { core } = site.t.instance;
    const second = await site.t.team();
    await setRole(core, second.id, ada.userId, "member", COMMAND_LINE);
    const stream = await follow(site, path, ada);
    await switchTeam(core, findSession(core, ada.token) as SessionPrincipal, second.id);
    expect(await stream.next()).toBeUndefined();
  });

  it("is limited to a few at a time for each person, and its place is free again once the page is left", async () => {
    const { site, ada, path } = await start();
    const streams = await places(site, path, ada, 5);
    expect(streams.map(({ status }) => status).sort()).toEqual([200, 200, 200, 200, 204]);
    const ben = await site.person({ role: "member", team: ada.team });
    expect((await follow(site, path, ben)).status).toBe(200);
    streams.find(({ status }) => status === 200)?.leave();
    await expect.poll(async () => (await follow(site, path, ada)).status, { timeout: 60_000 }).toBe(200);
    const head = await fetch(site.url + path, { method: "HEAD", headers: { cookie: ben.cookie } });
    expect([head.status, head.headers.get("content-type")]).toEqual([200, "text/event-stream"]);
  });

  it("does not keep the server from stopping", async () => {
    const { site, ada, path } = await start();
    const streams = await places(site, path, ada, 3);
    const began = performance.now();
    const ends = Promise.all(streams.map((stream) => stream.next().catch(() => undefined)));
    await site.t.close();
    expect(await ends).toEqual([undefined, undefined, undefined]);
    // Other replies in flight would be waited for longer.
    expect(performance.now() - began).toBeLessThan(6_000);
  });
});

it("follows for who sees only their own what is theirs, and ends when what they see changes", async () => {
  const { site, ada, device, path } = await start();
  const { core } = site.t.instance;
  const narrow = await site.person({ role: "own_only", team: ada.team });
  const own = core.store.db.prepare("UPDATE devices SET person_id = ? WHERE id = ?");
  expect((await follow(site, path, narrow)).status).toBe(404);
  own.run(narrow.userId, device.deviceId);
  const anothers = await follow(site, path, narrow);
  expect(anothers.status).toBe(200);
  own.run(null, device.deviceId);
  expect(await anothers.next()).toBeUndefined();
  own.run(narrow.userId, device.deviceId);
  const stream = await follow(site, path, narrow);
  await setRole(core, ada.team.id, narrow.userId, "member", COMMAND_LINE);
  expect(await stream.next()).toBeUndefined();
});

describe("a session that runs", () => {
  it("is called so by lists as by its page, until it has ended or nothing more came of it", async () => {
    const { site, ada, device } = await start();
    await send(site, device, running("other", 1, { endedAt: at(60) }));
    const said = async (path: string) => {
      const answer = await fetch(site.url + path, { headers: { cookie: ada.cookie } });
      return (await answer.text()).match(/>(running|not said)</g);
    };
    for (const path of ["/sessions", "/overview", "/repositories/overview?repo=github.com/acme/shop"])
      expect([path, await said(path)]).toEqual([path, [">not said<", ">running<"]]);
    site.t.clock.advance(15 * MINUTE_MS);
    expect(await said("/sessions")).toEqual([">not said<", ">not said<"]);
  });

  it("is updated as it goes on, with what its reader folded out and where they are", async () => {
    const { site, ada, device, path } = await start();
    const { page, go, complaints } = await site.open(ada);
    await go(`/sessions/${sessionNumber(site, "one")}`);
    expect(await page.locator(".badge.running").count()).toBe(2);
    const steps = page.locator(".timeline > li");
    await steps.first().locator("summary").focus();
    await page.keyboard.press("Enter");
    await send(site, device, running("one", 3));
    await expect.poll(() => steps.count(), { timeout: 60_000 }).toBe(3);
    expect(await steps.locator("details").evaluateAll((all) => all.map((one) => one.open))).toEqual([
      true,
      false,
      false,
    ]);
    expect(await page.evaluate("document.activeElement?.closest('li')?.id")).toBe(
      await steps.first().getAttribute("id"),
    );
    // Times of what was fetched are the reader's own, as on the page itself.
    expect(await steps.nth(2).locator("time").getAttribute("title")).toContain("CET");
    await send(site, device, running("one", 4, { outcome: "success", endedAt: at(60) }));
    await expect.poll(() => page.locator(".badge.running").count(), { timeout: 60_000 }).toBe(0);
    expect(await page.locator("[data-live-events]").count()).toBe(0);
    // Nothing is left to follow.
    await expect
      .poll(async () => (await Promise.all((await places(site, path, ada, 4)).map(({ status }) => status))).sort(), {
        timeout: 60_000,
      })
      .toContain(200);
    expect(complaints).toEqual([]);
  });

  it("leaves its reader where they are in a long output", async () => {
    const { site, ada, device } = await start();
    const [step] = running("one", 1).spans;
    const long = { ...step, output: "a line\n".repeat(300) };
    await send(site, device, { ...running("one", 1), spans: [long] });
    const { page, go } = await site.open(ada);
    await go(`/sessions/${sessionNumber(site, "one")}`);
    await page.locator(".timeline > li summary").first().click();
    const output = page.locator(".timeline > li").first().locator("pre").last();
    await output.hover();
    await page.mouse.wheel(0, 700);
    await expect.poll(() => output.evaluate((one) => one.scrollTop)).toBe(700);
    const across = await page.evaluate("scrollY");
    await send(site, device, { ...running("one", 2), spans: [long, ...running("one", 2).spans.slice(1)] });
    await expect.poll(() => page.locator(".timeline > li").count(), { timeout: 60_000 }).toBe(2);
    expect([await output.evaluate((one) => one.scrollTop), await page.evaluate("scrollY")]).toEqual([700, across]);
  });

  it("stays as it was without a script, and while somebody marks a text in it", async () => {
    const { site, ada, device } = await start();
    const plain = await site.open(ada, { javaScript: false });
    const { page, go } = await site.open(ada);
    const path = `/sessions/${sessionNumber(site, "one")}`;
    await plain.go(path);
    await go(path);
    await page.evaluate("getSelection().selectAllChildren(document.querySelector('.asked'))");
    await send(site, device, running("one", 2));
    await plain.page.reload();
    expect(await plain.page.locator(".timeline > li").count()).toBe(2);
    expect(await page.locator(".timeline > li").count()).toBe(1);
    await page.evaluate("getSelection().removeAllRanges()");
    await expect.poll(() => page.locator(".timeline > li").count(), { timeout: 60_000 }).toBe(2);
  });

  it("keeps what somebody marks or opens while an update is on its way", async () => {
    const { site, ada, device } = await start();
    const { page, go } = await site.open(ada);
    const path = `/sessions/${sessionNumber(site, "one")}/waterfall`;
    await go(path);
    /** Lets more come, and does something before the page has it. */
    const meanwhile = async (steps: number, act: () => Promise<unknown>) => {
      const [held, asked] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      const [at] = page.url().split("#");
      const isPage = (url: URL) => url.href === at;
      await page.route(isPage, async (route) => {
        asked.resolve();
        await held.promise;
        await route.continue();
      });
      await send(site, device, running("one", steps));
      await asked.promise;
      await act();
      const arrived = page.waitForResponse((reply) => isPage(new URL(reply.url())));
      held.resolve();
      await (await arrived).finished();
      await page.unroute(isPage);
      // A request that is made behind it returns once the page has handled the update.
      await page.evaluate("fetch(location.href).then((reply) => reply.text()).then(() => undefined)");
    };
    await meanwhile(2, async () => {
      await page.locator("a[data-swap]").first().click();
      await page.waitForURL("**/waterfall?step=*");
      expect(await page.locator("a[aria-expanded=true]").count()).toBe(1);
    });
    await expect.poll(() => page.locator("a[data-swap]").count(), { timeout: 60_000 }).toBe(2);
    expect(await page.locator("a[aria-expanded=true]").count()).toBe(1);
    const marked = () => page.evaluate("String(getSelection())");
    await meanwhile(3, () => page.evaluate("getSelection().selectAllChildren(document.querySelector('#session h1'))"));
    expect(await marked()).not.toBe("");
    await page.evaluate("getSelection().removeAllRanges()");
    await expect.poll(() => page.locator("a[data-swap]").count(), { timeout: 60_000 }).toBe(3);
  });

  it("does not count as running once nothing came of it for a while", async () => {
    const { site, ada } = await start();
    site.t.clock.advance(16 * 60_000);
    const text = await (
      await fetch(`${site.url}/sessions/${sessionNumber(site, "one")}`, { headers: { cookie: ada.cookie } })
    ).text();
    expect(text).not.toMatch(/data-live-events|running/);
  });
});

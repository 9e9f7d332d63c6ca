import { expect, it } from "vitest";
import { startSiteOf, useBrowser } from "../support/browser.ts";
import { sessionNumber } from "../support/sessions.ts";

useBrowser();

const long = (chars: number) => "Wm".repeat(chars / 2);

/** How far the page goes beyond the screen, and texts that are cut and do not say themselves whole when they are pointed at. */
const FAULTS = `({
  beyond: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  cut: [...document.querySelectorAll("body *")]
    .filter((one) => getComputedStyle(one).textOverflow === "ellipsis" && one.scrollWidth > one.clientWidth + 1)
    .filter((one) => !one.closest("select, input") && !one.querySelector("[title]"))
    .filter((one) => one.dispatchEvent(new PointerEvent("pointerover", { bubbles: true })) && !one.closest("[title]"))
    .map(({ className, textContent }) => className + ": " + textContent.slice(0, 40)),
})`;

it("fits a phone of 360 px however long names are, and says each whole that it cuts", async () => {
  const { site, t, person: ada } = await startSiteOf({ name: long(100) });
  t.rows("UPDATE teams SET name = ? RETURNING id", long(200));
  const { token } = await t.device(ada.team);
  const repoKey = `github.com/${long(90)}/${long(90)}`;
  const send = async (path: string, json: object) =>
    expect((await t.post(path, { token, json: { repoKey, ...json } })).status).toBe(200);
  const usage = { input_tokens: 9_999_999_999, output_tokens: 9_999_999_999 };
  const startedAt = "2026-11-20T08:00:00Z";
  const span = { id: "1", name: long(250), kind: "llm", model: long(200), startedAt, usage };
  const session = { id: long(256), outcome: "failed", startedAt, prompts: [{ text: long(900) }] };
  await send("/api/agent-traces/ingest", { sessions: [{ ...session, spans: [span] }] });
  await send("/api/telemetry/ingest", { entries: [{ seq: 9, payload: { type: long(60) } }] });
  await send("/api/brain/ingest", { version: 2, files: [{ path: `${long(250)}/${long(250)}.md`, content: "# A\n" }] });
  await t.instance.settle();
  const { page, go } = await site.open(ada);
  await page.setViewportSize({ width: 360, height: 800 });
  const session1 = `/sessions/${sessionNumber(site, session.id)}`;
  for (const path of [
    "/overview",
    "/sessions",
    session1,
    "/spend",
    "/telemetry",
    "/packs/new",
    "/my-brain/tokens/new",
  ]) {
    await go(path);
    expect([path, await page.evaluate(FAULTS)]).toEqual([path, { beyond: 0, cut: [] }]);
  }
});

import { expect, it } from "vitest";
import { browserNamed, browserShown } from "../../../src/surfaces/web/dashboard/account/browser.ts";

const GECKO = "Mozilla/5.0 (X11; Linux x86_64; rv:148.0) Gecko/20100101 Firefox/148.0";
const WEBKIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

it.each([
  [GECKO, "Firefox on Linux"],
  ["Mozilla/5.0 (Android 15; Mobile; rv:148.0) Gecko/148.0 Firefox/148.0", "Firefox on Android"],
  [`Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`, "Chrome on Windows"],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36 Edg/142.0.0.0`,
    "Edge on Windows",
  ],
  [`Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${WEBKIT} Chrome/142.0.0.0 Safari/537.36`, "Chrome on ChromeOS"],
  [`Mozilla/5.0 (Linux; Android 10; K) ${WEBKIT} Chrome/142.0.0.0 Mobile Safari/537.36`, "Chrome on Android"],
  [
    "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15",
    "Safari on macOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1",
    "Safari on iOS",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/142.0 Mobile/15E148 Safari/604.1",
    "Chrome on iOS",
  ],
  ["curl/8.5.0", undefined],
  ["Mozilla/5.0 (compatible; SomeBot/2.1)", undefined],
  ["Firefox/148.0 on Linux", undefined],
])("%s is %s", (userAgent, name) => {
  expect(browserNamed(userAgent)).toBe(name);
});

it("shows all that was said beside the name, and what is unknown as it is, cut", () => {
  expect(String(browserShown(GECKO))).toBe(`<span title="${GECKO}">Firefox on Linux</span>`);
  const unknown = `curl/8.5.0 <b> ${"x".repeat(100)}`;
  const shown = String(browserShown(unknown));
  expect(shown).toContain(`title="curl/8.5.0 &lt;b&gt; ${"x".repeat(100)}"`);
  expect(shown).toMatch(/>curl\/8\.5\.0 &lt;b&gt; x{44}…</);
  expect(String(browserShown(null))).toBe("unknown browser");
});

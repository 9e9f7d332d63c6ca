import { expect } from "vitest";
import { renameDevice } from "../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { Person, Site } from "./browser.ts";
import type { TestDevice } from "./instance.ts";

/** A team whose brain tells of defects, and whose sessions may have caused them. */

export const SHOP = "github.com/acme/shop";
export const TILL = "github.com/acme/till";
export const CAUSE = "3f2a9c1d4e5f60718293a4b5c6d7e8f901234567";
export const FIX = "b2c3d4e5f60718293a4b5c6d7e8f9012345678a1";
export const HOSTILE = '<img src=x onerror="alert(1)">=1+1';
export const ERRORS = ".claude/brain/errors.md";

const COOKIES = "set `Path` on every cookie, and test it below a sub-path.";
const ROUNDING = "amounts are whole cents; round once, at the end.";
const SPACING = [3, 9, 17, 26, 33, 41, 48, 62, 69, 75, 90, 104, 118, 131, 160];

const dayOf = (daysAgo: number) => new Date(Date.UTC(2026, 10, 21 - daysAgo)).toISOString().slice(0, 10);

interface Written {
  readonly date: string;
  readonly title: string;
  readonly body?: string;
  readonly rule?: string | undefined;
}

const entry = ({ date, title, body = "It broke.", rule }: Written) =>
  `## ${date} ${title}\n\n${body}\n${rule === undefined ? "" : `\n**Prevention rule:** ${rule}\n`}`;

const shop = () => [
  entry({
    date: "2026-11-20",
    title: "⚠️ Login loop after the deploy",
    body: `Since commit ${CAUSE.slice(0, 7)} the cookie had no path, so every page asked to sign in.\n\n- Seen in \`src/session.ts\`\n- Only behind the proxy\n\n**Status:** open`,
    rule: COOKIES,
  }),
  entry({
    date: "2026-11-18",
    title: "Totals off by a cent",
    body: "`src/cart/total.ts` and `src/cart/tax.ts` both rounded.",
    rule: ROUNDING,
  }),
  entry({
    date: "2026-11-17",
    title: "Search was slow",
    body: "Nobody knows why. Perhaps the cache.",
    rule: undefined,
  }),
  ...SPACING.map((daysAgo, i) =>
    entry({
      date: dayOf(daysAgo),
      title: `${["Cart lost after login", "Price of zero", "Stale stock", "Mail sent twice"][i % 4]} (${i + 1})`,
      rule: [COOKIES, ROUNDING, undefined, undefined][i % 4] ?? `look at case ${i + 1} first.`,
    }),
  ),
  entry({ date: "2026-05-02", title: HOSTILE, body: `${HOSTILE} <script>alert(1)</script>`, rule: HOSTILE }),
];

const TILL_ERRORS = [
  entry({ date: "2026-11-19", title: "Receipt without tax", rule: ROUNDING }),
  entry({ date: "2026-10-30", title: "Drawer opened twice", body: "**Status:** in progress" }),
];

const SECURITY = entry({
  date: "2026-11-19",
  title: "Token in the log",
  body: "`src/log.ts` wrote whole headers.",
  rule: "log names of headers, never values.",
});

const at = (day: number, hour: number, minute = 0) => new Date(Date.UTC(2026, 10, day, hour, minute)).toISOString();

const sessions = [
  {
    id: "ses-login",
    outcome: "completed",
    agent: "claude-code",
    model: "claude-sonnet-4-5",
    branch: "feat/login",
    startedAt: at(17, 9),
    endedAt: at(17, 11),
    prompts: [
      {
        at: at(17, 9),
        text: `Write the login page ${HOSTILE} and keep the session in a cookie that ends with the browser`,
      },
      { at: at(17, 10), text: "Now the tests" },
    ],
    files: ["src/session.ts", "src/log.ts"],
    commits: [{ sha: CAUSE, at: at(17, 9, 40) }],
    spans: [],
  },
  {
    id: "ses-totals",
    outcome: "completed",
    agent: "codex",
    model: "gpt-5.1-codex",
    startedAt: at(12, 9),
    endedAt: at(12, 10),
    prompts: [{ at: at(12, 9), text: "Add tax to the totals" }],
    files: ["src/cart/total.ts", "src/cart/tax.ts"],
    spans: [],
  },
  ...[1, 2].map((n) => ({
    id: `ses-search-${n}`,
    outcome: "completed",
    agent: "claude-code",
    model: n === 1 ? "claude-opus-4-6" : HOSTILE,
    startedAt: at(17, 12 + n),
    endedAt: at(17, 13 + n),
    prompts: [{ at: at(17, 12 + n), text: `Tune the search, part ${n}` }],
    spans: [],
  })),
];

/** Publishes everything; every figure of the tests follows from it. */
export async function fillDefects(site: Site, ada: Person): Promise<TestDevice> {
  const { t } = site;
  const device = await t.device(ada.team);
  await renameDevice(t.instance.core, ada.team.id, device.deviceId, "ada-laptop", COMMAND_LINE);
  const send = async (path: string, json: object) =>
    expect((await t.post(path, { token: device.token, json })).status).toBe(200);
  await send("/api/agent-traces/ingest", { repoKey: SHOP, sessions });
  await send("/api/brain/ingest", {
    ...{ repoKey: SHOP, version: 1 },
    files: [
      { path: ERRORS, content: `# Errors\n\n${shop().join("\n")}\n## Ideas without a date\n\nNone.\n` },
      { path: ".claude/brain/security.md", content: SECURITY },
    ],
  });
  await send("/api/brain/ingest", {
    ...{ repoKey: TILL, version: 1 },
    files: [{ path: ERRORS, content: TILL_ERRORS.join("\n") }],
  });
  return device;
}

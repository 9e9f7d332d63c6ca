import { expect } from "vitest";
import { bindDevice, createCode, renameDevice } from "../../src/identity/devices/devices.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import type { Person, Site } from "./browser.ts";
import type { TestDevice } from "./instance.ts";

/** A team whose agents used many models over six weeks. */

export const SHOP = "github.com/acme/shop";
export const TILL = "github.com/acme/till";
export const HOSTILE = '=HYPERLINK("http://evil.example","<img src=x onerror=alert(1)>")';
export const UNPRICED = "acme-local-70b";

/** From the dearest to the cheapest, so that the last two are "other models". */
const PRICED = [
  "claude-opus-4-6",
  "claude-sonnet-4-5",
  "gpt-5.1-codex",
  "gemini-2.5-pro",
  "claude-haiku-4-5",
  "gpt-4.1",
  "gpt-5-mini",
  "gemini-2.5-flash",
];
const WEIGHTS = [40, 45, 42, 30, 35, 12, 20, 10];
const DAYS = 42;
const NOON = Date.UTC(2026, 10, 21, 6);
const DAY = 86_400_000;

/** The day before today on which one known usage stands alone in its repository: a million in, a thousand out. */
export const LONE = { model: "claude-opus-4-6", branch: "topic/lone", usd: 5.025 };

/** A device that is a person's. */
async function deviceOf(site: Site, person: Person, label: string): Promise<TestDevice> {
  const { core } = site.t.instance;
  const by = { kind: "user", id: person.userId, label: person.email, ip: null } as const;
  const { code } = await createCode(core, person.team.id, by, undefined, person.userId);
  const { deviceId, deviceToken } = await bindDevice(core, code, "1", null);
  await renameDevice(core, person.team.id, deviceId, label, COMMAND_LINE);
  return { deviceId, token: deviceToken, team: person.team };
}

export async function fillUsage(site: Site, ada: Person): Promise<TestDevice> {
  const { t } = site;
  const device = await deviceOf(site, ada, "ada-laptop");
  const robot = await t.device(ada.team);
  const send = async (path: string, { token }: TestDevice, json: object) =>
    expect((await t.post(path, { token, json })).status).toBe(200);
  const at = (daysAgo: number, hour = 0) => new Date(NOON - daysAgo * DAY + hour * 3_600_000).toISOString();
  const entries: object[] = [];
  for (let daysAgo = DAYS; daysAgo > 0; daysAgo--) {
    // Nobody works at weekends.
    if ([0, 6].includes(new Date(at(daysAgo)).getUTCDay())) continue;
    for (const [i, model] of PRICED.entries()) {
      const much = (WEIGHTS[i] as number) * (1 + ((daysAgo * (i + 3)) % 7));
      entries.push({
        seq: entries.length + 1,
        clientTimestamp: at(daysAgo),
        payload: {
          ...{ type: "reply", sessionId: `day-${daysAgo % 9}`, branch: i % 3 === 0 ? "main" : `topic/${i}`, model },
          usage: { input_tokens: much * 900, output_tokens: much * 110, cache_read_input_tokens: much * 9_000 },
          ...(i === 0 ? { costUsd: much / 40 } : {}),
        },
      });
    }
  }
  await send("/api/telemetry/ingest", device, { repoKey: SHOP, entries });
  await send("/api/telemetry/ingest", robot, {
    repoKey: TILL,
    entries: [
      {
        ...{ seq: 1, clientTimestamp: at(1) },
        payload: {
          ...{ type: "reply", sessionId: "lone", branch: LONE.branch, model: LONE.model },
          usage: { input_tokens: 1_000_000, output_tokens: 1_000 },
        },
      },
      ...[2, 9, 16].map((daysAgo, i) => ({
        ...{ seq: 2 + i, clientTimestamp: at(daysAgo) },
        payload: {
          type: "reply",
          branch: HOSTILE,
          model: UNPRICED,
          usage: { input_tokens: 400_000 + i, output_tokens: 9 },
        },
      })),
      {
        ...{ seq: 9, clientTimestamp: at(3) },
        payload: { type: "reply", branch: HOSTILE, model: HOSTILE, usage: { input_tokens: 700, output_tokens: 7 } },
      },
    ],
  });
  await send("/api/agent-traces/ingest", device, {
    repoKey: SHOP,
    sessions: [
      {
        ...{
          id: "day-1",
          outcome: "completed",
          agent: "claude-code",
          startedAt: at(10),
          endedAt: at(10, 1),
          spans: [],
        },
        prompts: [{ at: at(10), text: "Speed up the cart" }],
      },
    ],
  });
  return device;
}

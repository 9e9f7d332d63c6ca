import { createInstance, type Instance } from "../../src/app.ts";
import { readConfig } from "../../src/config.ts";
import { bindDevice, createCode } from "../../src/identity/devices/devices.ts";
import { createTeam } from "../../src/identity/teams/teams.ts";
import { correlate, evidenceProjection, linksProjection } from "../../src/insight/causes/causes.ts";
import { spendEntriesProjection, spendSessionsProjection } from "../../src/insight/spend/spend.ts";
import { systemClock } from "../../src/kit/clock.ts";
import { createLog } from "../../src/kit/log.ts";
import { systemRandom } from "../../src/kit/random.ts";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { catchUp } from "../../src/platform/projections/projections.ts";
import type { Settings } from "./run.ts";
import { newDirectory, removeDirectory } from "./servers.ts";
import { figure, type Report } from "./table.ts";
import { randomOf } from "./text.ts";

const ENTRIES = 1_000;
const SESSIONS = 10_000;
const FILES = 2_000;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2026, 7, 1);
const REPO = "github.com/acme/shop";

const hex = (next: () => number) => Array.from({ length: 40 }, () => Math.floor(next() * 16).toString(16)).join("");
/** Few files are touched often, most of them seldom. */
const fileOf = (next: () => number) => `src/part-${Math.floor(next() * 40)}/file-${Math.floor(next() ** 3 * FILES)}.ts`;

/** A thousand entries against ten thousand sessions of ninety days, in the process itself: what one run computes and stores. */
export async function measureCorrelation({ quick }: Settings, report: Report): Promise<void> {
  const directory = newDirectory();
  const instance = await createInstance({
    config: readConfig({ data: directory, signing: "off", limitTraces: "off" }, {}),
    clock: systemClock,
    random: systemRandom,
    log: createLog({ level: "error", now: systemClock.now, write: () => {} }),
  });
  const { core } = instance;
  const team = await createTeam(core, "Bench", COMMAND_LINE);
  const { code } = await createCode(core, team.id, COMMAND_LINE);
  const { deviceToken } = await bindDevice(core, code, "1", null);
  const next = randomOf(77);
  const commits = await sendSessions(instance, deviceToken, next);
  const evidenceMs = await timed(() => catchUp(core, evidenceProjection));
  const errors = errorsFile(next, commits);
  await post(instance, deviceToken, "/api/brain/ingest", { version: 1, repoKey: REPO, files: [errors] });
  await catchUp(core, linksProjection);
  // Whatever else follows deliveries would be at work beside what is measured.
  for (const other of [spendEntriesProjection, spendSessionsProjection]) await catchUp(core, other);
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < (quick ? 2 : 5); round++) {
    core.store.db.exec("DELETE FROM causal_links");
    first.push(await timed(() => correlate(core, team.id)));
    again.push(await timed(() => correlate(core, team.id)));
  }
  const one = {
    id: "late",
    outcome: "success",
    startedAt: at(89),
    endedAt: at(89.01),
    files: [fileOf(next)],
    spans: [],
  };
  await post(instance, deviceToken, "/api/agent-traces/ingest", { repoKey: REPO, sessions: [one] });
  const lateMs = await timed(() => catchUp(core, linksProjection));
  const found = await correlate(core, team.id);
  const scenario = `correlate, ${ENTRIES} entries × ${SESSIONS} sessions`;
  report.result({ scenario: `${scenario}, all links new`, unit: "ms", ours: first, aim: { below: 1_000 } });
  report.result({ scenario: `${scenario}, nothing new`, unit: "ms", ours: again, aim: { below: 1_000 } });
  report.note(
    scenario,
    `${found.linked} linked, ${found.possible} possible, ${found.unlinked} not; evidence of all sessions caught up in ` +
      `${figure(evidenceMs)} ms beside the server's own rounds, links after one more session in ${figure(lateMs)} ms`,
  );
  await instance.close();
  removeDirectory(directory);
}

const at = (day: number) => new Date(FIRST_DAY + day * DAY_MS).toISOString();

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function post(instance: Instance, token: string, path: string, json: object): Promise<void> {
  const answer = await instance.fetch(
    new Request(`http://localhost${path}`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify(json),
    }),
  );
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${await answer.text()}`);
}

/** @returns commits by the day they were made on */
async function sendSessions(instance: Instance, token: string, next: () => number) {
  const commits: { day: number; sha: string }[] = [];
  for (let from = 0; from < SESSIONS; from += 200) {
    const sessions = Array.from({ length: 200 }, (_, i) => {
      const day = ((from + i) / SESSIONS) * 90;
      const made = Array.from({ length: 2 }, () => ({ sha: hex(next), at: at(day + 0.02) }));
      commits.push(...made.map(({ sha }) => ({ day, sha })));
      return {
        ...{ id: `s-${from + i}`, agent: "claude-code", model: "m", outcome: "success" },
        ...{ startedAt: at(day), endedAt: at(day + 0.03), commits: made },
        prompts: Array.from({ length: 5 }, (_, n) => ({ at: at(day + n / 200), text: `Prompt ${n} of ${from + i}` })),
        spans: Array.from({ length: 8 }, (_, n) => ({
          ...{ id: `e-${n}`, startedAt: at(day + n / 300) },
          edits: [{ path: fileOf(next), startLine: 1 + n, endLine: 9 + n }],
        })),
      };
    });
    await post(instance, token, "/api/agent-traces/ingest", { repoKey: REPO, sessions });
  }
  return commits;
}

function errorsFile(next: () => number, commits: readonly { readonly day: number; readonly sha: string }[]) {
  const entries = Array.from({ length: ENTRIES }, (_, i) => {
    const { day, sha } = commits[Math.floor(next() * commits.length)] as (typeof commits)[number];
    const files = Array.from({ length: 1 + Math.floor(next() * 3) }, () => `\`${fileOf(next)}\``).join(" and ");
    const named = i % 3 === 0 ? `Introduced in ${sha.slice(0, 9)}.` : `It broke in ${files}.`;
    return `## ${at(day).slice(0, 10)} Entry ${i}\n\n${named}\n\n**Prevention rule:** mind number ${i % 200}.\n`;
  });
  return { path: ".claude/brain/errors.md", content: entries.join("\n") };
}

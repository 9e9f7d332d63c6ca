import { verifyTeam } from "../../../identity/teams/teams.ts";
import { brainMetrics, entriesProjection } from "../../../insight/defects/defects.ts";
import { DAY_MS, HOUR_MS, isoInstant, MINUTE_MS } from "../../../kit/clock.ts";
import type { Actor } from "../../../platform/audit/audit.ts";
import { catchUp } from "../../../platform/projections/projections.ts";
import { changeRequest, mergeRequest, type Status } from "../../../share/feature-requests/feature-requests.ts";
import { archivePath, curatePack, draftPack, publishPack } from "../../../share/packs/packs.ts";
import type { CreatedTeam } from "../seed.ts";
import type { InstanceHandle } from "../types.ts";
import type { DemoEvent, Send } from "./calendar.ts";
import { workday } from "./calendar.ts";
import { REPOS } from "./data.ts";

/** What the demo team shows to others: a pack, what people asked of the product, and the hourly figures of its devices. */

const PACK = "shop-lessons";

/** A pack in two versions, featured by the operator, installed by one device. */
export function pack(
  instance: InstanceHandle,
  team: CreatedTeam,
  by: Actor,
  startAt: number,
  token: () => string,
): DemoEvent[] {
  const { core } = instance;
  const publish =
    (version: string, more: object = {}) =>
    async () =>
      publishPack(
        core,
        await draftPack(core, team.teamId, {
          ...{ repoKey: REPOS.shop, name: PACK, version, globs: ["errors.md", "decisions/**"] },
          ...more,
        }),
        by,
      );
  const about = {
    title: "Lessons of a web shop",
    summary: "What went wrong with carts, vouchers and money, and the rules that keep it from coming again.",
    license: "MIT",
    tags: ["typescript", "payments", "postgres"],
  };
  const at = (on: number, hours: number) => workday(startAt, on) + hours * HOUR_MS;
  return [
    { at: at(6, 14), happen: publish("1.0.0", about) },
    { at: at(6, 15), happen: () => verifyTeam(core, team.teamId, true, by) },
    { at: at(5, 9), happen: () => curatePack(core, PACK, { act: "feature" }, by) },
    { at: at(4, 10), happen: () => download(instance, "1.0.0", token()) },
    { at: at(1, 15), happen: publish("1.1.0") },
  ];
}

async function download(instance: InstanceHandle, version: string, token: string): Promise<void> {
  const headers = { authorization: `Bearer ${token}` };
  const answer = await instance.fetch(new Request(`http://127.0.0.1${archivePath(PACK, version)}`, { headers }));
  if (answer.status !== 200) throw new Error(`the demo's pack cannot be downloaded: ${answer.status}`);
  await answer.arrayBuffer();
}

interface RequestPlan {
  readonly text: string;
  readonly from?: string;
  readonly status?: Status;
  readonly note?: string;
  /** The earlier request that it repeats. */
  readonly again?: number;
}

const ASKED: readonly RequestPlan[] = [
  { text: "Let me filter sessions by branch.", from: "dashboard", status: "shipped", note: "It is in the filter bar." },
  { text: "A dark page for reading diffs at night, please.", status: "shipped" },
  { text: "Send us a mail when a stream has a gap for more than an hour.", from: "dashboard", status: "planned" },
  { text: "Mail or chat message when telemetry has gaps", from: "agent", again: 2 },
  {
    text: "Import cost from our own invoices",
    status: "declined",
    note: "prices.json covers it: prices, not invoices.",
  },
  { text: "Show which prompts lead to most open errors", from: "agent", status: "in_progress" },
  { text: "Packs for Rust", from: "marketplace" },
];

/** What people asked of the product, and how it went on. */
export function requests(instance: InstanceHandle, by: Actor, startAt: number): DemoEvent[] {
  const ids: string[] = [];
  return ASKED.map(({ text, from, status, note, again }, i) => ({
    at: startAt - (ASKED.length - i) * 3 * DAY_MS - i * 97 * MINUTE_MS,
    happen: async () => {
      const body = JSON.stringify({ text, ...(from ? { from } : {}) });
      const headers = { "content-type": "application/json" };
      const sent = new Request("http://127.0.0.1/api/requests/ingest", { method: "POST", headers, body });
      const answer = await instance.fetch(sent);
      if (answer.status !== 200) throw new Error(`the demo's product request was refused: ${answer.status}`);
      const { id } = (await answer.json()) as { id: string };
      ids.push(id);
      if (again !== undefined) await mergeRequest(instance.core, id, ids[again] as string, by);
      else if (status) await changeRequest(instance.core, id, { status, ...(note ? { note } : {}) }, by);
    },
  }));
}

/** The newest figures of two devices that met some of the same mistakes. */
export function pulses({ core }: InstanceHandle, team: CreatedTeam, startAt: number, send: Send): DemoEvent[] {
  const pulse = (device: number, minutesAgo: number, classes: readonly [number, number], counts: object) => ({
    at: startAt - minutesAgo * MINUTE_MS,
    happen: async () => {
      await catchUp(core, entriesProjection);
      const { recurring } = await brainMetrics(core, team.teamId);
      const fingerprints = recurring.slice(...classes).map(({ fingerprint }) => fingerprint);
      const at = isoInstant(startAt - minutesAgo * MINUTE_MS);
      await send(device, "/api/brain-pulse/ingest", { repoKey: REPOS.shop, at, counts, fingerprints });
    },
  });
  return [
    pulse(0, 58, [0, 3], { entries: 10, open: 2, promoted: 3 }),
    pulse(1, 22, [0, 1], { entries: 10, open: 2, promoted: 1 }),
  ];
}

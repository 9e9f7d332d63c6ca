import type { Core } from "../../core.ts";
import type { Key, Page } from "../../kit/page.ts";
import { type Budget, type Chunk, isSpent, scanPage } from "../../kit/scan-page.ts";
import { cooperative } from "../../kit/yield.ts";
import { type DeliveryFacts, teamDeliveries, timedWalk } from "../../log/log.ts";

/** Which deliveries. Absent members do not narrow; `from` is included, `to` is not. */
export interface DeliveryFilter {
  readonly repoKey?: string | undefined;
  readonly deviceId?: string | undefined;
  /** Of any of these devices. */
  readonly deviceIds?: readonly string[] | undefined;
  readonly kind?: DeliveryFacts["kind"] | undefined;
  readonly flagged?: NonNullable<DeliveryFacts["flagged"]> | undefined;
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** What one page may look at, so that a filter that nothing matches does not read a million deliveries. */
const MAX_EXAMINED = { deliveries: 20_000 };
const CHUNK = 500;

/** A page of a team's deliveries, newest first. @param limit 1 to 200, 50 by default */
export async function browseDeliveries(
  core: Core,
  teamId: string,
  query: DeliveryFilter & { readonly cursor?: string | undefined; readonly limit?: number | undefined },
): Promise<Page<DeliveryFacts>> {
  return scanPage({
    cursor: query.cursor,
    limit: query.limit,
    parts: 1,
    budget: MAX_EXAMINED,
    keyOf: ({ id }: DeliveryFacts) => [id],
    walk: (_towards, start, budget) => walk(core, teamId, query, start, budget),
    matches: matcher(query),
  });
}

/** Walks towards older deliveries, the only way that a program goes. */
async function* walk(
  core: Core,
  teamId: string,
  span: DeliveryFilter,
  start: Key | undefined,
  budget: Budget<keyof typeof MAX_EXAMINED>,
): AsyncGenerator<Chunk<DeliveryFacts>> {
  const yieldNow = cooperative(core.clock);
  let id = start ? (start[0] as number) - 1 : timedWalk.start(core, teamId, span, "older");
  for (;;) {
    const steps = teamDeliveries(core, teamId, "older", id, CHUNK);
    for (const step of steps) {
      if (isSpent(budget) || timedWalk.isPast(core, span, step, "older")) return;
      budget.deliveries--;
      yield { rows: [step], at: [step.id] };
      id = step.id - 1;
      await yieldNow();
    }
    if (steps.length < CHUNK) return;
  }
}

function matcher({ deviceIds, from, to, ...exact }: DeliveryFilter): (delivery: DeliveryFacts) => boolean {
  const devices = deviceIds && new Set(deviceIds);
  return (delivery) =>
    (["repoKey", "deviceId", "kind", "flagged"] as const).every(
      (name) => exact[name] === undefined || delivery[name] === exact[name],
    ) &&
    (devices === undefined || devices.has(delivery.deviceId)) &&
    (from === undefined || delivery.receivedAt >= from) &&
    (to === undefined || delivery.receivedAt < to);
}

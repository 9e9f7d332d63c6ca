import type { Exchange } from "../exchange.ts";
import { refreshBriefings } from "./briefing.ts";
import { publishBrains } from "./publish.ts";
import { sendPulses } from "./pulse.ts";

/** What a pass does for brains, once what was captured is sent: publishes them, reports their figures, fetches their briefings. */
export async function tendBrains(exchange: Exchange): Promise<void> {
  const published = await publishBrains(exchange);
  if (exchange.stopped === undefined) await sendPulses(exchange);
  await refreshBriefings(exchange, published);
}

import { expect } from "vitest";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { startInstance, type TestInstance, type TestOptions } from "./instance.ts";
import type { Received, Receiver } from "./receiver.ts";

/** An instance that may send to some receivers. */
export const startSending = (
  receivers: readonly Pick<Receiver, "host">[],
  options: TestOptions = {},
): Promise<TestInstance> =>
  startInstance({
    ...options,
    settings: { ...options.settings, outbound: [...receivers.map(({ host }) => host), "+private"].join(",") },
  });

/** A channel of a team that is sent to a receiver. */
export const addChannel = (
  { instance }: TestInstance,
  receiver: Pick<Receiver, "url">,
  teamId: string | null,
  events: readonly string[],
  kind: "webhook" | "slack" | "teams" = "webhook",
) => createChannel(instance.core, { teamId, kind, name: "Ours", target: receiver.url, events });

/** Waits for what a receiver was sent. */
export async function arrived(receiver: Receiver, count: number): Promise<Received[]> {
  await expect.poll(() => receiver.received.length).toBe(count);
  return receiver.received;
}

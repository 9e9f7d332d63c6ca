import { expect, onTestFinished } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { sendingJob } from "../../src/share/notifications/send.ts";
import { startInstance, type TestInstance, type TestOptions } from "./instance.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";

/** How often what is due is looked for: the server itself does so every second. */
const LOOK_EVERY_MS = 25;

/** An instance that may send to some receivers. */
export async function startSending(
  receivers: readonly Pick<Receiver, "host">[],
  options: TestOptions = {},
): Promise<TestInstance> {
  const outbound = [...receivers.map(({ host }) => host), "+private"].join(",");
  const t = await startInstance({ ...options, settings: { ...options.settings, outbound } });
  const timer = setInterval(() => void sendingJob.run(t.instance.core)?.catch(() => {}), LOOK_EVERY_MS);
  const stop = () => clearInterval(timer);
  onTestFinished(stop);
  return {
    ...t,
    close() {
      stop();
      return t.close();
    },
  };
}

/** A receiver, and an instance that may send to it. @param options as of `startInstance` */
export async function startWithReceiver(options?: TestOptions) {
  const receiver = await startReceiver();
  const t = await startSending([receiver], options);
  return { receiver, t, core: t.instance.core };
}

/** A channel of a team that is sent to a receiver. */
export const addChannel = (
  { instance }: TestInstance,
  receiver: Pick<Receiver, "url">,
  teamId: string | null,
  events: readonly string[],
  kind: "webhook" | "slack" | "teams" = "webhook",
) => createChannel(instance.core, { teamId, kind, name: "Ours", target: receiver.url, events }, COMMAND_LINE);

/** Waits for what a receiver was sent. */
export async function arrived(receiver: Receiver, count: number): Promise<Received[]> {
  await expect.poll(() => receiver.received.length).toBe(count);
  return receiver.received;
}

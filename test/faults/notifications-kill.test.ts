import { expect, it } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { startReceiver } from "../support/receiver.ts";
import { type Device, withDirectory } from "./support/data.ts";
import { testData, testServer } from "./support/test.ts";

const deliver = async (url: string, { token }: Device, seq: number) => {
  const { status } = await fetch(`${url}/api/telemetry/ingest`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ entries: [{ seq, payload: {} }] }),
  });
  expect(status).toBe(200);
};

it("sends after a kill -9 what was noted before it, whether it was being sent or not", async () => {
  const receiver = await startReceiver();
  receiver.answer = () => {};
  const { directory, team, devices } = await testData({ devices: 1 });
  const [device] = devices as [Device];
  await withDirectory(directory, (core) =>
    createChannel(
      core,
      { teamId: team.id, kind: "webhook", name: "Ours", target: receiver.url, events: ["gap"] },
      COMMAND_LINE,
    ),
  );
  const env = { RECKON_OUTBOUND: `${receiver.host},+private` };
  const first = await testServer(directory, { env });
  await deliver(first.url, device, 1);
  await deliver(first.url, device, 3);
  await expect.poll(() => receiver.received.length).toBe(1);
  // Answered once it is durable; the server has had no time to send it.
  await deliver(first.url, device, 5);
  await first.end("SIGKILL");
  const [before] = receiver.received;
  receiver.answer = (_, response) => response.writeHead(200).end();
  receiver.received.length = 0;
  await testServer(directory, { env });
  await expect.poll(() => receiver.received.length).toBe(2);
  expect(new Set(receiver.received.map(({ json }) => json.data.delivery)).size).toBe(2);
  expect(receiver.received.map(({ headers }) => headers["webhook-id"])).toContain(before?.headers["webhook-id"]);
});

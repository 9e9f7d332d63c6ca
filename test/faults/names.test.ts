import { spawnSync } from "node:child_process";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { createChannel } from "../../src/share/notifications/notifications.ts";
import { newFolder } from "../support/folder.ts";
import { startReceiver } from "../support/receiver.ts";
import { type Device, rowsOf, withDirectory } from "./support/data.ts";
import { testData, testServer } from "./support/test.ts";

/** A resolver that hears and never answers. */
const RESOLVER = "127.0.53.53";
const MOUNTED =
  'mount --bind "$1/resolv.conf" /etc/resolv.conf && mount --bind "$1/hosts" /etc/hosts && shift && exec "$@"';
const mounts = (path: string) => ["unshare", "-m", "sh", "-c", MOUNTED, "sh", path];

/** The two files that a started process finds in place of the machine's. */
function files(...hosts: readonly string[]): string {
  const path = newFolder();
  writeFileSync(join(path, "resolv.conf"), `nameserver ${RESOLVER}\n`);
  writeFileSync(join(path, "hosts"), ["127.0.0.1 localhost well.example.com", ...hosts, ""].join("\n"));
  return path;
}

const isRoot = process.platform === "linux" && process.getuid?.() === 0;
const probe = isRoot && spawnSync("unshare", ["-m", "mount", "--bind", "/etc/hosts", "/etc/hosts"]).status === 0;
const cannot = probe ? false : "names need root, mounts and port 53";
if (cannot) console.warn(`Skipped: ${cannot}`);

it.skipIf(cannot)("sends to every host that it can while the names of others are never answered", async () => {
  const resolver = createSocket("udp4").bind(53, RESOLVER);
  onTestFinished(() => void resolver.close());
  await once(resolver, "listening");
  const receiver = await startReceiver();
  const { directory, team, devices } = await testData({ devices: 1 });
  const targets = [1, 2, 3].map((n) => `https://dead-${n}.example.com/`);
  targets.push(`http://well.example.com:${receiver.port}/`);
  await withDirectory(directory, async (core) => {
    for (const target of targets)
      await createChannel(
        core,
        { teamId: team.id, kind: "webhook", name: "One", target, events: ["gap"] },
        COMMAND_LINE,
      );
  });
  const outbound = `*.example.com,*.example.com:${receiver.port},+private`;
  const { url } = await testServer(directory, { under: mounts(files()), env: { RECKON_OUTBOUND: outbound } });
  const [{ token }] = devices as [Device];
  for (let seq = 1; seq < 60; seq += 2) {
    const { status } = await fetch(`${url}/api/telemetry/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ entries: [{ seq, payload: {} }] }),
    });
    expect(status).toBe(200);
  }
  // The first names are waited for once, so the message that was tried meanwhile comes later than the others.
  await expect.poll(() => receiver.received.length).toBeGreaterThan(25);
});

it.skipIf(cannot)("sends nothing to a name if one of its addresses is forbidden, whichever comes first", async () => {
  const receiver = await startReceiver();
  const { directory, team, devices } = await testData({ devices: 1 });
  await withDirectory(directory, async (core) => {
    for (const host of ["one.example.com", "two.example.com"]) {
      const target = `http://${host}:${receiver.port}/`;
      await createChannel(
        core,
        { teamId: team.id, kind: "webhook", name: host, target, events: ["gap"] },
        COMMAND_LINE,
      );
    }
  });
  const hosts = [
    "127.0.0.1 one.example.com",
    "fe80::1 one.example.com",
    "169.254.1.1 two.example.com",
    "::1 two.example.com",
  ];
  const { url } = await testServer(directory, {
    under: mounts(files(...hosts)),
    env: { RECKON_OUTBOUND: `*.example.com:${receiver.port},+private` },
  });
  const [{ token }] = devices as [Device];
  for (const seq of [1, 3])
    await fetch(`${url}/api/telemetry/ingest`, {
      method: "POST",
      headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
      body: JSON.stringify({ entries: [{ seq, payload: {} }] }),
    });
  const outcomes = () =>
    rowsOf(directory, "SELECT outcome FROM notification_messages WHERE tries > 0").map(({ outcome }) => outcome);
  await expect.poll(outcomes).toEqual(Array(2).fill("The host has an address that nothing is sent to."));
  expect(receiver.connections).toBe(0);
});

import { COMMAND_LINE } from "../../src/platform/audit/audit.ts";
import { draftPack, type PackRequest, publishPack } from "../../src/share/packs/packs.ts";
import type { TestDevice, TestInstance } from "./instance.ts";

export const REPO = "github.com/acme/shop";

export const ERRORS = `## 2026-11-20 Login loop

The cookie lacked its path.

**Prevention rule:** set Path on every cookie.
`;

export const FILES: Readonly<Record<string, string>> = {
  ".claude/brain/errors.md": ERRORS,
  ".claude/brain/decisions/0001-cookies.md": "# Cookies\n\nWe keep sessions in cookies.\n",
  ".claude/brain/packs/other/errors.md": "# What another team published\n",
};

const versions = new Map<string, number>();

/** Pushes a brain snapshot as a device does. */
export async function pushBrain(t: TestInstance, device: TestDevice, files = FILES, repoKey = REPO): Promise<void> {
  const version = (versions.get(device.deviceId) ?? 0) + 1;
  versions.set(device.deviceId, version);
  const json = { version, repoKey, files: Object.entries(files).map(([path, content]) => ({ path, content })) };
  const answer = await t.post("/api/brain/ingest", { token: device.token, json });
  if (answer.status !== 200) throw new Error(answer.text);
}

/** Publishes a pack from a brain that was pushed before. */
export async function publish(t: TestInstance, teamId: string, wanted: Partial<PackRequest> & { name: string }) {
  const draft = await draftPack(t.instance.core, teamId, { repoKey: REPO, version: "1.0.0", ...wanted });
  await publishPack(t.instance.core, draft, COMMAND_LINE);
  return draft;
}

/** A team that published a pack from its brain. */
export async function publisher(t: TestInstance, name: string, wanted: Partial<PackRequest> = {}) {
  const device = await t.device();
  await pushBrain(t, device);
  const draft = await publish(t, device.team.id, { name, ...wanted });
  return { device, team: device.team, draft };
}

/** Makes a brain hold what no ingest would let in any more, as an older rule table may have. */
export function plantInBrain(t: TestInstance, content: string): void {
  t.instance.core.store.db
    .prepare("UPDATE brain_blobs SET content = ?, bytes = ? WHERE content = ?")
    .run(content, Buffer.byteLength(content), ERRORS);
}

export const archiveOf = (name: string, version = "1.0.0") => `/marketplace/packs/${name}/${version}/download`;

/** Downloads without the JSON reading of `t.get`. */
export const download = (t: TestInstance, path: string, headers: Record<string, string> = {}, method = "GET") =>
  t.instance.fetch(new Request(`http://localhost${path}`, { method, headers }));

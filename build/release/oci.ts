import { createHash } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { packTar } from "modern-tar";
import { ROOT } from "../bundle.ts";
import type { Source } from "./artefacts.ts";
import { type ImageFile, librariesOf } from "./libraries.ts";
import { ARCHITECTURES, type LinuxTarget } from "./packages.ts";

/*
 * An image as the OCI image specification 1.1 lays it out, in one tar: an index of one manifest a platform, each with one layer.
 */

const MEDIA = {
  index: "application/vnd.oci.image.index.v1+json",
  manifest: "application/vnd.oci.image.manifest.v1+json",
  config: "application/vnd.oci.image.config.v1+json",
  layer: "application/vnd.oci.image.layer.v1.tar+gzip",
};
/** A user that no machine has; other images without a distribution use this number, too. */
const USER = 65_532;
export const DATA = "var/lib/reckon";

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** An executable with the files that it needs beside it. */
export interface Platform {
  readonly target: LinuxTarget;
  readonly files: readonly ImageFile[];
}

/** What an executable's platform has in the image. */
export async function platform(target: LinuxTarget, executable: string): Promise<Platform> {
  const own: ImageFile[] = [
    { path: "usr/bin/reckon", mode: 0o755, content: await readFile(executable) },
    { path: "usr/share/doc/reckon/copyright", mode: 0o644, content: await readFile(join(ROOT, "LICENSE")) },
    { path: "etc/passwd", mode: 0o644, content: Buffer.from(`reckon:x:${USER}:${USER}::/${DATA}:/sbin/nologin\n`) },
    { path: "etc/group", mode: 0o644, content: Buffer.from(`reckon:x:${USER}:\n`) },
  ];
  return { target, files: [...own, ...(await librariesOf(executable, target))] };
}

/** Writes the image. @returns its name. */
export async function makeImage(source: Source, platforms: readonly Platform[], out: string): Promise<string> {
  const blobs = new Map<string, Buffer>();
  const keep = (mediaType: string, content: Buffer): Descriptor => {
    const hex = sha256(content);
    blobs.set(hex, content);
    return { mediaType, digest: `sha256:${hex}`, size: content.length };
  };
  const manifests: Descriptor[] = [];
  for (const one of platforms) manifests.push(await keepPlatform(source, one, keep));
  const index = keep(MEDIA.index, json({ schemaVersion: 2, mediaType: MEDIA.index, manifests }));
  const annotations = {
    "io.containerd.image.name": `docker.io/library/reckon:${source.version}`,
    "org.opencontainers.image.ref.name": source.version,
  };
  const top = { schemaVersion: 2, mediaType: MEDIA.index, manifests: [{ ...index, annotations }] };
  const files: ImageFile[] = [
    { path: "oci-layout", mode: 0o644, content: json({ imageLayoutVersion: "1.0.0" }) },
    { path: "index.json", mode: 0o644, content: json(top) },
    ...[...blobs].map(([hex, content]) => ({ path: `blobs/sha256/${hex}`, mode: 0o644, content })),
  ];
  const name = `reckon-${source.version}-oci.tar`;
  await writeFile(join(out, name), await archive(files, source.epoch));
  return name;
}

async function keepPlatform(
  source: Source,
  { target, files }: Platform,
  keep: (mediaType: string, content: Buffer) => Descriptor,
): Promise<Descriptor> {
  const tar = await archive(files, source.epoch, [
    { path: DATA, mode: 0o700, owner: USER },
    { path: "tmp", mode: 0o1777, owner: 0 },
  ]);
  const layer = keep(MEDIA.layer, gzipSync(tar, { level: 9 }));
  const where = { architecture: ARCHITECTURES[target].oci, os: "linux" };
  const created = new Date(source.epoch * 1_000).toISOString();
  const config = keep(
    MEDIA.config,
    json({
      created,
      ...where,
      config: {
        User: `${USER}:${USER}`,
        ExposedPorts: { "4870/tcp": {} },
        Env: ["PATH=/usr/bin", `RECKON_DATA=/${DATA}`, "RECKON_HOST=0.0.0.0"],
        Entrypoint: ["/usr/bin/reckon"],
        Cmd: ["serve"],
        Volumes: { [`/${DATA}`]: {} },
        WorkingDir: `/${DATA}`,
        Labels: {
          "org.opencontainers.image.title": "Reckon",
          "org.opencontainers.image.version": source.version,
          "org.opencontainers.image.revision": source.commit,
          "org.opencontainers.image.licenses": "MIT",
        },
      },
      rootfs: { type: "layers", diff_ids: [`sha256:${sha256(tar)}`] },
      history: [{ created, created_by: "npm run release" }],
    }),
  );
  const manifest = { schemaVersion: 2, mediaType: MEDIA.manifest, config, layers: [layer] };
  return { ...keep(MEDIA.manifest, json(manifest)), platform: where } as Descriptor;
}

/** A tar archive, sorted, with the folders that its files lie in; the same files give the same bytes. */
async function archive(
  files: readonly ImageFile[],
  epoch: number,
  folders: readonly { readonly path: string; readonly mode: number; readonly owner: number }[] = [],
): Promise<Buffer> {
  const common = { mtime: new Date(epoch * 1_000), uname: "", gname: "" };
  const all = [...files, ...folders].map(({ path }) => path);
  const parents = new Set(
    all.flatMap((path) => path.split("/").flatMap((_, i, parts) => (i > 0 ? parts.slice(0, i).join("/") : []))),
  );
  const special = new Map(folders.map((folder) => [folder.path, folder]));
  const entries = [
    ...[...new Set([...parents, ...special.keys()])].map((path) => {
      const { mode = 0o755, owner = 0 } = special.get(path) ?? {};
      return {
        header: { ...common, name: `${path}/`, size: 0, type: "directory" as const, mode, uid: owner, gid: owner },
      };
    }),
    ...files.map(({ path, mode, content }) => ({
      header: { ...common, name: path, size: content.length, type: "file" as const, mode, uid: 0, gid: 0 },
      body: new Uint8Array(content.buffer, content.byteOffset, content.length),
    })),
  ];
  entries.sort((a, b) => (a.header.name < b.header.name ? -1 : 1));
  return Buffer.from(await packTar(entries));
}

const json = (value: unknown) => Buffer.from(JSON.stringify(value));
const sha256 = (content: Buffer) => createHash("sha256").update(content).digest("hex");

/** The libraries among a platform's files, which came from this machine. */
export const librariesIn = (files: readonly ImageFile[]) =>
  files.filter(({ path }) => /^lib/.test(path)).map(({ path, content }) => ({ name: path, sha256: sha256(content) }));

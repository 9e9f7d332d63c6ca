import { chmod, cp, mkdir, readdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { run, type Source } from "./artefacts.ts";
import { installed, layOut, settle, template, writeText } from "./tree.ts";

/** What packagers call the targets that packages are made for. */
export const ARCHITECTURES = {
  "linux-x64": { deb: "amd64", rpm: "x86_64", oci: "amd64" },
  "linux-arm64": { deb: "arm64", rpm: "aarch64", oci: "arm64" },
} as const;
export type LinuxTarget = keyof typeof ARCHITECTURES;

interface Job {
  readonly source: Source;
  readonly target: LinuxTarget;
  readonly executable: string;
  /** An empty folder to work in. */
  readonly work: string;
  /** Where the package goes. */
  readonly out: string;
}

/** Packagers write `~` before what makes a version a pre-release, semver `-`. */
const packageVersion = ({ version }: Source) => version.replaceAll("-", "~");

/** Makes a Debian package with `dpkg-deb`. @returns its name. */
export async function makeDeb({ source, target, executable, work, out }: Job): Promise<string> {
  const { deb } = ARCHITECTURES[target];
  const files = installed(executable);
  await layOut(work, files, source);
  const version = packageVersion(source);
  const values = { VERSION: version, ARCHITECTURE: deb };
  await writeText(join(work, "DEBIAN/control"), await template("deb/control", values));
  await writeText(join(work, "DEBIAN/conffiles"), "/etc/default/reckon\n");
  for (const script of ["postinst", "prerm", "postrm"])
    await writeText(join(work, "DEBIAN", script), await template(`deb/${script}`, {}), 0o755);
  await settle(work, source.epoch);
  const name = `reckon_${version}_${deb}.deb`;
  // One thread: with several, the bytes depend on their number.
  const args = ["--root-owner-group", "--threads-max=1", "-Zxz", "-z2", "--build", work, join(out, name)];
  run("dpkg-deb", args, { env: { SOURCE_DATE_EPOCH: String(source.epoch) } });
  return name;
}

/** Makes an RPM package with `rpmbuild`. @returns its name. */
export async function makeRpm({ source, target, executable, work, out }: Job): Promise<string> {
  const { rpm } = ARCHITECTURES[target];
  const [stage, top] = [join(work, "stage"), join(work, "top")];
  await layOut(stage, installed(executable), source);
  const spec = join(work, "reckon.spec");
  await writeText(spec, await template("rpm/reckon.spec", { VERSION: packageVersion(source), STAGE: stage }));
  const args = ["-bb", "--quiet", "--target", `${rpm}-unknown-linux`, "--define", `_topdir ${top}`, spec];
  run("rpmbuild", args, { env: { SOURCE_DATE_EPOCH: String(source.epoch), HOME: work } });
  const [name = ""] = await readdir(join(top, "RPMS", rpm));
  await mkdir(out, { recursive: true });
  await cp(join(top, "RPMS", rpm, name), join(out, name));
  await chmod(join(out, name), 0o644);
  await rm(top, { recursive: true });
  return name;
}

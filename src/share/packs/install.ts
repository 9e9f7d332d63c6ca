/** Where and how a pack gets into a repository. */

/** A pack's own folder in a repository's brain, so that it never mixes with the repository's own files. */
export const installFolder = (name: string) => `.claude/brain/packs/${name}`;

/** Where an archive is served, below the base URL. */
export const archivePath = (name: string, version: string): `/${string}` =>
  `/marketplace/packs/${name}/${encodeURIComponent(version)}/download`;

/** What a line of `tar -t` may be, as an extended regular expression: one folder, no part that begins with a dot, a text file. */
const SOUND = "^[^/]+(/[^./:][^/:]*)*/[^./:][^/:]*\\.(md|markdown|txt|json|ya?ml|toml|csv)$";

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

/**
 * One line for a POSIX shell that puts a pack into the repository it is run in. It stops before anything is unpacked when the
 * archive is not the one with this SHA-256, when it holds anything but plain text files under plain names (whatever the server
 * let through), and when the pack's folder exists already. Where `RECKON_DEVICE_TOKEN` is set, the
 * device counts as an install.
 */
export function installCommand(
  baseUrl: string,
  { name, version, sha256 }: { readonly name: string; readonly version: string; readonly sha256: string },
): string {
  const folder = installFolder(name);
  const steps = [
    // mkdir fails on what exists, so the last two steps never meet a file of before.
    "f=$(mktemp)",
    `trap 'rm -f "$f"' EXIT`,
    // What is wrong comes as text in place of the archive.
    `{ curl --fail-with-body -sS -H "Authorization: Bearer \${RECKON_DEVICE_TOKEN-}" -o "$f" ${quoted(baseUrl + archivePath(name, version))} || { cat "$f" >&2; false; }; }`,
    `echo "${sha256}  $f" | sha256sum -c -`,
    `{ test -z "$(tar -tzf "$f" | LC_ALL=C grep -Eiv '${SOUND}'; tar -tvzf "$f" | grep -v '^-')" || { echo "the pack holds more than text files; nothing is unpacked" >&2; false; }; }`,
    "mkdir -p .claude/brain/packs",
    `mkdir ${folder}`,
    `tar -xzf "$f" -C ${folder} --strip-components=1`,
  ];
  return `(${steps.join(" && ")})`;
}

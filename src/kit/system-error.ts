import { getSystemErrorMessage } from "node:util";

/** The commonest failures of the operating system, in words for whoever has to mend them. */
const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file",
  ENOTDIR: "a part of its path is no directory",
  EISDIR: "it is a directory",
  ERR_FS_EISDIR: "it is a directory",
  EEXIST: "it is there already",
  EACCES: "that is not permitted",
  EPERM: "that is not permitted",
  EROFS: "the file system is read-only",
  ENOSPC: "no space is left on the device",
  EDQUOT: "the disk quota is used up",
};

/** The reason of a failed system call, in words; undefined for any other error. */
export function systemErrorText(error: unknown): string | undefined {
  const { code, errno, syscall } = (error ?? {}) as NodeJS.ErrnoException;
  if (code === undefined || syscall === undefined) return undefined;
  // Node reports ENOENT for a folder that it cannot make, too.
  if (syscall === "mkdir" && code === "ENOENT")
    return `no folder can be made there: ${WORDS.EROFS}, or it leads nowhere`;
  // Some errors of Node itself look like one, with a number that the system does not know.
  return WORDS[code] ?? (errno !== undefined && errno < 0 ? getSystemErrorMessage(errno) : code);
}

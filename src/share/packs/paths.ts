import { judgePath } from "../../formats/brain-paths.ts";
import { hasUnseen } from "../../kit/escape-invisible.ts";

/**
 * What a brain is written in. A pack is knowledge for agents, so nothing else is handed out: what has no such ending may be run
 * by a program that finds it. A folder with `HEAD` and `config` is a repository to git, for one.
 */
const TEXT = /[^/]\.(?:md|markdown|txt|json|ya?ml|toml|csv)$/i;

/** Git's folder by its short name on Windows (git's is_ntfs_dotgit). */
const SHORT_DOTGIT = /^git~\d/i;

/** What Windows takes for a device, or for none of its names (git's is_valid_win32_path): no repository with it is checked out there. */
const NOT_ON_WINDOWS = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[\d¹²³]) *(?:\.|$)|["*<>?|]/i;

/**
 * Why a file may not be in a pack, continuing a sentence that begins with its name; undefined when it may. On other people's disks
 * these paths are names of files beside their own, which editors, shells and git read: none of what git refuses to check out passes
 * (its verify_path; CVE-2014-9390), nor any configuration, which begins with a dot.
 * @param path below the brain's folder, as in the archive
 */
export function judgePackPath(path: string): string | undefined {
  if (hasUnseen(path)) return "holds characters that cannot be seen";
  if (path.includes(":")) return "holds a colon, which stands for a drive or a stream on Windows";
  const wrong = judgePath(path);
  if (wrong) return wrong;
  const parts = path.split("/");
  if (parts.some((part) => part.startsWith("."))) return "begins with a dot, or lies in a folder that does";
  if (parts.some((part) => SHORT_DOTGIT.test(part))) return "stands for .git on Windows";
  if (parts.some((part) => /[. ]$/.test(part))) return "has a part that ends in a dot or a space";
  if (parts.some((part) => NOT_ON_WINDOWS.test(part))) return "has a part that cannot be a name on Windows";
  if (!TEXT.test(path)) return "is no text file of a brain (.md, .txt, .json, .yaml, .toml or .csv)";
  return undefined;
}

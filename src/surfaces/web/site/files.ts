import { etagMatches } from "../../../kit/etag.ts";
import { fail, notFound } from "../../../kit/problem.ts";
import { type PageReply, page } from "../../../platform/http/page.ts";
import { installerFile } from "../../../share/releases/releases.ts";

/** Hands out an installer that lies here: whole, in part after an interruption, or not at all to whoever has it. */
export const installerPages = [
  page(
    {
      id: "installer",
      method: "GET",
      path: "/download/files/:platform/:version/:name",
      access: "anyone",
      formless: true,
    },
    ({ core, params, header }): PageReply => {
      const file = installerFile(core, params.platform ?? "", params.version ?? "", params.name ?? "");
      if (!file) fail(notFound, "There is no such installer here.");
      const { bytes, name } = file;
      const etag = `"${file.sha512.toString("base64url").slice(0, 43)}"`;
      const headers: [string, string][] = [
        ["etag", etag],
        // Kept, but asked about each time: a release can be withdrawn, or registered anew with another file.
        ["cache-control", "public, no-cache"],
        ["accept-ranges", "bytes"],
        ["last-modified", new Date(file.createdAt).toUTCString()],
        ["repr-digest", `sha-512=:${file.sha512.toString("base64")}:`],
      ];
      if (etagMatches(header("if-none-match"), etag)) return { status: 304, headers };
      const range = readRange(header("range"), header("if-range"), etag, bytes);
      if (range.kind === "unsatisfiable")
        return {
          status: 416,
          headers: [
            ["content-range", `bytes */${bytes}`],
            ["cache-control", "no-store"],
          ],
        };
      const [first, last] = range.kind === "part" ? [range.first, range.last] : [0, bytes - 1];
      if (range.kind === "part") headers.push(["content-range", `bytes ${first}-${last}/${bytes}`]);
      return {
        status: range.kind === "part" ? 206 : 200,
        headers: [...headers, ["content-length", String(last - first + 1)]],
        media: "application/octet-stream",
        filename: name,
        body: file.read(first, last),
      };
    },
  ),
];

/** What part of a file a reader asks for (RFC 9110 section 14); both ends are included. */
type RequestedRange =
  | { readonly kind: "whole" }
  | { readonly kind: "part"; readonly first: number; readonly last: number }
  | { readonly kind: "unsatisfiable" };

/**
 * Reads `Range`. Several ranges, other units and what cannot be read are answered with the whole, as section 14.2 allows; a range
 * is honoured only while `If-Range` names the file as it is now (by its strong entity tag).
 * @param size of the file in bytes, above 0
 */
export function readRange(range: string | null, ifRange: string | null, etag: string, size: number): RequestedRange {
  const match = /^bytes=(\d{0,15})-(\d{0,15})$/i.exec(range?.trim() ?? "");
  if (!match || (match[1] === "" && match[2] === "")) return { kind: "whole" };
  if (ifRange !== null && ifRange.trim() !== etag) return { kind: "whole" };
  if (match[1] === "") {
    // The last so many bytes.
    const length = Number(match[2]);
    if (length === 0) return { kind: "unsatisfiable" };
    return { kind: "part", first: Math.max(0, size - length), last: size - 1 };
  }
  const first = Number(match[1]);
  const last = match[2] === "" ? size - 1 : Math.min(Number(match[2]), size - 1);
  if (match[2] !== "" && Number(match[2]) < first) return { kind: "whole" };
  return first >= size ? { kind: "unsatisfiable" } : { kind: "part", first, last };
}

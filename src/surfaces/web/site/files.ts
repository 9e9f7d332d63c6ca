import { etagMatches } from "../../../kit/etag.ts";
import { fail, notFound } from "../../../kit/problem.ts";
import { type PageReply, page } from "../../../platform/http/page.ts";
import { installerFile } from "../../../share/releases/releases.ts";
import { readRange } from "./range.ts";

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
      const wanted = readRange(header("range"), header("if-range"), etag, bytes);
      if (wanted.kind === "unsatisfiable")
        return {
          status: 416,
          headers: [
            ["content-range", `bytes */${bytes}`],
            ["cache-control", "no-store"],
          ],
        };
      const [first, last] = wanted.kind === "part" ? [wanted.first, wanted.last] : [0, bytes - 1];
      if (wanted.kind === "part") headers.push(["content-range", `bytes ${first}-${last}/${bytes}`]);
      return {
        status: wanted.kind === "part" ? 206 : 200,
        headers: [...headers, ["content-length", String(last - first + 1)]],
        media: "application/octet-stream",
        filename: name,
        body: file.read(first, last),
      };
    },
  ),
];

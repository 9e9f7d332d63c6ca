/**
 * Site: the public pages of an installation, for people as HTML and for agents as markdown: front page, documentation, API
 * reference, marketplace, download, and the indexes of all these.
 * Not here: the dashboard, whose look it shares; what is shown, which belongs to the rooms whose doors it calls (catalog, releases).
 */
import { room } from "../../../platform/rooms/rooms.ts";
import { apiPages } from "./api.ts";
import { docsPages } from "./docs.ts";
import { downloadPages } from "./download.ts";
import { explorePages } from "./explore.ts";
import { installerPages } from "./files.ts";
import { programPages } from "./for-programs.ts";
import { homePages } from "./home.ts";
import { marketplacePages } from "./marketplace.ts";
import { packPages } from "./pack.ts";

export { docIndex } from "./doc-text.ts";

export const site = room({
  name: "site",
  pages: [
    ...homePages,
    ...docsPages,
    ...apiPages,
    ...marketplacePages,
    ...packPages,
    ...explorePages,
    ...downloadPages,
    ...installerPages,
    ...programPages,
  ],
});

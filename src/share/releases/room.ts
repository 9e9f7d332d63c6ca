import { room } from "../../platform/rooms/rooms.ts";
import { downloadLatest } from "./download-latest.ts";
import { removeLeftovers } from "./leftovers.ts";

export const releases = room({
  name: "releases",
  tags: { Download: "Desktop installers that were registered here; none comes with Reckon." },
  endpoints: [downloadLatest],
  open: (core) => removeLeftovers(core),
  auditActions: {
    "release.added": { label: "Installer registered", did: "registered the installer", beyondTeams: true },
    "release.removed": { label: "Installer withdrawn", did: "withdrew the installer", beyondTeams: true },
  },
});

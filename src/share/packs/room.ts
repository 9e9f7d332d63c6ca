import { room } from "../../platform/rooms/rooms.ts";
import { explore } from "./get-explore.ts";
import { marketplace } from "./marketplace-public.ts";
import { measuring } from "./measure.ts";

export const packs = room({
  name: "packs",
  tags: { Marketplace: "Brain packs that teams published, for everybody." },
  endpoints: [marketplace, explore],
  jobs: [measuring],
  auditActions: {
    "pack.published": { label: "Pack published", did: "published the pack" },
    "pack.featured": { label: "Pack featured", did: "featured the pack" },
    "pack.unfeatured": { label: "Pack no longer featured", did: "stopped featuring the pack" },
    "pack.removed": { label: "Pack removed", did: "removed the pack" },
    "pack.restored": { label: "Pack brought back", did: "brought back the pack" },
  },
});

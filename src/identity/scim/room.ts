import { room } from "../../platform/rooms/rooms.ts";
import { DISCOVERY_ENDPOINTS } from "./discovery.ts";
import { GROUP_ENDPOINTS } from "./groups.ts";
import { settleJob } from "./settle.ts";
import { USER_ENDPOINTS } from "./users.ts";

export const scim = room({
  name: "scim",
  endpoints: [...DISCOVERY_ENDPOINTS, ...USER_ENDPOINTS, ...GROUP_ENDPOINTS],
  jobs: [settleJob],
  auditActions: {
    "scim.user_added": { label: "Provisioned", did: "provisioned", beyondTeams: true },
    "scim.user_changed": { label: "Provisioned person changed", did: "changed the record of", beyondTeams: true },
    "scim.user_removed": { label: "Provisioning ended", did: "ended the provisioning of", beyondTeams: true },
    "scim.group_added": { label: "Group added", did: "added the group", beyondTeams: true },
    "scim.group_changed": { label: "Group changed", did: "changed the group", beyondTeams: true },
    "scim.group_removed": { label: "Group removed", did: "removed the group", beyondTeams: true },
  },
});

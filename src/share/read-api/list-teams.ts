import * as v from "valibot";
import { recordApiRead } from "../../identity/api-tokens/api-tokens.ts";
import { findTeam, listTeams, TIERS } from "../../identity/teams/teams.ts";
import { endpoint } from "../../platform/http/endpoint.ts";
import { pageOf } from "./fields.ts";
import { COMMON } from "./reading.ts";

/** The teams that a token may read, on one page. An installation has few; a token of one team finds that one. */
export const teamList = endpoint(
  {
    ...COMMON,
    id: "readTeams",
    path: "/api/teams",
    summary: "List the teams that the token may read",
    ok: pageOf(v.object({ id: v.string(), name: v.string(), tier: v.picklist(TIERS) })),
    faults: [],
    example: {
      ok: { ok: true, items: [{ id: "team_06a15c9c007x7v3w3nbxrw2s5m", name: "Acme", tier: "team" }], next: null },
    },
  },
  async ({ core, principal }) => {
    const { teamId } = principal;
    const own = teamId === null ? undefined : findTeam(core, teamId);
    const teams = teamId === null ? listTeams(core) : own ? [own] : [];
    await recordApiRead(core, principal, "readTeams");
    return { ok: true as const, items: teams.map(({ id, name, tier }) => ({ id, name, tier })), next: null };
  },
);

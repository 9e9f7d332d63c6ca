import { fail, unauthorized } from "../../kit/problem.ts";
import { credential } from "../../platform/http/credential.ts";
import { inShape } from "../../platform/http/faults.ts";
import { teamMoves } from "../teams/teams.ts";
import { disconnected } from "./binding.ts";
import { findDevice } from "./principals.ts";

/** The token that binds one machine to one team. */
export const device = credential({
  id: "device",
  openapi: {
    name: "deviceToken",
    description: "Opaque token that binds one machine to one team; from connectExchange, replaced with connectRotate.",
  },
  find: findDevice,
  faults: inShape("moved", teamMoves.moved),
  judge({ clock }, { revokedAt, tokenReplacedAt, tokenExpiresAt, movedTo }) {
    if (revokedAt !== null) fail(unauthorized, disconnected);
    if (tokenReplacedAt !== null) fail(unauthorized, "The bearer token was replaced by a newer one.");
    if (tokenExpiresAt !== null && tokenExpiresAt <= clock.now()) fail(unauthorized, "The bearer token has expired.");
    teamMoves.requireNotMoved(movedTo);
  },
  sender: ({ deviceId, teamId }) => ({ credential: deviceId, team: teamId }),
});

import { SECOND_MS } from "../../kit/clock.ts";
import { figure } from "../metrics/metrics.ts";
import { room } from "../rooms/rooms.ts";
import { prepareKey } from "./keys.ts";
import { rows } from "./rows.ts";

export const keys = room({
  name: "keys",
  open: prepareKey,
  metrics: [
    figure(
      "gauge",
      "reckon_signing_key_created_timestamp_seconds",
      "When the key that signs licences was made, in seconds since the epoch.",
      ({ store }) => {
        const key = rows(store).active.get();
        return key && key.createdAt / SECOND_MS;
      },
    ),
  ],
  auditActions: {
    "key.wrapped": { label: "Signing key wrapped", did: "put the private keys under a passphrase", beyondTeams: true },
    "key.rotated": { label: "Signing key rotated", did: "made a new signing key", beyondTeams: true },
  },
});

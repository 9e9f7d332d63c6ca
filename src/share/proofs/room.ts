import { room } from "../../platform/rooms/rooms.ts";
import { getProof } from "./get-proof.ts";

export const proofs = room({
  name: "proofs",
  endpoints: [getProof],
  auditActions: { "proof.made": { label: "Proof made", did: "took a proof of" } },
});

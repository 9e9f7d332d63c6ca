import { room } from "../../platform/rooms/rooms.ts";
import { getProof } from "./get-proof.ts";

export const proofs = room({ name: "proofs", endpoints: [getProof] });

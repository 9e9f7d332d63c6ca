import { fail, notFound } from "../../../../kit/problem.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import { type Provable, prove } from "../../../../share/proofs/proofs.ts";
import type { Member } from "./call.ts";
import { exported } from "./exported.ts";
import { idIn } from "./params.ts";
import { requireSeen } from "./sight.ts";

/** Of what a proof is asked for. */
interface ProofOf {
  /** Of what sent it, where only some see that. */
  readonly deviceId?: string | undefined;
  /** Whose it must be: the team's by default; null for who runs the installation. */
  readonly teamId?: string | null;
}

/** Hands out what proves to anybody with the log's key that a thing of the team is in the log. */
export async function proofPage(kind: Provable, call: Member, { deviceId, teamId }: ProofOf = {}): Promise<PageReply> {
  const { core, session, params } = call;
  const id = idIn(params.id) ?? fail(notFound, `The team has no such ${kind}.`);
  requireSeen(call, deviceId, `The team has no such ${kind}.`);
  const proof = prove(core, teamId === undefined ? session.team.id : teamId, kind, id);
  return exported(
    call,
    {
      action: "proof.made",
      teamId: session.team.id,
      target: { kind, id: `${id}`, label: `${kind} ${id}` },
      extent: {},
    },
    download(`${kind}-${id}.tlog-proof`, "text/plain; charset=utf-8", proof),
  );
}

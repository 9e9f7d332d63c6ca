import { fail, notFound } from "../../../../kit/problem.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import { type Provable, prove } from "../../../../share/proofs/proofs.ts";
import type { Member } from "./call.ts";
import { exported } from "./exported.ts";
import { idIn } from "./params.ts";
import { requireSeen } from "./sight.ts";

/** Who may have a proof of a thing. */
interface ProofOf {
  /** The device that sent it, where only some see that device's record. */
  readonly deviceId?: string | undefined;
  /** The team that it must belong to, by default the viewer's; null for whoever runs the installation. */
  readonly teamId?: string | null;
}

/** Sends the proof that a thing of the team is in the log, for anybody who has the log's key. */
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

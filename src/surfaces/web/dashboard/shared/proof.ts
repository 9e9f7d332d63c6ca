import { fail, notFound } from "../../../../kit/problem.ts";
import { download, type PageReply } from "../../../../platform/http/page.ts";
import { type Provable, prove } from "../../../../share/proofs/proofs.ts";
import type { Member } from "./call.ts";
import { exported } from "./exported.ts";
import { idIn } from "./params.ts";

/**
 * Hands out what proves to anybody with the log's key that a thing of the team is in the log.
 * @param of whose it must be: the team's; null for who runs the installation
 */
export async function proofPage(
  kind: Provable,
  call: Member,
  of: string | null = call.session.team.id,
): Promise<PageReply> {
  const { core, session, params } = call;
  const id = idIn(params.id) ?? fail(notFound, `The team has no such ${kind}.`);
  const proof = prove(core, of, kind, id);
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

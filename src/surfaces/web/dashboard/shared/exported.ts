import { actorOf } from "../../../../identity/web-sessions/web-sessions.ts";
import { recordAct } from "../../../../platform/audit/audit.ts";
import type { PageCall, PageReply } from "../../../../platform/http/page.ts";
import { redactText } from "../../../../redact/redact.ts";

/** A copy of the record that somebody takes away. */
export interface Export {
  /** As the audit names it: `telemetry.exported`. */
  readonly action: string;
  /** Null for what concerns the whole installation. */
  readonly teamId: string | null;
  /** The one thing that is taken, where it is one. */
  readonly target?: { readonly kind: string; readonly id: string; readonly label: string };
  /** What narrows it, and the form it is in; what is empty is left out. */
  readonly extent: Readonly<Record<string, string | undefined>>;
}

/**
 * Hands out a copy of the record once it is recorded who takes it, so that there is no copy that nobody knows of.
 * @throws StoreUnavailable when that cannot be recorded: then nothing is handed out
 */
export async function exported(call: PageCall<"person">, one: Export, file: PageReply): Promise<PageReply> {
  // Whoever asks for the head alone takes nothing.
  if (call.headOnly) return file;
  const { action, teamId, target, extent } = one;
  // A search may be for a secret.
  const said = Object.entries(extent).flatMap(([name, value]) => (value ? [[name, redactText(value).text]] : []));
  const by = actorOf(call.session, call.ip());
  await recordAct(call.core, by, { action, teamId, ...(target && { target }), detail: Object.fromEntries(said) });
  return file;
}

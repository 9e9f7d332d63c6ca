import { ROLES } from "../../../../identity/members/members.ts";
import { actorOf, findSession } from "../../../../identity/web-sessions/web-sessions.ts";
import { fail, forbidden } from "../../../../kit/problem.ts";
import { recordAct } from "../../../../platform/audit/audit.ts";
import { cookieNames, readCookies } from "../../../../platform/http/cookies.ts";
import type { PageCall, PageReply } from "../../../../platform/http/page.ts";
import { redactText } from "../../../../redact/redact.ts";
import { repoKeyIn } from "./links.ts";

/** A copy of the record that somebody takes away. */
export interface Export {
  /** As the audit names it: `telemetry.exported`. */
  readonly action: string;
  /** Null for what concerns the whole installation. */
  readonly teamId: string | null;
  /** The single thing that is taken, where it is one. */
  readonly target?: { readonly kind: string; readonly id: string; readonly label: string };
  /** Filters and form of the copy; empty ones are left out. `repo` is as addresses have it. */
  readonly extent: Readonly<Record<string, string | undefined>>;
}

/** The name in the audit for records without a repository. */
const NO_REPO = "(none)";

/**
 * Sends a copy of the record after recording who takes it, so that there is no copy that nobody knows of.
 * @throws StoreUnavailable when that cannot be recorded: then nothing is sent
 */
export async function exported(call: PageCall<"person">, one: Export, file: PageReply): Promise<PageReply> {
  // A HEAD request takes nothing.
  if (call.headOnly) return file;
  const { action, teamId, target, extent } = one;
  const tell = (name: string, value: string) =>
    // A search may be for a secret.
    name === "repo" && repoKeyIn(value) === "" ? NO_REPO : redactText(value).text;
  const said = Object.entries(extent).flatMap(([name, value]) => (value ? [[name, tell(name, value)]] : []));
  const by = actorOf(call.session, call.ip());
  await recordAct(call.core, by, { action, teamId, ...(target && { target }), detail: Object.fromEntries(said) });
  const { body } = file;
  return isInPieces(body) ? { ...file, body: whileAllowed(call, teamId, body) } : file;
}

type Pieces = Iterable<string | Uint8Array> | AsyncIterable<string | Uint8Array>;

const isInPieces = (body: PageReply["body"]): body is Pieces =>
  typeof body === "object" &&
  !(body instanceof Uint8Array) &&
  (Symbol.asyncIterator in body || Symbol.iterator in body);

/** How often to check whether the person may still take the copy. */
const LOOK_EVERY_MS = 1_000;

/**
 * A large copy that is read slowly takes hours. It breaks off once the sign-in has ended, or the person has left the team or has a lower
 * role. A normal end would make a part pass for the whole.
 * @throws Problem forbidden
 */
async function* whileAllowed(call: PageCall<"person">, teamId: string | null, pieces: Pieces) {
  const { core, session, header, baseUrl } = call;
  const token = readCookies(header("cookie")).get(cookieNames(baseUrl).session) ?? "";
  /** The lower the more they see. */
  const rankOf = ({ operator, teams }: Pick<typeof session, "operator" | "teams">) => {
    if (teamId === null) return operator ? 0 : Number.POSITIVE_INFINITY;
    const role = teams.find(({ id }) => id === teamId)?.role;
    return role === undefined ? Number.POSITIVE_INFINITY : ROLES.indexOf(role);
  };
  let looked = core.clock.monotonic();
  for await (const piece of pieces) {
    const now = core.clock.monotonic();
    if (now - looked >= LOOK_EVERY_MS) {
      looked = now;
      const found = findSession(core, token);
      if (!found || rankOf(found) > rankOf(session))
        fail(forbidden, "The person who began this download may no longer do so.");
    }
    yield piece;
  }
}

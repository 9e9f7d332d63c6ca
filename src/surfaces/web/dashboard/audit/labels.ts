import { type Content, html } from "../../../../kit/html.ts";
import type { StoredEvent } from "../../../../platform/audit/audit.ts";
import { dayText, isInstant, utcText } from "../../ui/units.ts";

/** Events in words: what was done to what, and the detail that matters. */

interface Words {
  readonly label: string;
  readonly did: string;
  /** Concerns the installation or a person's account, never a team. */
  readonly beyondTeams?: true;
}

/** What each action is called: in a list to choose from, and after the actor's name (the target's name follows). */
const ACTIONS: Readonly<Record<string, Words>> = {
  "session.started": { label: "Signed in", did: "signed in", beyondTeams: true },
  "session.refused": { label: "Sign-in refused", did: "was refused at signing in", beyondTeams: true },
  "session.ended": { label: "Signed out", did: "signed out", beyondTeams: true },
  "session.ended_all": { label: "Signed out everywhere else", did: "signed out everywhere else", beyondTeams: true },
  "user.created": { label: "Account made", did: "made the account", beyondTeams: true },
  "user.disabled": { label: "Account closed", did: "closed the account", beyondTeams: true },
  "user.enabled": { label: "Account opened", did: "opened the account", beyondTeams: true },
  "user.password_changed": { label: "Password changed", did: "changed the password of", beyondTeams: true },
  "user.reset_link_made": { label: "Reset link made", did: "made a password link for" },
  "user.operator_granted": { label: "Operator made", did: "made an operator of", beyondTeams: true },
  "user.operator_withdrawn": { label: "Operator unmade", did: "took the operator's right from", beyondTeams: true },
  "team.created": { label: "Team made", did: "made the team" },
  "team.changed": { label: "Team changed", did: "changed the team" },
  "team.verified": { label: "Publisher verified", did: "verified as a publisher" },
  "team.unverified": { label: "Publisher's verification taken back", did: "took back the verification of" },
  "pack.published": { label: "Pack published", did: "published the pack" },
  "pack.featured": { label: "Pack featured", did: "featured the pack" },
  "pack.unfeatured": { label: "Pack no longer featured", did: "stopped featuring the pack" },
  "pack.removed": { label: "Pack removed", did: "removed the pack" },
  "pack.restored": { label: "Pack brought back", did: "brought back the pack" },
  "member.added": { label: "Person joined", did: "added" },
  "member.role_changed": { label: "Role changed", did: "changed the role of" },
  "member.removed": { label: "Person removed", did: "removed" },
  "invitation.made": { label: "Invitation made", did: "made an invitation" },
  "invitation.accepted": { label: "Invitation accepted", did: "accepted an invitation" },
  "invitation.revoked": { label: "Invitation revoked", did: "revoked an invitation" },
  "code.created": { label: "Connect code minted", did: "minted a connect code" },
  "code.revoked": { label: "Connect code ended", did: "ended a connect code" },
  "device.connected": { label: "Device connected", did: "connected the device" },
  "device.renamed": { label: "Device renamed", did: "renamed a device to" },
  "device.rotated": { label: "Device token replaced", did: "replaced the token of the device" },
  "device.disconnected": { label: "Device disconnected", did: "disconnected the device" },
  "device.revoked": { label: "Device revoked", did: "revoked the device" },
  "policy.changed": { label: "Policy changed", did: "changed the policy" },
  "policy.restored": { label: "Policy restored", did: "restored an earlier policy" },
  "link.created": { label: "Cause named", did: "said what caused" },
  "link.confirmed": { label: "Cause confirmed", did: "confirmed the cause of" },
  "link.rejected": { label: "Cause rejected", did: "rejected a cause of" },
  "link.reopened": { label: "Cause left open again", did: "took back a word on the cause of" },
  "telemetry.exported": { label: "Telemetry exported", did: "exported telemetry" },
  "brain_file.exported": { label: "Brain file downloaded", did: "downloaded the brain file" },
  "agent_session.exported": { label: "Session's record downloaded", did: "downloaded the record of the session" },
  "spend.exported": { label: "Spend exported", did: "exported what was spent" },
  "audit.exported": { label: "Audit exported", did: "exported the audit" },
  "license.minted": { label: "Licence minted", did: "minted a licence for" },
  "key.rotated": { label: "Signing key rotated", did: "made a new signing key", beyondTeams: true },
  "read_token.created": { label: "Read token minted", did: "minted the read token" },
  "read_token.revoked": { label: "Read token revoked", did: "revoked the read token" },
  "cli_token.created": {
    label: "Command-line token given",
    did: "let a command-line tool sign in as",
    beyondTeams: true,
  },
  "cli_token.revoked": {
    label: "Command-line token revoked",
    did: "revoked a command-line token of",
    beyondTeams: true,
  },
  "cli_authorization.approved": {
    label: "Command-line tool approved",
    did: "approved a command-line tool for",
    beyondTeams: true,
  },
  "request.changed": { label: "Request changed", did: "changed the request", beyondTeams: true },
  "request.merged": { label: "Request merged", did: "marked as a duplicate the request", beyondTeams: true },
  "request.unmerged": {
    label: "Request's merge taken back",
    did: "took back the merge of the request",
    beyondTeams: true,
  },
  "release.added": { label: "Installer registered", did: "registered the installer", beyondTeams: true },
  "release.removed": { label: "Installer withdrawn", did: "withdrew the installer", beyondTeams: true },
  "cli_authorization.denied": {
    label: "Command-line tool denied",
    did: "denied a command-line tool",
    beyondTeams: true,
  },
};

/** The actions to filter by, in the words of the page: of a team only what can happen in one. */
export const actionOptions = (all: boolean) =>
  Object.entries(ACTIONS)
    .filter(([, { beyondTeams }]) => all || !beyondTeams)
    .map(([value, { label }]) => ({ value, label }))
    .sort((a, b) => a.label.localeCompare(b.label, "en"));

export const isAction = (text: string): boolean => Object.hasOwn(ACTIONS, text);

/** Words for members of a detail whose own names would puzzle. */
const MEMBERS: Readonly<Record<string, string>> = {
  role: "role",
  from: "before",
  to: "now",
  tier: "tier",
  seats: "seats",
  subscription: "subscription",
  periodEndAt: "paid until",
  suspendedAt: "suspended",
  subscriptionChangedAt: "subscription since",
  operator: "operator",
  expiresAt: "until",
  consentVersion: "consent version",
  userAgent: "program",
  captureMode: "capture mode",
  basedOn: "based on version",
  firstDay: "from",
  lastDay: "until",
};

const MAX_CHARS = 300;

/** `Revoked the device build-7`, without the actor. */
export function whatWasDone({ action, targetLabel, targetId }: StoredEvent): Content {
  const known = isAction(action) ? ACTIONS[action] : undefined;
  const did = known ? known.did : html`<code>${action}</code>`;
  const target =
    targetLabel ?? (known && !/ (?:of|for|as|to|from|device|team|token|account)$/.test(known.did) ? null : targetId);
  return target === null || target === "" ? did : html`${did} <strong>${target.slice(0, MAX_CHARS)}</strong>`;
}

/** The detail as `seats: 12 · tier: team`; undefined for none. */
export function detailWords({ detail }: StoredEvent): string | undefined {
  const words = Object.entries(detail)
    .filter(([, value]) => value !== null && value !== undefined && value !== false && value !== "")
    .map(([name, value]) => `${MEMBERS[name] ?? name}: ${valueWords(name, value)}`);
  return words.length === 0 ? undefined : cut(words.join(" · "));
}

function valueWords(name: string, value: unknown): string {
  if (value === true) return "yes";
  if (typeof value === "number") return /At$/.test(name) && isInstant(value) ? utcText(value) : String(value);
  if (typeof value === "string")
    return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value) && !Number.isNaN(Date.parse(value))
      ? utcText(Date.parse(value))
      : /^\d{4}-\d{2}-\d{2}$/.test(value)
        ? dayText(value)
        : value;
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map((one) => valueWords("", one)).join(", ");
  return JSON.stringify(value);
}

const cut = (text: string) => (text.length > MAX_CHARS ? `${text.slice(0, MAX_CHARS)}…` : text);

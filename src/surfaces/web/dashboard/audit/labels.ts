import type { Core } from "../../../../core.ts";
import { type Content, html } from "../../../../kit/html.ts";
import type { StoredEvent } from "../../../../platform/audit/audit.ts";
import { auditActions } from "../../../../platform/rooms/rooms.ts";
import { dayText, isInstant, utcText } from "../../ui/units.ts";

/** Events in words: what was done to what, and the detail that matters. */

/** The actions to filter by, in the words of the page: of a team only what can happen in one. */
export const actionOptions = (core: Core, all: boolean) =>
  Object.entries(auditActions(core))
    .filter(([, { beyondTeams }]) => all || !beyondTeams)
    .map(([value, { label }]) => ({ value, label }))
    .sort((a, b) => a.label.localeCompare(b.label, "en"));

export const isAction = (core: Core, text: string): boolean => Object.hasOwn(auditActions(core), text);

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

/** Digests, which are for machines. */
const HIDDEN: ReadonlySet<string> = new Set(["chain", "hashes"]);

const MAX_CHARS = 300;

/** `Revoked the device build-7`, without the actor. */
export function whatWasDone(core: Core, { action, targetLabel, targetId }: StoredEvent): Content {
  const known = isAction(core, action) ? auditActions(core)[action] : undefined;
  const did = known ? known.did : html`<code>${action}</code>`;
  const target =
    targetLabel ?? (known && !/ (?:of|for|as|to|from|device|team|token|account)$/.test(known.did) ? null : targetId);
  return target === null || target === "" ? did : html`${did} <strong>${target.slice(0, MAX_CHARS)}</strong>`;
}

/** The detail as `seats: 12 · tier: team`; undefined for none. */
export function detailWords({ detail }: StoredEvent): string | undefined {
  const words = Object.entries(detail)
    .filter(
      ([name, value]) =>
        !HIDDEN.has(name) &&
        !isDigest(name, value) &&
        value !== null &&
        value !== undefined &&
        value !== false &&
        value !== "",
    )
    .map(([name, value]) => `${MEMBERS[name] ?? name}: ${valueWords(name, value)}`);
  return words.length === 0 ? undefined : cut(words.join(" · "));
}

const isDigest = (name: string, value: unknown) => name === "target" && /^[0-9a-f]{64}$/.test(String(value));

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

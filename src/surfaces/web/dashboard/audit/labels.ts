import type { Core } from "../../../../core.ts";
import { findDeviceOf } from "../../../../identity/devices/devices.ts";
import { findMember } from "../../../../identity/members/members.ts";
import { findUser } from "../../../../identity/people/people.ts";
import { findTeam } from "../../../../identity/teams/teams.ts";
import { standingOfClass } from "../../../../insight/triage/triage.ts";
import { type Content, html } from "../../../../kit/html.ts";
import { beginning } from "../../../../kit/strings.ts";
import type { StoredEvent } from "../../../../platform/audit/audit.ts";
import { auditActions } from "../../../../platform/rooms/rooms.ts";
import { briefDuration, dayText, isInstant, utcText } from "../../ui/units.ts";
import type { Person } from "../shared/call.ts";

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
  deviceId: "device",
  repoKey: "repository",
  bindsForMs: "bound for",
  firstDay: "from",
  lastDay: "until",
};

/** Digests, which are for machines. */
const HIDDEN: ReadonlySet<string> = new Set(["chain", "hashes"]);

const MAX_CHARS = 300;

/** `Revoked the device build-7`, without the actor; devices and errors lead to their pages. */
export function whatWasDone(call: Person, event: StoredEvent): Content {
  const { core } = call;
  const { action, teamId, targetKind, targetLabel, targetId } = event;
  const known = isAction(core, action) ? auditActions(core)[action] : undefined;
  const did = known ? known.did : html`<code>${action}</code>`;
  const target =
    targetLabel ?? (known && !/ (?:of|for|as|to|from|device|team|token|account)$/.test(known.did) ? null : targetId);
  if (target === null || target === "") return did;
  const now = targetKind === "user" ? nowCalled(core, teamId, targetId, targetLabel) : null;
  const page = pageOf(call, event);
  const name = html`<strong><bdi>${target.slice(0, MAX_CHARS)}</bdi></strong>`;
  return html`${did} ${page ? html`<a href="${page}">${name}</a>` : name}${now && ` (${now})`}`;
}

/** The page of what an event of this team is about, where it has one still. */
function pageOf({ core, session, href }: Person, { teamId, targetKind, targetId }: StoredEvent): string | undefined {
  if (teamId === null || teamId !== session.team?.id || targetId === null) return undefined;
  if (targetKind === "device" && findDeviceOf(core, teamId, targetId)) return href(`/devices/${targetId}`);
  if (targetKind === "error" && standingOfClass(core, teamId, targetId)) return href(`/errors/classes/${targetId}`);
  return undefined;
}

/** The address that a person has now, where it is another than the event's: that one may be somebody else's by now. */
export function nowCalled(core: Core, teamId: string | null, id: string | null, label: string | null): string | null {
  const email = id === null ? undefined : nameOf(core, teamId, id);
  return email === undefined || email === label ? null : `now ${email}`;
}

/** The detail as `seats: 12 · tier: team`, people, devices and the team by their names; undefined for none. */
export function detailWords(core: Core, { detail, teamId }: StoredEvent): string | undefined {
  const words = partsOf(detail, (id) => nameOf(core, teamId, id)).map(({ label, value }) => `${label}: ${value}`);
  return words.length === 0 ? undefined : cut(words.join(" · "));
}

/** How something of the event's team is called by now. */
function nameOf(core: Core, teamId: string | null, id: string): string | undefined {
  // Only operators see events that belong to no team.
  if (teamId === null) return id.startsWith("usr_") ? findUser(core, id)?.email : undefined;
  if (id.startsWith("usr_")) return findMember(core, teamId, id)?.email;
  if (id.startsWith("dev_")) return findDeviceOf(core, teamId, id)?.label ?? undefined;
  return id === teamId ? findTeam(core, id)?.name : undefined;
}

type Naming = (id: string) => string | undefined;

/** The members of an object in words. Empty and false ones are left out. */
const partsOf = (parts: object, naming: Naming) =>
  Object.entries(parts)
    .filter(([name, value]) => !HIDDEN.has(name) && !isDigest(name, value) && (value ?? "") !== "" && value !== false)
    .map(([name, value]) => ({ label: labelOf(name, value), value: valueWords(name, value, naming) }));

const DATE = /^\d{4}-\d{2}-\d{2}$/;

/** What a member of an event's detail is called. `from` and `to` usually are the values before and after; days, as of a budget, are a span. */
function labelOf(name: string, value: unknown): string {
  const day = typeof value === "string" && DATE.test(value) && { from: "firstDay", to: "lastDay" }[name];
  return MEMBERS[day || name] ?? spaced(name);
}

/** `brainFiles` as `brain files`. */
const spaced = (name: string) => name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

const isDigest = (name: string, value: unknown) => name === "target" && /^[0-9a-f]{64}$/.test(String(value));

function valueWords(name: string, value: unknown, naming: Naming): string {
  if (value === true) return "yes";
  if (typeof value === "number") {
    if (/Ms$/.test(name)) return briefDuration(value);
    return /At$/.test(name) && isInstant(value) ? utcText(value) : String(value);
  }
  if (typeof value === "string")
    return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(value) && !Number.isNaN(Date.parse(value))
      ? utcText(Date.parse(value))
      : DATE.test(value)
        ? dayText(value)
        : (naming(value) ?? value);
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((one) => valueWords("", one, naming)).join(", ");
  const parts = partsOf(value as object, naming).filter(({ value: words }) => words !== "none");
  const words = parts.map((part) => `${part.label} ${part.value}`).join(", ");
  // A scope that narrows nothing.
  return words || (name === "scope" ? "everything" : "none");
}

const cut = (text: string) => (text.length > MAX_CHARS ? `${beginning(text, MAX_CHARS)}…` : text);

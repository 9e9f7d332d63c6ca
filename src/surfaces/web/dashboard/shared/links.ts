import type { Kind as BrainKind } from "../../../../formats/brain-kinds.ts";
import { findDeviceOf } from "../../../../identity/devices/devices.ts";
import { visible } from "../../../../kit/escape-invisible.ts";
import { attributes, type Content, type Html, html } from "../../../../kit/html.ts";
import { fail, notFound } from "../../../../kit/problem.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { anchor, badge, type Kind } from "../../ui/parts.ts";
import { isAdmin, type Member } from "./call.ts";
import { short } from "./text.ts";

/** How repositories, devices and files are named and addressed. The names of repositories and files are agents' own strings. */

export type Query = Readonly<Record<string, string | number | undefined>>;

/** An address with a query; members without a value are left out, an empty repository's key is kept. */
export function link({ href }: Pick<PageCall, "href">, path: `/${string}`, query: Query): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) search.set(name, String(value));
  return href(search.size === 0 ? path : `${path}?${search}`);
}

/** The filters that are set, for an address; empty ones are left out. */
export const setOf = (query: Query): Query =>
  Object.fromEntries(Object.entries(query).filter(([, value]) => value !== ""));

/** The repository that a page is about. @throws Problem 404 when the address names none */
export function repoOf(call: Member): string {
  const repo = call.query.get("repo");
  if (repo === null) fail(notFound, "This address names no repository. Choose one from the list of the brain.");
  return repo;
}

/** How a repository is called. */
export const repoName = (repoKey: string) => (repoKey === "" ? "no repository named" : visible(repoKey));

/** Stands for the empty key where an empty value means "all": no key can hold a control character. */
const NO_REPO_VALUE = "\t";

/** The key that stands in an address; undefined for all. */
export const repoKeyIn = (value: string): string | undefined => (value === NO_REPO_VALUE ? "" : value || undefined);

/** How an address names a repository, also the one without a name; `repoKeyIn` reads it. */
export const repoValue = (repoKey: string): string => (repoKey === "" ? NO_REPO_VALUE : repoKey);

/** Repositories to choose from. */
export const repoOptions = (repoKeys: Iterable<string>) =>
  Array.from(repoKeys, (key) => ({ value: repoValue(key), label: repoName(key) }));

const MAX_REPO_CHARS = 60;

/** A repository's name where room is short: without the host that it lies at, as long as something is left. */
export const repoShort = (repoKey: string): string =>
  short(repoName(repoKey).replace(/^[\w-]+(?:\.[\w-]+)+\/(?=.)/, ""), MAX_REPO_CHARS);

/**
 * Names of repositories in rows of a dense table. Where there is little room only the last part is shown, because it comes after the owner
 * and would be cut; unless another one that is shown has the same last part.
 * @param repoKeys of all rows
 */
export function repoNames(repoKeys: Iterable<string>): (repoKey: string) => Content {
  const lastOf = (name: string) => name.slice(name.lastIndexOf("/") + 1);
  const names = [...new Set(Array.from(repoKeys, repoShort))];
  return (repoKey) => {
    const name = repoShort(repoKey);
    const last = lastOf(name);
    if (last === name || names.filter((other) => lastOf(other) === last).length > 1) return name;
    return html`<span class="aside">${name.slice(0, -last.length)}</span>${last}`;
  };
}

const OVERVIEW = "/repositories/overview";

/** The page of a repository, or its list of sessions for those who may not open that page. */
export const repoPage = (call: Pick<PageCall, "href" | "opens">, repoKey: string): string =>
  link(call, call.opens("GET", OVERVIEW) ? OVERVIEW : "/sessions", { repo: repoValue(repoKey) });

/** A repository's name, which leads to its page. @param name how it is called there */
export const repoLink = (
  call: Pick<PageCall, "href" | "opens">,
  repoKey: string,
  name: Content = short(repoName(repoKey), MAX_REPO_CHARS),
): Html =>
  html`<a${attributes({ href: repoPage(call, repoKey), title: name === repoName(repoKey) ? undefined : repoKey })}>${name}</a>`;

/** The list of a repository's sessions, narrowed to those whose record holds a text. */
export const sessionsOf = (call: Member, repoKey: string, text?: string): string =>
  link(call, "/sessions", { repo: repoValue(repoKey), q: text });

/** How a device is called. */
export const deviceName = ({ deviceLabel, deviceId }: { deviceLabel: string | null; deviceId: string }) =>
  deviceLabel ?? deviceId;

/** A device's name, which leads to its page for whoever may open that: owners, admins and the device's owner. */
export function deviceLink(call: Member, device: { deviceLabel: string | null; deviceId: string }): Html {
  const { core, session, href } = call;
  const opens = isAdmin(call) || findDeviceOf(core, session.team.id, device.deviceId)?.personId === session.userId;
  const name = deviceName(device);
  return opens ? anchor(href(`/devices/${device.deviceId}`), name) : html`${name}`;
}

const KIND_LOOKS: Readonly<Record<BrainKind, readonly [Kind, string]>> = {
  error: ["bad", "errors"],
  security: ["warn", "security"],
  "anti-pattern": ["warn", "anti-patterns"],
  decision: ["good", "decisions"],
  session: ["info", "sessions"],
  note: ["neutral", "notes"],
};

/** What a kind of file is called. */
export const kindName = (kind: BrainKind) => KIND_LOOKS[kind][1];

export const kindBadge = (kind: BrainKind): Html => badge(KIND_LOOKS[kind][0], kind);

/** A path with its folders held back. */
export function pathText(path: string): Html {
  const at = path.lastIndexOf("/") + 1;
  return html`<span class="mono">${at > 0 && html`<span class="muted">${path.slice(0, at)}</span>`}${path.slice(at)}</span>`;
}

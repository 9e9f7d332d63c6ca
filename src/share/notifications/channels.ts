import type { Core } from "../../core.ts";
import { readEmail } from "../../identity/people/people.ts";
import { DAY_MS } from "../../kit/clock.ts";
import { MAX_ERASED_ROWS } from "../../kit/erase-steps.ts";
import { newId } from "../../kit/ids.ts";
import { conflict, fail, invalid, notFound } from "../../kit/problem.ts";
import { readName } from "../../kit/read-name.ts";
import { type Actor, recordEvent } from "../../platform/audit/audit.ts";
import { NOTICE_TYPES, type NoticeName } from "../../platform/notices/notices.ts";
import { redactText } from "../../redact/redact.ts";
import { spellSecret } from "./formats.ts";
import { type ChannelRow, rows } from "./rows.ts";

const MAX_CHANNELS = 20;
const MAX_NAME_CHARS = 100;
const MAX_URL_CHARS = 2_000;
const MAX_ADDRESSES = 20;
const SECRET_BYTES = 32;

/** Somebody who hears of things, and of which. */
export interface Channel extends Omit<ChannelRow, "target" | "events" | "secret" | "previousSecret"> {
  /** A URL; or addresses for mail. What is behind a URL's host may be a secret. */
  readonly target: string;
  readonly addresses: readonly string[];
  readonly events: readonly NoticeName[];
}

/** A channel without its secrets. */
export const channelOf = ({ secret: _, previousSecret: __, ...row }: ChannelRow): Channel => ({
  ...row,
  addresses: row.kind === "mail" ? (JSON.parse(row.target) as string[]) : [],
  events: JSON.parse(row.events) as NoticeName[],
});

/** A channel's target without what may be a secret. */
export function targetShown({ kind, target, addresses }: Channel): string {
  if (kind === "mail") return addresses.join(", ");
  const { protocol, host, pathname, search } = new URL(target);
  if (kind === "webhook") return `${protocol}//${host}${pathname}${search === "" ? "" : "?…"}`;
  return `${protocol}//${host}/…`;
}

/** The types that a channel may choose. @param teamId null for one of the installation */
export const eventsFor = (teamId: string | null): NoticeName[] =>
  (Object.keys(NOTICE_TYPES) as NoticeName[]).filter(
    (name) => name !== "test" && (teamId === null || NOTICE_TYPES[name].audience === "team"),
  );

export interface NewChannel extends Pick<ChannelRow, "teamId" | "kind" | "name"> {
  /** A URL, or addresses with commas or spaces between them. */
  readonly target: string;
  readonly events: readonly string[];
}

/** A channel that was made, with what it is signed with: shown once. */
export interface MadeChannel {
  readonly channel: Channel;
  /** Null where nothing is signed. */
  readonly secret: string | null;
}

/** Makes a channel. @throws Problem when a part of it will not do */
export async function createChannel(core: Core, typed: NewChannel, by: Actor): Promise<MadeChannel> {
  const { teamId, kind } = typed;
  const row = {
    id: newId("chn", core.clock, core.random),
    teamId,
    kind,
    name: redactText(readName(typed.name, "A channel's", MAX_NAME_CHARS)).text,
    target: kind === "mail" ? JSON.stringify(readAddresses(typed.target)) : readUrl(typed.target),
    events: JSON.stringify(readEvents(teamId, typed.events)),
    secret: kind === "webhook" ? spellSecret(core.random(SECRET_BYTES)) : null,
    createdAt: core.clock.now(),
  };
  return core.store.write(() => {
    const sql = rows(core.store);
    if (sql.ofTeam.all(teamId).length >= MAX_CHANNELS)
      fail(conflict, `There are ${MAX_CHANNELS} channels: remove one first.`);
    sql.insertChannel.run(row);
    const channel = getChannel(core, row.id);
    record(core, by, "channel.created", channel, { kind, to: targetShown(channel), events: channel.events });
    return { channel, secret: row.secret };
  });
}

function readUrl(typed: string): string {
  const text = typed.trim();
  const url = text.length <= MAX_URL_CHARS && URL.canParse(text) ? new URL(text) : undefined;
  if (!url || !["https:", "http:"].includes(url.protocol) || url.username !== "" || url.password !== "")
    fail(invalid, "The URL has to be one such as https://hooks.example.com/path, without a user name.");
  return url.href;
}

function readAddresses(typed: string): string[] {
  const addresses = [
    ...new Set(
      typed
        .split(/[\s,;]+/)
        .filter(Boolean)
        .map(readEmail),
    ),
  ];
  if (addresses.length === 0 || addresses.length > MAX_ADDRESSES)
    fail(invalid, `Name 1 to ${MAX_ADDRESSES} e-mail addresses.`);
  return addresses;
}

function readEvents(teamId: string | null, typed: readonly string[]): NoticeName[] {
  const known = eventsFor(teamId);
  const strange = typed.find((name) => !known.some((one) => one === name));
  if (strange !== undefined)
    fail(invalid, `There is no event "${strange.slice(0, 60)}" here, but ${known.join(", ")}.`);
  if (typed.length === 0) fail(invalid, "Choose one event at least.");
  return known.filter((name) => typed.includes(name));
}

/** Channels, oldest first. @param teamId null for those of the installation, undefined for all */
export const listChannels = (core: Core, teamId?: string | null): Channel[] =>
  (teamId === undefined ? rows(core.store).channels.all() : rows(core.store).ofTeam.all(teamId)).map(channelOf);

/** @param teamId whose it must be; null for the installation's, undefined for anybody's. @throws Problem 404 */
export function getChannel(core: Core, id: string, teamId?: string | null): Channel {
  return channelOf(getRow(core, id, teamId));
}

/** A channel with its secrets. @param teamId whose it must be, null for the installation; anybody's without it @throws Problem 404 */
export function getRow(core: Core, id: string, teamId?: string | null): ChannelRow {
  const row = rows(core.store).channel.get(id);
  if (!row || (teamId !== undefined && row.teamId !== teamId)) fail(notFound, "There is no such channel.");
  return row;
}

/** Row change: keeps for the audit what somebody did with a channel. */
export function record(
  core: Core,
  by: Actor,
  action: string,
  { id, teamId, name }: Channel,
  detail: object = {},
): void {
  recordEvent(core, by, { action, teamId, target: { kind: "channel", id, label: name }, detail: { ...detail } });
}

/** Who acts on which channel. */
interface Act {
  readonly id: string;
  /** Whose it must be, as for `getChannel`. */
  readonly teamId?: string | null | undefined;
  readonly by: Actor;
}

/** Chooses other events. @returns false when these were chosen before */
export function chooseEvents(core: Core, { id, teamId, by }: Act, events: readonly string[]): Promise<boolean> {
  return core.store.write(() => {
    const channel = getChannel(core, id, teamId);
    const chosen = readEvents(channel.teamId, events);
    if (JSON.stringify(chosen) === JSON.stringify(channel.events)) return false;
    rows(core.store).setEvents.run(JSON.stringify(chosen), id);
    record(core, by, "channel.changed", channel, { events: chosen });
    return true;
  });
}

/** Stops sending to a channel, or begins again. What waits is not sent after a pause. @returns false when it was so before */
export async function pauseChannel(core: Core, { id, teamId, by }: Act, paused: boolean): Promise<boolean> {
  const isChanged = await core.store.write(() => {
    const channel = getChannel(core, id, teamId);
    if ((channel.disabledAt !== null) === paused) return false;
    disable(core, channel, paused ? "paused" : null);
    record(core, by, paused ? "channel.paused" : "channel.resumed", channel);
    return true;
  });
  if (isChanged && paused) await giveUp(core, id, "paused");
  return isChanged;
}

/** Row change; what waits is given up after it. @param because null for one that is sent to again */
export const disable = (core: Core, { id }: Channel, because: ChannelRow["disabledBecause"]): unknown =>
  rows(core.store).disable.run(because === null ? null : core.clock.now(), because, id);

/** Why a message is not sent. */
export const GIVEN_UP = {
  paused: "the channel was paused",
  gone: "410: the receiver is gone",
  removed: "the channel was removed",
} as const;

/** Gives up what waits, which may be very much: others are let in between. */
export async function giveUp({ store }: Core, id: string, because: keyof typeof GIVEN_UP): Promise<void> {
  const some = () => rows(store).giveUp.run(GIVEN_UP[because], id, MAX_ERASED_ROWS).changes;
  while ((await store.write(some)) === MAX_ERASED_ROWS);
}

/** For so long what a secret replaced signs too. */
const ROTATION_MS = DAY_MS;
/** Each makes the header longer. */
const MAX_PREVIOUS = 3;

/** What a webhook was signed with in the last day, newest first: whoever replaced a secret again may have put none of them in place. */
export const previousSecrets = ({ previousSecret, rotatedAt }: ChannelRow, now: number): string[] =>
  previousSecret !== null && rotatedAt !== null && now - rotatedAt < ROTATION_MS ? previousSecret.split(" ") : [];

/**
 * Gives a webhook another secret; those before sign too for a day.
 * @returns the secret, shown once
 * @throws Problem where nothing is signed
 */
export function rotateSecret(core: Core, { id, teamId, by }: Act): Promise<string> {
  const secret = spellSecret(core.random(SECRET_BYTES));
  return core.store.write(() => {
    const row = getRow(core, id, teamId);
    if (row.secret === null) fail(conflict, "Only webhooks are signed.");
    const now = core.clock.now();
    const previous = [row.secret, ...previousSecrets(row, now)].slice(0, MAX_PREVIOUS).join(" ");
    rows(core.store).rotate.run({ id, secret, previous, now });
    record(core, by, "channel.rotated", channelOf(row));
    return secret;
  });
}

/** Removes a channel; what waits is not sent. @throws Problem 404 */
export async function removeChannel(core: Core, { id, teamId, by }: Act): Promise<void> {
  await core.store.write(() => {
    const channel = getChannel(core, id, teamId);
    rows(core.store).remove.run(core.clock.now(), id);
    record(core, by, "channel.removed", channel, { kind: channel.kind, to: targetShown(channel) });
  });
  await giveUp(core, id, "removed");
}

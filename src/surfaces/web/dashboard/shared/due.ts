import type { Team } from "../../../../identity/teams/teams.ts";
import type { PageCall } from "../../../../platform/http/page.ts";
import { NOTICE_TYPES } from "../../../../platform/notices/notices.ts";
import type { Concern } from "../../../../platform/rooms/rooms.ts";
import { dueNow } from "../../../../share/alarms/alarms.ts";
import { linesOf } from "../../../../share/notifications/notifications.ts";

/**
 * What is due soon, such as tokens that expire, worded as notifications word it.
 * @param team null for the installation
 * @param path of the page that deals with it
 */
export function dueConcerns({ core, href }: PageCall, team: Team | null, path: string): Concern[] {
  const due = dueNow(core, team).filter((notice) => notice.path === path);
  return due.map((notice) => ({
    kind: notice.type === "disk.low" ? "bad" : "warn",
    what: NOTICE_TYPES[notice.type].label,
    title: linesOf(core, notice).join(" "),
    href: href(path),
    at: null,
  }));
}

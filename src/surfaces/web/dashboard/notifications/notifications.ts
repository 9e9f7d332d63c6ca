import type { Html } from "../../../../kit/html.ts";
import { type Page, type PageCall, type PageReply, page, redirect } from "../../../../platform/http/page.ts";
import { addChannel, listPage } from "./list.ts";
import { again, changeEvents, channelPage, pause, remove, rotate, test } from "./one.ts";
import { type Call, installationScope, type Scope, teamScope } from "./scope.ts";

/** Notifications: of a team for its owners and admins, and of the installation for who runs it. */

type Handler = (call: Call, scope: Scope) => Html | PageReply | Promise<Html | PageReply>;

const HANDLERS: readonly (readonly [id: string, method: "GET" | "POST", path: `/${string}` | "", handler: Handler])[] =
  [
    ["Channels", "GET", "", (call, scope) => listPage(call, scope)],
    ["AddChannel", "POST", "", addChannel],
    ["Channel", "GET", "/:id", (call, scope) => channelPage(call, scope)],
    ["ChannelEvents", "POST", "/:id/events", changeEvents],
    // The page that a form led to is shown once: whoever opens its address again is sent to the channel.
    ["TestedChannel", "GET", "/:id/test", (call, { base }) => redirect(`${base}/${call.params.id}`)],
    ["TestChannel", "POST", "/:id/test", test],
    ["RotatedChannel", "GET", "/:id/rotate", (call, { base }) => redirect(`${base}/${call.params.id}`)],
    ["RotateChannel", "POST", "/:id/rotate", rotate],
    ["PauseChannel", "POST", "/:id/pause", pause],
    ["RemoveChannel", "POST", "/:id/remove", remove],
    ["SendAgain", "POST", "/:id/again", again],
  ];

const ofTeam = ([id, method, path, handler]: (typeof HANDLERS)[number]): Page =>
  page({ id: `team${id}`, method, path: `/notifications${path}`, access: "admin" }, (call: PageCall<"admin">) =>
    handler(call, teamScope(call)),
  );

const ofInstallation = ([id, method, path, handler]: (typeof HANDLERS)[number]): Page =>
  page({ id: `installation${id}`, method, path: `/installation-notifications${path}`, access: "operator" }, (call) =>
    handler(call, installationScope()),
  );

export const notificationPages = HANDLERS.map(ofTeam);
export const installationNotificationPages = HANDLERS.map(ofInstallation);

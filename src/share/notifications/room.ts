import { figure } from "../../platform/metrics/metrics.ts";
import { room } from "../../platform/rooms/rooms.ts";
import { tries } from "./attempt.ts";
import { rows } from "./rows.ts";
import { sendingJob, stopSending } from "./send.ts";

export const notifications = room({
  name: "notifications",
  jobs: [sendingJob],
  close: stopSending,
  auditActions: {
    "channel.created": { label: "Notification channel added", did: "added the notification channel" },
    "channel.changed": { label: "Notification channel changed", did: "changed the events of the notification channel" },
    "channel.paused": { label: "Notification channel paused", did: "paused the notification channel" },
    "channel.resumed": { label: "Notification channel resumed", did: "resumed the notification channel" },
    "channel.rotated": { label: "Webhook secret rotated", did: "rotated the secret of the notification channel" },
    "channel.tested": { label: "Notification test sent", did: "sent a test to the notification channel" },
    "channel.resent": { label: "Notification sent again", did: "sent something again to the notification channel" },
    "channel.disabled": {
      label: "Notification channel ended",
      did: "was told (410) of the end of the notification channel",
    },
    "channel.removed": { label: "Notification channel removed", did: "removed the notification channel" },
  },
  metrics: [
    tries,
    figure(
      "gauge",
      "reckon_notifications_waiting",
      "Messages that wait to be sent, or to be tried again.",
      ({ store }) => rows(store).waiting.get(),
    ),
  ],
});

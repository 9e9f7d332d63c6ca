/**
 * Notifications: who outside hears of what happens, by webhook, chat or mail, and what became of each message.
 * Not here: what there is to hear of (notices), conditions that are watched (alarms), the way out (outbound).
 */
export { type Outcome, testChannel } from "./attempt.ts";
export {
  type Channel,
  chooseEvents,
  createChannel,
  eventsFor,
  getChannel,
  listChannels,
  pauseChannel,
  removeChannel,
  rotateSecret,
  targetShown,
} from "./channels.ts";
export { eraseAddress } from "./erase.ts";
export { type Message, messagesOf, sendAgain } from "./messages.ts";
export { obstacleOf } from "./obstacle.ts";
export { CHANNEL_KINDS } from "./rows.ts";
export { linesOf } from "./words.ts";

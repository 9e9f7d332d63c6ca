/**
 * Notices: events that somebody outside may want to hear of, stored in the transaction in which they happen.
 * Not here: the channels that they go to (notifications); what the audit keeps.
 */

export { dropNoticesBefore, findNotices, isNoted, markAddressed, newNotices } from "./follow.ts";
export { eraseNotices, eraseNoticesOfPages, type Notice, notify, type StoredNotice } from "./notify.ts";
export { NOTICE_TYPES, type NoticeData, type NoticeName } from "./types.ts";

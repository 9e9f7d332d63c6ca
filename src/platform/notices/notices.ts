/**
 * Notices: what happened that somebody outside may want to hear of, noted in the transaction in which it happens.
 * Not here: who hears of it and how (notifications); what the audit keeps.
 */

export { dropNoticesBefore, findNotices, isNoted, markAddressed, newNotices } from "./follow.ts";
export { eraseNotices, eraseNoticesOfPages, type Notice, notify, type StoredNotice } from "./notify.ts";
export { NOTICE_TYPES, type NoticeData, type NoticeName } from "./types.ts";

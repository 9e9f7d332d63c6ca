/** What becomes of a request, in the usual order; any may follow any. */
export const STATUSES = ["received", "planned", "in_progress", "shipped", "declined"] as const;

export type Status = (typeof STATUSES)[number];

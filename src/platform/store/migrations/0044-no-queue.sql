-- Nothing was ever queued: jobs run at intervals.
DROP TABLE IF EXISTS outbox;

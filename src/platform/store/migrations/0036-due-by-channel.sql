-- Finds the messages due to a channel without a look at all its messages of a month.
DROP INDEX notification_messages_due;
CREATE INDEX notification_messages_due ON notification_messages (channel_id, due_at) WHERE due_at IS NOT NULL;

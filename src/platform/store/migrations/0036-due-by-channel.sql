-- What is due to a channel is found without a look at all that it was told in a month.
DROP INDEX notification_messages_due;
CREATE INDEX notification_messages_due ON notification_messages (channel_id, due_at) WHERE due_at IS NOT NULL;

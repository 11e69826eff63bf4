ALTER TABLE identity.outbox ADD COLUMN traceparent text;

CREATE INDEX CONCURRENTLY outbox_mails_expires_at_idx ON identity.outbox_mails (expires_at);

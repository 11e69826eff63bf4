-- Mails are dropped when their time is over instead of after a number of attempts, and sent in turns by the domain of the
-- recipient. The defaults are for mails of the previous release. Neither rewrites the table.
-- squawk-ignore adding-field-with-default
ALTER TABLE identity.outbox_mails ADD COLUMN recipient_domain text NOT NULL DEFAULT '';
-- squawk-ignore adding-field-with-default
ALTER TABLE identity.outbox_mails
  ADD COLUMN expires_at timestamptz(3) NOT NULL DEFAULT now() + interval '7 days';

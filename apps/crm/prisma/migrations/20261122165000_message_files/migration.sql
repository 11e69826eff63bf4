-- Files of messages, which the search finds by their names.

-- The view has all columns, and the search index is on one that is made again.
DROP VIEW tenant_rows.messages;
-- AlterTable
ALTER TABLE tenant_crm.messages
  ADD COLUMN "file_content_id" UUID,
  ADD COLUMN "file_name" TEXT,
  ADD COLUMN "file_size" BIGINT,
  ADD COLUMN "file_type" TEXT,
  ADD COLUMN "file_sha256" TEXT,
  ADD CONSTRAINT "messages_file_content_id_check"
    CHECK (num_nulls(file_content_id, file_name, file_size, file_type, file_sha256) IN (0, 5)),
  DROP COLUMN "search_text";
ALTER TABLE tenant_crm.messages ADD COLUMN "search_text" TEXT COLLATE "C"
  GENERATED ALWAYS AS (tenant_crm.search_text(ARRAY[body, file_name])) STORED;
SELECT tenant_crm.index_search('tenant_crm.messages');

ALTER TABLE tenant_crm.messages ADD CONSTRAINT messages_file_content_id_fkey
  FOREIGN KEY (tenant_id, file_content_id) REFERENCES tenant_crm.file_contents (tenant_id, id);
-- The messages that a content is used by.
CREATE INDEX messages_by_file ON tenant_crm.messages (tenant_id, file_content_id)
  WHERE file_content_id IS NOT NULL;
-- The replies in a channel.
CREATE INDEX messages_in_threads ON tenant_crm.messages (tenant_id, channel_id, position)
  WHERE thread_root_id IS NOT NULL AND deleted_at IS NULL;
SELECT tenant_crm.protect('tenant_crm.messages');

-- The events of one channel, for its streams.
CREATE INDEX chat_events_by_channel ON tenant_crm.chat_events (tenant_id, channel_id, position);

-- The stored responses to repeated requests that contain a message, whose text may be recalled.
CREATE INDEX idempotency_keys_by_message ON tenant_crm.idempotency_keys
  (tenant_id, (body #>> '{data,id}')) WHERE body #>> '{data,channel_id}' IS NOT NULL;

-- Chat: channels, their participants, their messages, and the events that are sent to open streams.

-- CreateTable
CREATE TABLE "tenant_crm"."channels" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "kind" TEXT NOT NULL,
    "name" TEXT,
    "topic" TEXT,
    "last_position" BIGINT NOT NULL DEFAULT 0,
    "last_event" BIGINT NOT NULL DEFAULT 0,
    "last_message_at" TIMESTAMPTZ(3),
    "direct_key" TEXT,
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[name, topic])
    ) STORED,

    CONSTRAINT "channels_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "channels_kind_check" CHECK (kind IN ('public', 'private', 'direct')),
    CONSTRAINT "channels_name_check" CHECK ((name IS NULL) = (kind = 'direct')),
    CONSTRAINT "channels_direct_key_check" CHECK ((direct_key IS NOT NULL) = (kind = 'direct'))
);

SELECT tenant_crm.distribute('tenant_crm.channels');

-- The same people have one direct channel.
CREATE UNIQUE INDEX channels_direct_key_key ON tenant_crm.channels (tenant_id, direct_key);
CREATE INDEX channels_by_name ON tenant_crm.channels (tenant_id, sort_name, id)
  WHERE deleted_at IS NULL;
CREATE INDEX channels_by_last_message ON tenant_crm.channels (tenant_id, last_message_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX channels_by_creation ON tenant_crm.channels (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX channels_by_change ON tenant_crm.channels (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX channels_by_kind ON tenant_crm.channels (tenant_id, kind, id)
  WHERE deleted_at IS NULL;

SELECT tenant_crm.index_search('tenant_crm.channels');
SELECT tenant_crm.protect('tenant_crm.channels');

-- CreateTable
CREATE TABLE "tenant_crm"."channel_participants" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "channel_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role" TEXT NOT NULL,

    CONSTRAINT "channel_participants_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "channel_participants_role_check" CHECK (role IN ('owner', 'member'))
);

SELECT tenant_crm.distribute('tenant_crm.channel_participants');

CREATE UNIQUE INDEX channel_participants_channel_id_user_id_key
  ON tenant_crm.channel_participants (tenant_id, channel_id, user_id);
CREATE INDEX channel_participants_by_creation
  ON tenant_crm.channel_participants (tenant_id, channel_id, created_at, id);
CREATE INDEX channel_participants_by_role
  ON tenant_crm.channel_participants (tenant_id, channel_id, role, id);
-- The channels of a user.
CREATE INDEX channel_participants_by_user
  ON tenant_crm.channel_participants (tenant_id, user_id, channel_id);

SELECT tenant_crm.refer('tenant_crm.channel_participants', 'channel_id', 'tenant_crm.channels');
SELECT tenant_crm.protect('tenant_crm.channel_participants');

-- CreateTable
CREATE TABLE "tenant_crm"."messages" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "channel_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,
    "body" TEXT,
    "author_type" TEXT NOT NULL,
    "user_id" UUID,
    "bot_id" UUID,
    "client_id" TEXT,
    "thread_root_id" UUID,
    "reply_count" INTEGER NOT NULL DEFAULT 0,
    "last_reply_at" TIMESTAMPTZ(3),
    "mentions" UUID[] NOT NULL DEFAULT '{}',
    "edited_at" TIMESTAMPTZ(3),
    "recalled_at" TIMESTAMPTZ(3),
    "pinned_at" TIMESTAMPTZ(3),
    "pinned_by" UUID,

    CONSTRAINT "messages_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "messages_author_type_check" CHECK (
      CASE author_type
        WHEN 'user' THEN user_id IS NOT NULL AND bot_id IS NULL AND client_id IS NULL
        WHEN 'bot' THEN bot_id IS NOT NULL AND user_id IS NULL AND client_id IS NULL
        WHEN 'client' THEN client_id IS NOT NULL AND user_id IS NULL AND bot_id IS NULL
        ELSE false
      END
    )
);

SELECT tenant_crm.distribute('tenant_crm.messages');

-- Positions have no gaps; deleted messages keep theirs.
CREATE UNIQUE INDEX messages_channel_id_position_key
  ON tenant_crm.messages (tenant_id, channel_id, position);
-- The messages of a channel without replies.
CREATE INDEX messages_outside_threads ON tenant_crm.messages (tenant_id, channel_id, position)
  WHERE thread_root_id IS NULL AND deleted_at IS NULL;
CREATE INDEX messages_by_thread ON tenant_crm.messages (tenant_id, thread_root_id, position)
  WHERE thread_root_id IS NOT NULL;
CREATE INDEX messages_pinned ON tenant_crm.messages (tenant_id, channel_id, position)
  WHERE pinned_at IS NOT NULL AND deleted_at IS NULL;

SELECT tenant_crm.keep_count('tenant_crm.messages', 'channel_id');
SELECT tenant_crm.refer('tenant_crm.messages', 'channel_id', 'tenant_crm.channels');
SELECT tenant_crm.refer('tenant_crm.messages', 'thread_root_id', 'tenant_crm.messages');
SELECT tenant_crm.protect('tenant_crm.messages');

-- What happened in a channel, for its streams. The transaction of the change adds the row while it holds the row of
-- the channel, which counts the events in last_event: numbers have no gaps and grow in the order of commits.
-- CreateTable
CREATE TABLE "tenant_crm"."chat_events" (
    "tenant_id" UUID NOT NULL,
    "channel_id" UUID NOT NULL,
    "number" BIGINT NOT NULL,
    "type" TEXT NOT NULL,
    -- Ids, never texts.
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chat_events_pkey" PRIMARY KEY ("tenant_id", "channel_id", "number")
);

SELECT tenant_crm.distribute('tenant_crm.chat_events');
SELECT tenant_crm.protect('tenant_crm.chat_events');

-- Bots, which write in channels with a token of their own.

-- CreateTable
CREATE TABLE "tenant_crm"."bots" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "name" TEXT NOT NULL,
    "description" TEXT,
    "token_hash" TEXT NOT NULL,
    "sort_name" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(name), 200)) STORED,

    CONSTRAINT "bots_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.bots');

CREATE INDEX bots_by_name ON tenant_crm.bots (tenant_id, sort_name, id) WHERE deleted_at IS NULL;
CREATE INDEX bots_by_creation ON tenant_crm.bots (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX bots_by_change ON tenant_crm.bots (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;

SELECT tenant_crm.keep_count('tenant_crm.bots');
SELECT tenant_crm.protect('tenant_crm.bots');

-- CreateTable
CREATE TABLE "tenant_crm"."channel_bots" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "channel_id" UUID NOT NULL,
    "bot_id" UUID NOT NULL,

    CONSTRAINT "channel_bots_pkey" PRIMARY KEY ("tenant_id", "id")
);

SELECT tenant_crm.distribute('tenant_crm.channel_bots');

CREATE UNIQUE INDEX channel_bots_channel_id_bot_id_key
  ON tenant_crm.channel_bots (tenant_id, channel_id, bot_id);
CREATE INDEX channel_bots_by_creation
  ON tenant_crm.channel_bots (tenant_id, channel_id, created_at, id);
-- The channels of a bot.
CREATE INDEX channel_bots_by_bot ON tenant_crm.channel_bots (tenant_id, bot_id, channel_id);

SELECT tenant_crm.refer('tenant_crm.channel_bots', 'channel_id', 'tenant_crm.channels');
SELECT tenant_crm.refer('tenant_crm.channel_bots', 'bot_id', 'tenant_crm.bots');
SELECT tenant_crm.protect('tenant_crm.channel_bots');

SELECT tenant_crm.refer('tenant_crm.messages', 'bot_id', 'tenant_crm.bots');

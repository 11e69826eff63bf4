-- The users that messages mention, and the reactions to messages.

-- CreateTable
CREATE TABLE "tenant_crm"."message_mentions" (
    "tenant_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "channel_id" UUID NOT NULL,
    "position" BIGINT NOT NULL,

    CONSTRAINT "message_mentions_pkey" PRIMARY KEY ("tenant_id", "message_id", "user_id")
);

SELECT tenant_crm.distribute('tenant_crm.message_mentions');

-- The mentions of a user in a channel, from a position on.
CREATE INDEX message_mentions_by_user
  ON tenant_crm.message_mentions (tenant_id, user_id, channel_id, position);

SELECT tenant_crm.refer('tenant_crm.message_mentions', 'message_id', 'tenant_crm.messages');
SELECT tenant_crm.protect('tenant_crm.message_mentions');

-- CreateTable
CREATE TABLE "tenant_crm"."message_reactions" (
    "tenant_id" UUID NOT NULL,
    "message_id" UUID NOT NULL,
    "emoji" TEXT COLLATE "C" NOT NULL,
    "user_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "message_reactions_pkey" PRIMARY KEY ("tenant_id", "message_id", "emoji", "user_id")
);

SELECT tenant_crm.distribute('tenant_crm.message_reactions');
SELECT tenant_crm.refer('tenant_crm.message_reactions', 'message_id', 'tenant_crm.messages');
SELECT tenant_crm.protect('tenant_crm.message_reactions');

-- Expiring links to drafts.

-- CreateTable
CREATE TABLE "tenant_crm"."kb_article_previews" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "kb_article_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "user_type" TEXT NOT NULL,
    "key_id" TEXT,

    CONSTRAINT "kb_article_previews_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "kb_article_previews_user_type_check" CHECK (user_type IN ('user', 'service_account'))
);

SELECT tenant_crm.distribute('tenant_crm.kb_article_previews');

CREATE INDEX kb_article_previews_by_creation
  ON tenant_crm.kb_article_previews (tenant_id, kb_article_id, created_at, id);
CREATE INDEX kb_article_previews_by_expiry
  ON tenant_crm.kb_article_previews (tenant_id, kb_article_id, expires_at, id);

SELECT tenant_crm.keep_count('tenant_crm.kb_article_previews', 'kb_article_id');
SELECT tenant_crm.refer('tenant_crm.kb_article_previews', 'kb_article_id', 'tenant_crm.kb_articles');
SELECT tenant_crm.protect('tenant_crm.kb_article_previews');

-- CreateTable
CREATE TABLE "tenant_crm"."blog_post_previews" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "blog_post_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "user_type" TEXT NOT NULL,
    "key_id" TEXT,

    CONSTRAINT "blog_post_previews_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "blog_post_previews_user_type_check" CHECK (user_type IN ('user', 'service_account'))
);

SELECT tenant_crm.distribute('tenant_crm.blog_post_previews');

CREATE INDEX blog_post_previews_by_creation
  ON tenant_crm.blog_post_previews (tenant_id, blog_post_id, created_at, id);
CREATE INDEX blog_post_previews_by_expiry
  ON tenant_crm.blog_post_previews (tenant_id, blog_post_id, expires_at, id);

SELECT tenant_crm.keep_count('tenant_crm.blog_post_previews', 'blog_post_id');
SELECT tenant_crm.refer('tenant_crm.blog_post_previews', 'blog_post_id', 'tenant_crm.blog_posts');
SELECT tenant_crm.protect('tenant_crm.blog_post_previews');

-- CreateTable
CREATE TABLE "tenant_crm"."page_previews" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "page_id" UUID NOT NULL,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "token_hash" TEXT NOT NULL,
    "user_id" UUID NOT NULL,
    "user_type" TEXT NOT NULL,
    "key_id" TEXT,

    CONSTRAINT "page_previews_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "page_previews_user_type_check" CHECK (user_type IN ('user', 'service_account'))
);

SELECT tenant_crm.distribute('tenant_crm.page_previews');

CREATE INDEX page_previews_by_creation
  ON tenant_crm.page_previews (tenant_id, page_id, created_at, id);
CREATE INDEX page_previews_by_expiry
  ON tenant_crm.page_previews (tenant_id, page_id, expires_at, id);

SELECT tenant_crm.keep_count('tenant_crm.page_previews', 'page_id');
SELECT tenant_crm.refer('tenant_crm.page_previews', 'page_id', 'tenant_crm.pages');
SELECT tenant_crm.protect('tenant_crm.page_previews');

-- Comments of knowledge-base articles.

-- CreateTable
CREATE TABLE "tenant_crm"."kb_article_comments" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "article_id" UUID NOT NULL,
    "parent_id" UUID,
    "thread_id" UUID,
    "body" TEXT NOT NULL,
    "body_html" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'visible',
    "author_type" TEXT NOT NULL,
    "user_id" UUID,
    "client_id" TEXT,
    "edited_at" TIMESTAMPTZ(3),
    "moderated_at" TIMESTAMPTZ(3),
    "moderated_by" UUID,
    -- The article, unless the comment is pending or hidden: the scope of the count that articles show.
    "visible_article_id" UUID GENERATED ALWAYS AS (CASE WHEN status = 'visible' THEN article_id END) STORED,

    CONSTRAINT "kb_article_comments_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "kb_article_comments_status_check" CHECK (status IN ('visible', 'pending', 'hidden')),
    CONSTRAINT "kb_article_comments_author_type_check" CHECK (author_type IN ('user', 'client'))
);

SELECT tenant_crm.distribute('tenant_crm.kb_article_comments');

-- Lists contain deleted comments that have replies.
CREATE INDEX kb_article_comments_by_creation
  ON tenant_crm.kb_article_comments (tenant_id, article_id, created_at, id);
CREATE INDEX kb_article_comments_by_status
  ON tenant_crm.kb_article_comments (tenant_id, article_id, status, created_at, id);
CREATE INDEX kb_article_comments_by_author
  ON tenant_crm.kb_article_comments (tenant_id, article_id, user_id, created_at, id);
CREATE INDEX kb_article_comments_by_beginning
  ON tenant_crm.kb_article_comments (tenant_id, article_id, created_at, id) WHERE thread_id IS NULL;
-- The comments of a thread; it is not a foreign key, since threads go on after their first comment is deleted.
CREATE INDEX kb_article_comments_by_thread
  ON tenant_crm.kb_article_comments (tenant_id, article_id, thread_id, created_at, id);
CREATE INDEX kb_article_comments_visible_replies
  ON tenant_crm.kb_article_comments (tenant_id, thread_id)
  WHERE status = 'visible' AND deleted_at IS NULL AND thread_id IS NOT NULL;
CREATE INDEX kb_article_comments_parent_id_fkey_idx
  ON tenant_crm.kb_article_comments (tenant_id, parent_id) WHERE parent_id IS NOT NULL;

-- The comments of all articles, for moderators.
CREATE INDEX kb_article_comments_moderated
  ON tenant_crm.kb_article_comments (tenant_id, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX kb_article_comments_moderated_by_status
  ON tenant_crm.kb_article_comments (tenant_id, status, created_at, id) WHERE deleted_at IS NULL;
CREATE INDEX kb_article_comments_moderated_by_author
  ON tenant_crm.kb_article_comments (tenant_id, user_id, created_at, id) WHERE deleted_at IS NULL;

SELECT tenant_crm.keep_count('tenant_crm.kb_article_comments', 'article_id', 'visible_article_id');
SELECT tenant_crm.refer('tenant_crm.kb_article_comments', 'article_id', 'tenant_crm.kb_articles');
SELECT tenant_crm.refer('tenant_crm.kb_article_comments', 'parent_id', 'tenant_crm.kb_article_comments');
SELECT tenant_crm.protect('tenant_crm.kb_article_comments');

-- Votes of readers on knowledge-base articles: one per person and article. Anonymous readers are identified by a hash
-- with a key that changes every day.

-- CreateTable
CREATE TABLE "tenant_crm"."kb_article_feedback" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "article_id" UUID NOT NULL,
    "user_id" UUID,
    "visitor_hash" TEXT,
    "is_helpful" BOOLEAN NOT NULL,
    "text" TEXT,
    "has_text" BOOLEAN NOT NULL GENERATED ALWAYS AS (text IS NOT NULL) STORED,
    -- The article, in the scope of the count that the vote belongs to.
    "helpful_article_id" UUID GENERATED ALWAYS AS (CASE WHEN is_helpful THEN article_id END) STORED,
    "not_helpful_article_id" UUID GENERATED ALWAYS AS (CASE WHEN NOT is_helpful THEN article_id END) STORED,

    CONSTRAINT "kb_article_feedback_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "kb_article_feedback_user_id_check" CHECK (num_nonnulls(user_id, visitor_hash) = 1)
);

SELECT tenant_crm.distribute('tenant_crm.kb_article_feedback');

CREATE UNIQUE INDEX kb_article_feedback_article_id_user_id_key
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, user_id);
CREATE UNIQUE INDEX kb_article_feedback_article_id_visitor_hash_key
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, visitor_hash);
CREATE INDEX kb_article_feedback_by_creation
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, created_at, id);
CREATE INDEX kb_article_feedback_by_change
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, updated_at, id);
CREATE INDEX kb_article_feedback_by_vote
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, is_helpful, updated_at, id);
CREATE INDEX kb_article_feedback_by_text
  ON tenant_crm.kb_article_feedback (tenant_id, article_id, has_text, updated_at, id);

SELECT tenant_crm.keep_count(
  'tenant_crm.kb_article_feedback', 'article_id', 'helpful_article_id', 'not_helpful_article_id'
);
SELECT tenant_crm.refer('tenant_crm.kb_article_feedback', 'article_id', 'tenant_crm.kb_articles');
SELECT tenant_crm.protect('tenant_crm.kb_article_feedback');

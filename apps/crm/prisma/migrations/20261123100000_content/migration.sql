-- Knowledge-base articles, blog posts and pages, and the slugs that they have and had.

-- CreateTable
CREATE TABLE "tenant_crm"."kb_articles" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "title" TEXT NOT NULL,
    -- Compared by byte, so that an index finds the slugs that begin with another one.
    "slug" TEXT COLLATE "C" NOT NULL,
    "slug_follows_title" BOOLEAN NOT NULL,
    "language" TEXT NOT NULL,
    "translation_group" UUID NOT NULL,
    "summary" TEXT,
    "body" TEXT NOT NULL,
    "body_html" TEXT NOT NULL,
    "body_text" TEXT NOT NULL,
    "word_count" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "published_at" TIMESTAMPTZ(3),
    "scheduled_at" TIMESTAMPTZ(3),
    "author_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "cover_document_id" UUID,
    "created_by" UUID,
    "sort_title" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(title), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[title, summary] || tags || ARRAY[body_text])
    ) STORED,

    CONSTRAINT "kb_articles_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "kb_articles_status_check" CHECK (status IN ('draft', 'scheduled', 'published', 'archived'))
);

SELECT tenant_crm.distribute('tenant_crm.kb_articles');

CREATE UNIQUE INDEX kb_articles_language_slug_key ON tenant_crm.kb_articles (tenant_id, language, slug)
  WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX kb_articles_translation_group_language_key
  ON tenant_crm.kb_articles (tenant_id, translation_group, language) WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_slug ON tenant_crm.kb_articles (tenant_id, slug)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_title ON tenant_crm.kb_articles (tenant_id, sort_title, id)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_publication ON tenant_crm.kb_articles (tenant_id, published_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_creation ON tenant_crm.kb_articles (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_change ON tenant_crm.kb_articles (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_status ON tenant_crm.kb_articles (tenant_id, status)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_language ON tenant_crm.kb_articles (tenant_id, language)
  WHERE deleted_at IS NULL;
CREATE INDEX kb_articles_by_creator ON tenant_crm.kb_articles (tenant_id, created_by)
  WHERE deleted_at IS NULL AND created_by IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.kb_articles', 'tags', 'author_ids');
SELECT tenant_crm.keep_count('tenant_crm.kb_articles');
SELECT tenant_crm.keep_tag_counts('tenant_crm.kb_articles');
SELECT tenant_crm.protect('tenant_crm.kb_articles');

-- CreateTable
CREATE TABLE "tenant_crm"."blog_posts" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "title" TEXT NOT NULL,
    -- Compared by byte, so that an index finds the slugs that begin with another one.
    "slug" TEXT COLLATE "C" NOT NULL,
    "slug_follows_title" BOOLEAN NOT NULL,
    "language" TEXT NOT NULL,
    "translation_group" UUID NOT NULL,
    "summary" TEXT,
    "body" TEXT NOT NULL,
    "body_html" TEXT NOT NULL,
    "body_text" TEXT NOT NULL,
    "word_count" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "published_at" TIMESTAMPTZ(3),
    "scheduled_at" TIMESTAMPTZ(3),
    "author_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "cover_document_id" UUID,
    "created_by" UUID,
    "sort_title" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(title), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[title, summary] || tags || ARRAY[body_text])
    ) STORED,

    CONSTRAINT "blog_posts_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "blog_posts_status_check" CHECK (status IN ('draft', 'scheduled', 'published', 'archived'))
);

SELECT tenant_crm.distribute('tenant_crm.blog_posts');

CREATE UNIQUE INDEX blog_posts_language_slug_key ON tenant_crm.blog_posts (tenant_id, language, slug)
  WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX blog_posts_translation_group_language_key
  ON tenant_crm.blog_posts (tenant_id, translation_group, language) WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_slug ON tenant_crm.blog_posts (tenant_id, slug)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_title ON tenant_crm.blog_posts (tenant_id, sort_title, id)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_publication ON tenant_crm.blog_posts (tenant_id, published_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_creation ON tenant_crm.blog_posts (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_change ON tenant_crm.blog_posts (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_status ON tenant_crm.blog_posts (tenant_id, status)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_language ON tenant_crm.blog_posts (tenant_id, language)
  WHERE deleted_at IS NULL;
CREATE INDEX blog_posts_by_creator ON tenant_crm.blog_posts (tenant_id, created_by)
  WHERE deleted_at IS NULL AND created_by IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.blog_posts', 'tags', 'author_ids');
SELECT tenant_crm.keep_count('tenant_crm.blog_posts');
SELECT tenant_crm.keep_tag_counts('tenant_crm.blog_posts');
SELECT tenant_crm.protect('tenant_crm.blog_posts');

-- CreateTable
CREATE TABLE "tenant_crm"."pages" (
    "id" UUID NOT NULL,
    "tenant_id" UUID NOT NULL,
    "version" INTEGER NOT NULL DEFAULT 1,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "deleted_at" TIMESTAMPTZ(3),
    "title" TEXT NOT NULL,
    -- Compared by byte, so that an index finds the slugs that begin with another one.
    "slug" TEXT COLLATE "C" NOT NULL,
    "slug_follows_title" BOOLEAN NOT NULL,
    "language" TEXT NOT NULL,
    "translation_group" UUID NOT NULL,
    "summary" TEXT,
    "body" TEXT NOT NULL,
    "body_html" TEXT NOT NULL,
    "body_text" TEXT NOT NULL,
    "word_count" INTEGER NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'draft',
    "published_at" TIMESTAMPTZ(3),
    "scheduled_at" TIMESTAMPTZ(3),
    "author_ids" UUID[] NOT NULL DEFAULT ARRAY[]::UUID[],
    "tags" TEXT[] NOT NULL DEFAULT ARRAY[]::TEXT[],
    "cover_document_id" UUID,
    "created_by" UUID,
    "parent_id" UUID,
    -- The place below the parent. Compared by byte, because the positions are made for that order.
    "position" TEXT COLLATE "C" NOT NULL,
    "deleted_with" UUID,
    "sort_title" TEXT COLLATE "C" GENERATED ALWAYS AS (left(tenant_crm.search_key(title), 200)) STORED,
    "search_text" TEXT COLLATE "C" GENERATED ALWAYS AS (
      tenant_crm.search_text(ARRAY[title, summary] || tags || ARRAY[body_text])
    ) STORED,

    CONSTRAINT "pages_pkey" PRIMARY KEY ("tenant_id", "id"),
    CONSTRAINT "pages_status_check" CHECK (status IN ('draft', 'scheduled', 'published', 'archived'))
);

SELECT tenant_crm.distribute('tenant_crm.pages');

CREATE UNIQUE INDEX pages_language_slug_key ON tenant_crm.pages (tenant_id, language, slug)
  WHERE deleted_at IS NULL;
CREATE UNIQUE INDEX pages_translation_group_language_key
  ON tenant_crm.pages (tenant_id, translation_group, language) WHERE deleted_at IS NULL;
CREATE INDEX pages_by_slug ON tenant_crm.pages (tenant_id, slug)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_title ON tenant_crm.pages (tenant_id, sort_title, id)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_publication ON tenant_crm.pages (tenant_id, published_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_creation ON tenant_crm.pages (tenant_id, created_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_change ON tenant_crm.pages (tenant_id, updated_at, id)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_status ON tenant_crm.pages (tenant_id, status)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_language ON tenant_crm.pages (tenant_id, language)
  WHERE deleted_at IS NULL;
CREATE INDEX pages_by_creator ON tenant_crm.pages (tenant_id, created_by)
  WHERE deleted_at IS NULL AND created_by IS NOT NULL;
CREATE INDEX pages_by_position ON tenant_crm.pages (tenant_id, position, id)
  WHERE deleted_at IS NULL;
-- The pages below a page in their order; no two are in one place.
CREATE UNIQUE INDEX pages_parent_id_position_key
  ON tenant_crm.pages (tenant_id, parent_id, position) NULLS NOT DISTINCT
  WHERE deleted_at IS NULL;
-- The pages below a page, deleted ones included.
CREATE INDEX pages_by_parent ON tenant_crm.pages (tenant_id, parent_id);
-- What was deleted together with a page.
CREATE INDEX pages_deleted_with ON tenant_crm.pages (tenant_id, deleted_with)
  WHERE deleted_with IS NOT NULL;

SELECT tenant_crm.index_search('tenant_crm.pages', 'tags', 'author_ids');
SELECT tenant_crm.keep_count('tenant_crm.pages');
SELECT tenant_crm.keep_tag_counts('tenant_crm.pages');
SELECT tenant_crm.refer('tenant_crm.pages', 'parent_id', 'tenant_crm.pages');
SELECT tenant_crm.protect('tenant_crm.pages');

-- CreateTable
CREATE TABLE "tenant_crm"."content_slugs" (
    "tenant_id" UUID NOT NULL,
    "slug" TEXT COLLATE "C" NOT NULL,
    "kind" TEXT NOT NULL,
    "language" TEXT NOT NULL,
    "record_id" UUID NOT NULL,
    "is_current" BOOLEAN NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "content_slugs_pkey" PRIMARY KEY ("tenant_id", "slug", "kind", "language", "record_id"),
    CONSTRAINT "content_slugs_kind_check" CHECK (kind IN ('kb_articles', 'blog_posts', 'pages'))
);

SELECT tenant_crm.distribute('tenant_crm.content_slugs');

-- The slug that a record has now.
CREATE INDEX content_slugs_by_record ON tenant_crm.content_slugs (tenant_id, record_id) WHERE is_current;

SELECT tenant_crm.protect('tenant_crm.content_slugs');

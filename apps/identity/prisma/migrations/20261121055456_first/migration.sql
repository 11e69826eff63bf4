-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "identity";

-- CreateTable
CREATE TABLE "identity"."users" (
    "id" UUID NOT NULL,
    "email" TEXT,
    "first_name" TEXT NOT NULL,
    "last_name" TEXT NOT NULL,
    "phone" TEXT,
    "avatar_url" TEXT,
    "timezone" TEXT NOT NULL DEFAULT 'UTC',
    "locale" TEXT NOT NULL DEFAULT 'en',
    "password_hash" TEXT,
    "tenant_id" UUID,
    "is_active" BOOLEAN NOT NULL DEFAULT true,
    "is_service_account" BOOLEAN NOT NULL DEFAULT false,
    "is_system_admin" BOOLEAN NOT NULL DEFAULT false,
    "email_verified_at" TIMESTAMPTZ(3),
    "last_login_at" TIMESTAMPTZ(3),
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "users_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."tenants" (
    "id" UUID NOT NULL,
    "slug" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "plan" TEXT NOT NULL DEFAULT 'starter',
    "status" TEXT NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ(3) NOT NULL,

    CONSTRAINT "tenants_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."policy_versions" (
    "tenant_id" UUID NOT NULL,
    "version" BIGINT NOT NULL DEFAULT 1,

    CONSTRAINT "policy_versions_pkey" PRIMARY KEY ("tenant_id")
);

-- CreateTable
CREATE TABLE "identity"."roles" (
    "id" UUID NOT NULL,
    "tenant_id" UUID,
    "name" TEXT NOT NULL,
    "description" TEXT NOT NULL DEFAULT '',
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "roles_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."role_policies" (
    "role_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "effect" TEXT NOT NULL,

    CONSTRAINT "role_policies_pkey" PRIMARY KEY ("role_id","action","effect")
);

-- CreateTable
CREATE TABLE "identity"."memberships" (
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "role_id" UUID NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "memberships_pkey" PRIMARY KEY ("tenant_id","user_id")
);

-- CreateTable
CREATE TABLE "identity"."membership_policies" (
    "tenant_id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "action" TEXT NOT NULL,
    "effect" TEXT NOT NULL,

    CONSTRAINT "membership_policies_pkey" PRIMARY KEY ("tenant_id","user_id","action","effect")
);

-- CreateTable
CREATE TABLE "identity"."sessions" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "ended_at" TIMESTAMPTZ(3),

    CONSTRAINT "sessions_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."tokens" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" UUID,
    "session_id" UUID,
    "client_id" TEXT NOT NULL,
    "use" TEXT NOT NULL,
    "scopes" TEXT[],
    "impersonator_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "expires_at" TIMESTAMPTZ(3) NOT NULL,
    "revoked_at" TIMESTAMPTZ(3),

    CONSTRAINT "tokens_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."signing_keys" (
    "kid" TEXT NOT NULL,
    "public_jwk" JSONB NOT NULL,
    "sealed_private" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "signs_from" TIMESTAMPTZ(3) NOT NULL,
    "removed_at" TIMESTAMPTZ(3),

    CONSTRAINT "signing_keys_pkey" PRIMARY KEY ("kid")
);

-- CreateTable
CREATE TABLE "identity"."system_applications" (
    "client_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" BYTEA NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "system_applications_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "identity"."oauth_clients" (
    "client_id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "secret_hash" BYTEA,
    "redirect_uris" TEXT[],
    "is_trusted" BOOLEAN NOT NULL DEFAULT false,
    "tenant_id" UUID,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "oauth_clients_pkey" PRIMARY KEY ("client_id")
);

-- CreateTable
CREATE TABLE "identity"."oauth_artifacts" (
    "model" TEXT NOT NULL,
    "id_hash" BYTEA NOT NULL,
    "payload" JSONB NOT NULL,
    "client_id" TEXT,
    "grant_id" TEXT,
    "expires_at" TIMESTAMPTZ(3),

    CONSTRAINT "oauth_artifacts_pkey" PRIMARY KEY ("model","id_hash")
);

-- CreateTable
CREATE TABLE "identity"."outbox" (
    "id" BIGSERIAL NOT NULL,
    "topic" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "published_at" TIMESTAMPTZ(3),

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "identity"."activity_entries" (
    "id" UUID NOT NULL,
    "user_id" UUID NOT NULL,
    "tenant_id" UUID,
    "action" TEXT NOT NULL,
    "ip_address" TEXT,
    "user_agent" TEXT,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "activity_entries_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE UNIQUE INDEX "users_email_key" ON "identity"."users"("email");

-- CreateIndex
CREATE UNIQUE INDEX "tenants_slug_key" ON "identity"."tenants"("slug");

-- CreateIndex
CREATE UNIQUE INDEX "roles_tenant_id_name_key" ON "identity"."roles"("tenant_id", "name");

-- CreateIndex
CREATE INDEX "memberships_user_id_idx" ON "identity"."memberships"("user_id");

-- CreateIndex
CREATE INDEX "memberships_role_id_idx" ON "identity"."memberships"("role_id");

-- CreateIndex
CREATE UNIQUE INDEX "sessions_secret_hash_key" ON "identity"."sessions"("secret_hash");

-- CreateIndex
CREATE INDEX "sessions_user_id_idx" ON "identity"."sessions"("user_id");

-- CreateIndex
CREATE INDEX "sessions_expires_at_idx" ON "identity"."sessions"("expires_at");

-- CreateIndex
CREATE INDEX "tokens_user_id_revoked_at_idx" ON "identity"."tokens"("user_id", "revoked_at");

-- CreateIndex
CREATE INDEX "tokens_session_id_idx" ON "identity"."tokens"("session_id");

-- CreateIndex
CREATE INDEX "tokens_tenant_id_idx" ON "identity"."tokens"("tenant_id");

-- CreateIndex
CREATE INDEX "tokens_expires_at_idx" ON "identity"."tokens"("expires_at");

-- CreateIndex
CREATE INDEX "oauth_clients_tenant_id_idx" ON "identity"."oauth_clients"("tenant_id");

-- CreateIndex
CREATE INDEX "oauth_artifacts_grant_id_idx" ON "identity"."oauth_artifacts"("grant_id");

-- CreateIndex
CREATE INDEX "oauth_artifacts_client_id_idx" ON "identity"."oauth_artifacts"("client_id");

-- CreateIndex
CREATE INDEX "oauth_artifacts_expires_at_idx" ON "identity"."oauth_artifacts"("expires_at");

-- CreateIndex
CREATE INDEX "activity_entries_user_id_id_idx" ON "identity"."activity_entries"("user_id", "id");

-- AddForeignKey
ALTER TABLE "identity"."users" ADD CONSTRAINT "users_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."policy_versions" ADD CONSTRAINT "policy_versions_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."roles" ADD CONSTRAINT "roles_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."role_policies" ADD CONSTRAINT "role_policies_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "identity"."roles"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."memberships" ADD CONSTRAINT "memberships_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."memberships" ADD CONSTRAINT "memberships_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."memberships" ADD CONSTRAINT "memberships_role_id_fkey" FOREIGN KEY ("role_id") REFERENCES "identity"."roles"("id") ON DELETE NO ACTION ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."membership_policies" ADD CONSTRAINT "membership_policies_tenant_id_user_id_fkey" FOREIGN KEY ("tenant_id", "user_id") REFERENCES "identity"."memberships"("tenant_id", "user_id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."sessions" ADD CONSTRAINT "sessions_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_impersonator_id_fkey" FOREIGN KEY ("impersonator_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_session_id_fkey" FOREIGN KEY ("session_id") REFERENCES "identity"."sessions"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."oauth_clients" ADD CONSTRAINT "oauth_clients_tenant_id_fkey" FOREIGN KEY ("tenant_id") REFERENCES "identity"."tenants"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "identity"."activity_entries" ADD CONSTRAINT "activity_entries_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;


-- What follows Prisma cannot say: the rules that keep the data true whoever writes them.

-- Closed sets
ALTER TABLE "identity"."tenants" ADD CONSTRAINT "tenants_status_known"
  CHECK ("status" IN ('provisioning', 'active', 'suspended', 'failed', 'deleting'));
ALTER TABLE "identity"."role_policies" ADD CONSTRAINT "role_policies_effect_known"
  CHECK ("effect" IN ('allow', 'deny'));
ALTER TABLE "identity"."membership_policies" ADD CONSTRAINT "membership_policies_effect_known"
  CHECK ("effect" IN ('allow', 'deny'));
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_use_known"
  CHECK ("use" IN ('login', 'switch', 'api_key', 'code', 'impersonation'));

-- The grammar of patterns (decision B7): what does not parse would silently grant or deny nothing.
ALTER TABLE "identity"."role_policies" ADD CONSTRAINT "role_policies_action_is_pattern"
  CHECK ("action" ~ '^(\*|[A-Za-z0-9_-]+)(\.(\*|[A-Za-z0-9_-]+))*$');
ALTER TABLE "identity"."membership_policies" ADD CONSTRAINT "membership_policies_action_is_pattern"
  CHECK ("action" ~ '^(\*|[A-Za-z0-9_-]+)(\.(\*|[A-Za-z0-9_-]+))*$');

-- A slug is one segment of a permission (tenant.<slug>.crm...) and part of a client id.
ALTER TABLE "identity"."tenants" ADD CONSTRAINT "tenants_slug_is_label"
  CHECK ("slug" ~ '^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$');

-- People have an address; service accounts have no password to sign in with.
ALTER TABLE "identity"."users" ADD CONSTRAINT "users_email_is_lower_case"
  CHECK ("email" = lower("email"));
ALTER TABLE "identity"."users" ADD CONSTRAINT "users_people_have_email"
  CHECK ("is_service_account" OR "email" IS NOT NULL);
ALTER TABLE "identity"."users" ADD CONSTRAINT "users_service_accounts_have_no_password"
  CHECK (NOT "is_service_account" OR "password_hash" IS NULL);
ALTER TABLE "identity"."users" ADD CONSTRAINT "users_service_accounts_are_no_administrators"
  CHECK (NOT ("is_service_account" AND "is_system_admin"));

-- Only SHA-256 digests: a secret stored as it is would not fit.
ALTER TABLE "identity"."sessions" ADD CONSTRAINT "sessions_secret_hash_is_digest"
  CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "identity"."system_applications" ADD CONSTRAINT "system_applications_secret_hash_is_digest"
  CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "identity"."oauth_clients" ADD CONSTRAINT "oauth_clients_secret_hash_is_digest"
  CHECK (octet_length("secret_hash") = 32);
ALTER TABLE "identity"."oauth_artifacts" ADD CONSTRAINT "oauth_artifacts_id_hash_is_digest"
  CHECK (octet_length("id_hash") = 32);

-- An empty list of scopes would read as "no limit" somewhere.
ALTER TABLE "identity"."tokens" ADD CONSTRAINT "tokens_scopes_limit"
  CHECK (cardinality("scopes") > 0);
ALTER TABLE "identity"."system_applications" ALTER COLUMN "scopes" SET NOT NULL;
ALTER TABLE "identity"."oauth_clients" ALTER COLUMN "redirect_uris" SET NOT NULL;

-- A name is given once among the built-in roles too (NULLs are distinct to the index above).
CREATE UNIQUE INDEX "roles_built_in_name_key" ON "identity"."roles" ("name") WHERE "tenant_id" IS NULL;

-- Rarely set: only the rows that have it.
CREATE INDEX "tokens_impersonator_id_idx" ON "identity"."tokens" ("impersonator_id")
  WHERE "impersonator_id" IS NOT NULL;

-- A membership never borrows another tenant's role.
CREATE FUNCTION "identity"."check_role_of_tenant"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NOT EXISTS (
    SELECT FROM "identity"."roles"
    WHERE "id" = NEW."role_id" AND ("tenant_id" IS NULL OR "tenant_id" = NEW."tenant_id")
  ) THEN
    RAISE EXCEPTION 'role % is none of tenant %', NEW."role_id", NEW."tenant_id"
      USING ERRCODE = 'foreign_key_violation', CONSTRAINT = 'memberships_role_of_tenant';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER "memberships_role_of_tenant" BEFORE INSERT OR UPDATE OF "tenant_id", "role_id"
  ON "identity"."memberships" FOR EACH ROW EXECUTE FUNCTION "identity"."check_role_of_tenant"();

-- Every tenant has the row that is locked before its events are written (decision E2).
CREATE FUNCTION "identity"."create_policy_version"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO "identity"."policy_versions" ("tenant_id") VALUES (NEW."id");
  RETURN NULL;
END $$;
CREATE TRIGGER "tenants_policy_version" AFTER INSERT
  ON "identity"."tenants" FOR EACH ROW EXECUTE FUNCTION "identity"."create_policy_version"();

-- The relay's work list, and what wakes it.
CREATE INDEX "outbox_unpublished_idx" ON "identity"."outbox" ("id") WHERE "published_at" IS NULL;
CREATE FUNCTION "identity"."notify_outbox"() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('outbox', '');
  RETURN NULL;
END $$;
CREATE TRIGGER "outbox_notify" AFTER INSERT
  ON "identity"."outbox" FOR EACH STATEMENT EXECUTE FUNCTION "identity"."notify_outbox"();

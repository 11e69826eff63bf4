-- AlterTable
ALTER TABLE "identity"."oauth_clients" ADD COLUMN     "disabled_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret_hash" BYTEA;

-- AlterTable
ALTER TABLE "identity"."system_applications" ADD COLUMN     "disabled_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret_expires_at" TIMESTAMPTZ(3),
ADD COLUMN     "previous_secret_hash" BYTEA;

-- CreateTable
CREATE TABLE "identity"."profile_pictures" (
    "user_id" UUID NOT NULL,
    "key" TEXT NOT NULL,
    "small" BYTEA NOT NULL,
    "large" BYTEA NOT NULL,
    "created_at" TIMESTAMPTZ(3) NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "profile_pictures_pkey" PRIMARY KEY ("user_id")
);

-- CreateIndex
CREATE UNIQUE INDEX "profile_pictures_key_key" ON "identity"."profile_pictures"("key");

-- AddForeignKey
ALTER TABLE "identity"."profile_pictures" ADD CONSTRAINT "profile_pictures_user_id_fkey" FOREIGN KEY ("user_id") REFERENCES "identity"."users"("id") ON DELETE CASCADE ON UPDATE CASCADE;

-- Pictures are compressed already.
ALTER TABLE "identity"."profile_pictures" ALTER COLUMN "small" SET STORAGE EXTERNAL;
ALTER TABLE "identity"."profile_pictures" ALTER COLUMN "large" SET STORAGE EXTERNAL;

ALTER TABLE "identity"."one_time_tokens" DROP CONSTRAINT "one_time_tokens_purpose_known";
ALTER TABLE "identity"."one_time_tokens" ADD CONSTRAINT "one_time_tokens_purpose_known"
  CHECK ("purpose" IN ('password_reset', 'email_verification', 'email_change', 'email_change_undo', 'invitation'));

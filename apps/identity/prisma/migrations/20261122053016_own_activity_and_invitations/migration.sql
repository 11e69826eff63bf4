-- CreateIndex
CREATE INDEX "activity_entries_user_id_action_created_at_id_idx" ON "identity"."activity_entries"("user_id", "action", "created_at", "id");

-- CreateIndex
CREATE INDEX "one_time_tokens_email_purpose_idx" ON "identity"."one_time_tokens"("email", "purpose");

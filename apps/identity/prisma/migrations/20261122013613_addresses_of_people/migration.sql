-- Only people sign in with their address: a service account's blocks nobody (decision I20).
DROP INDEX "identity"."users_email_key";
CREATE UNIQUE INDEX "users_email_key" ON "identity"."users"("email") WHERE NOT "is_service_account";
CREATE INDEX "users_email_idx" ON "identity"."users"("email");

-- What has ended is swept before its time would have been up; most sessions never end before that.
CREATE INDEX "sessions_ended_at_idx" ON "identity"."sessions" ("ended_at")
  WHERE "ended_at" IS NOT NULL;

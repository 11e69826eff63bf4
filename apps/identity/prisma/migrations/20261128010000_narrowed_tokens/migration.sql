-- A token with fewer scopes than its grant must not lead to a refresh token of the whole grant. Tokens of the previous release
-- count as not narrowed for the hour that they last.
ALTER TABLE identity.tokens ADD COLUMN is_narrowed boolean NOT NULL DEFAULT false;

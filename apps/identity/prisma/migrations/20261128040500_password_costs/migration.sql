-- The highest cost of the stored passwords is read at each sign-in that fails.
CREATE INDEX CONCURRENTLY users_by_password_cost
  ON identity.users (substring(password_hash from '^\$2[aby]\$(\d\d)\$'));

-- A sign-in looks for the device of its cookie.
CREATE INDEX CONCURRENTLY sessions_by_device_cookie ON identity.sessions (device_cookie_hash)
  WHERE device_cookie_hash IS NOT NULL;

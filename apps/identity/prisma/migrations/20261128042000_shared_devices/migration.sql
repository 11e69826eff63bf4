-- Sign-ins without a cookie share the device of their user agent. The session keeps the cookie that it set, until the
-- browser returns it and gets a device of its own.
ALTER TABLE identity.sessions ADD COLUMN device_cookie_hash bytea;

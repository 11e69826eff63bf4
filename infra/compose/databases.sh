#!/usr/bin/env bash
# Creates a role and a database for each service when PostgreSQL starts on an empty volume. A service owns its
# database, and cannot connect to any other one.
set -euo pipefail

for app in identity crm; do
  psql --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres \
    --set=app="$app" --set=password="$(cat "/run/secrets/$app-password")" <<'SQL'
CREATE ROLE :"app" LOGIN PASSWORD :'password';
CREATE DATABASE :"app" OWNER :"app" ENCODING 'UTF8' LOCALE_PROVIDER builtin BUILTIN_LOCALE 'C.UTF-8' TEMPLATE template0;
REVOKE CONNECT, TEMPORARY ON DATABASE :"app" FROM PUBLIC;
SQL
done
psql --quiet --set=ON_ERROR_STOP=1 --username=postgres --dbname=postgres <<'SQL'
REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC;
SQL

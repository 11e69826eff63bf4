#!/usr/bin/env bash
# Creates the role and database of each service if they are missing. It can be run at every start, also after
# an interruption. Each service owns its database and cannot connect to the others.
set -euo pipefail

PGPASSWORD=$(cat /run/secrets/postgres-password)
export PGPASSWORD
sql() { psql --quiet --no-psqlrc --set=ON_ERROR_STOP=1 --host=postgres --username=postgres --dbname=postgres "$@"; }

for app in identity crm; do
  sql --set=app="$app" --set=password="$(cat "/run/secrets/$app-password")" <<'SQL'
SELECT format('CREATE ROLE %I', :'app') WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = :'app') \gexec
ALTER ROLE :"app" LOGIN PASSWORD :'password';
SELECT format('CREATE DATABASE %I OWNER %I ENCODING %L LOCALE_PROVIDER builtin BUILTIN_LOCALE %L TEMPLATE template0', :'app', :'app', 'UTF8', 'C.UTF-8')
  WHERE NOT EXISTS (SELECT FROM pg_database WHERE datname = :'app') \gexec
REVOKE CONNECT, TEMPORARY ON DATABASE :"app" FROM PUBLIC;
SQL
done
# CRM runs the statements of a tenant as this role, which row-level security applies to.
sql <<'SQL'
SELECT 'CREATE ROLE tessera_tenant' WHERE NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'tessera_tenant') \gexec
GRANT tessera_tenant TO crm;
SQL
sql --command='REVOKE CONNECT, TEMPORARY ON DATABASE postgres, template1 FROM PUBLIC'

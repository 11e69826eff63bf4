#!/usr/bin/env bash
# Creates the cluster at the first start, like the official image, and runs the server.
set -euo pipefail

if [ "$(id -u)" = 0 ]; then
  mkdir -p "$PGDATA" /var/run/postgresql
  chown -R postgres "$PGDATA"
  chmod 700 "$PGDATA"
  exec setpriv --reuid=postgres --regid=postgres --init-groups "$0" "$@"
fi

[ "${1:-}" = postgres ] || exec "$@"

if [ ! -s "$PGDATA/PG_VERSION" ]; then
  if [ -n "${POSTGRES_PASSWORD_FILE:-}" ]; then POSTGRES_PASSWORD=$(< "$POSTGRES_PASSWORD_FILE"); fi
  : "${POSTGRES_PASSWORD:?Set POSTGRES_PASSWORD or POSTGRES_PASSWORD_FILE.}"
  export POSTGRES_USER=${POSTGRES_USER:-postgres}
  export POSTGRES_DB=${POSTGRES_DB:-$POSTGRES_USER}
  mkdir -p "$PGDATA"
  chmod 700 "$PGDATA"
  initdb --username="$POSTGRES_USER" --pwfile=<(printf '%s\n' "$POSTGRES_PASSWORD") \
    --auth-local=trust --auth-host=scram-sha-256 > /dev/null
  printf '\nhost all all all scram-sha-256\n' >> "$PGDATA/pg_hba.conf"
  # Only on its socket: no outside connections before the scripts have run.
  pg_ctl --wait --options="-c listen_addresses=" start
  export PGPASSWORD=$POSTGRES_PASSWORD
  if [ "$POSTGRES_DB" != postgres ]; then
    createdb --username="$POSTGRES_USER" --maintenance-db=postgres "$POSTGRES_DB"
  fi
  for file in /docker-entrypoint-initdb.d/*; do
    case "$file" in
      *.sh) if [ -x "$file" ]; then "$file"; else . "$file"; fi ;;
      *.sql) psql --no-password --set ON_ERROR_STOP=1 --username="$POSTGRES_USER" --dbname="$POSTGRES_DB" --file="$file" ;;
    esac
  done
  pg_ctl --wait --mode=fast stop
  unset PGPASSWORD
fi

exec "$@" -c listen_addresses='*'

#!/bin/sh
# Starts or stops a Citus cluster for tests on this machine: a coordinator and two workers on 127.0.0.1.
#
#   infra/citus/cluster.sh start   initializes the servers if necessary, starts them and prints CITUS_URL
#   infra/citus/cluster.sh stop    stops the servers and deletes their data
#
# PG_CONFIG      pg_config of a PostgreSQL with Citus; default: pg_config
# CITUS_DATA     a folder for the data; default: a folder of the user in TMPDIR
# CITUS_PORT     the port of the coordinator; the workers use the two following ones; default: 5500
#
# Trusts every local connection and does not flush to the disk: for tests only. PostgreSQL does not run as root; root
# runs it as the user postgres.
set -eu

pg_config=${PG_CONFIG:-pg_config}
data=${CITUS_DATA:-${TMPDIR:-/tmp}/tessera-citus-$(id -u)}
coordinator=${CITUS_PORT:-5500}
ports="$coordinator $((coordinator + 1)) $((coordinator + 2))"

if ! command -v "$pg_config" >/dev/null; then
  echo "There is no $pg_config. Set PG_CONFIG to the pg_config of a PostgreSQL with Citus." >&2
  exit 2
fi
bin=$("$pg_config" --bindir)
if [ ! -e "$("$pg_config" --pkglibdir)/citus.so" ]; then
  echo "PostgreSQL in $bin has no Citus. docs/operations.md says where to get it." >&2
  exit 2
fi

as_owner() {
  if [ "$(id -u)" -eq 0 ]; then su postgres -s /bin/sh -c "cd / && $*"; else sh -c "$*"; fi
}

run_sql() {
  port=$1
  shift
  for statement in "$@"; do
    "$bin/psql" -h 127.0.0.1 -p "$port" -U postgres -d postgres -v ON_ERROR_STOP=1 -qAtc "$statement" >/dev/null
  done
}

initialize() {
  as_owner "'$bin/initdb' -D '$data/$1' --auth=trust --username=postgres --encoding=UTF8 --locale=C --no-sync" >/dev/null
  cat >> "$data/$1/postgresql.conf" <<CONF
port = $1
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
shared_preload_libraries = 'citus'
max_connections = 300
max_prepared_transactions = 300
max_worker_processes = 64
max_wal_senders = 20
max_replication_slots = 40
max_logical_replication_workers = 20
max_locks_per_transaction = 1024
wal_level = logical
fsync = off
synchronous_commit = off
full_page_writes = off
citus.shard_count = 4
CONF
}

start() {
  mkdir -p "$data"
  if [ "$(id -u)" -eq 0 ]; then chown postgres "$data"; fi
  chmod 700 "$data"
  for port in $ports; do
    [ -d "$data/$port" ] || initialize "$port"
    as_owner "'$bin/pg_ctl' -D '$data/$port' status" >/dev/null ||
      as_owner "'$bin/pg_ctl' -D '$data/$port' -l '$data/$port.log' -w start" >/dev/null
    run_sql "$port" 'SET client_min_messages = warning; CREATE EXTENSION IF NOT EXISTS citus'
  done
  run_sql "$coordinator" "SELECT citus_set_coordinator_host('127.0.0.1', $coordinator)"
  for port in $ports; do
    [ "$port" = "$coordinator" ] || run_sql "$coordinator" "SELECT citus_add_node('127.0.0.1', $port)"
  done
  echo "CITUS_URL=postgresql://postgres@127.0.0.1:$coordinator/postgres"
}

stop() {
  for port in $ports; do
    [ ! -d "$data/$port" ] || as_owner "'$bin/pg_ctl' -D '$data/$port' -m immediate -w stop" >/dev/null
  done
  rm -rf "$data"
}

case "${1:-}" in
  start) start ;;
  stop) stop ;;
  *)
    echo 'Usage: infra/citus/cluster.sh start|stop' >&2
    exit 2
    ;;
esac

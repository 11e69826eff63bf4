#!/usr/bin/env bash
# Runs the server as the redis user; like the official image, without protected mode.
set -euo pipefail
case "${1:-}" in
  -* | *.conf) set -- redis-server "$@" ;;
esac
[ "${1:-}" = redis-server ] || exec "$@"
if [ "$(id -u)" = 0 ]; then
  chown redis /data
  exec setpriv --reuid=redis --regid=redis --init-groups "$0" "$@"
fi
exec "$@" --protected-mode no

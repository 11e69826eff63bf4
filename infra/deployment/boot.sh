#!/usr/bin/env bash
# Runs systemd. Once it is up, the command runs in the checkout; its exit code becomes that of the copy.
set -euo pipefail
cd "$1"
shift
mkdir /sys/fs/cgroup/command
(
  echo "$BASHPID" > /sys/fs/cgroup/command/cgroup.procs
  until systemctl is-active --quiet multi-user.target &> /dev/null; do sleep 0.05; done
  "$@" && code=0 || code=$?
  systemctl --force exit "$code"
) &
exec env container=tessera /usr/lib/systemd/systemd --system --unit=multi-user.target --show-status=no \
  --log-target=console --log-level=warning

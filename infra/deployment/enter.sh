#!/usr/bin/env bash
# Runs a command on a copy of this machine that has systemd as its first process. Files, users, processes,
# addresses and ports of the copy exist only there and are gone when the command has ended: the file system is
# an overlay in memory, and everything else is in namespaces. Only the checkout is the real one.
#
#   enter.sh <checkout> <command...>
set -euo pipefail
checkout=$1
shift

if [ "${COPY:-}" = '' ]; then
  # The processes of the copy are in a separate cgroup, which is removed at the end.
  trap : INT TERM HUP
  hierarchy=$(mktemp --directory)
  timeout --foreground 600 unshare --mount bash -c '
    mount -t cgroup2 cgroup2 "$1"
    group=$(mktemp --directory "$1/tessera.XXXXXX")
    COPY=$group/cgroup.procs unshare --mount --net --pid --uts --ipc --fork --kill-child "${@:2}" &
    copy=$!
    # unshare ignores SIGTERM; killing it ends everything in the copy.
    trap "kill -KILL $copy 2> /dev/null" INT TERM HUP
    wait "$copy" && code=0 || code=$?
    until find "$group" -depth -type d -exec rmdir {} + 2> /dev/null; do sleep 0.1; done
    exit "$code"
  ' bash "$hierarchy" bash "$0" "$checkout" "$@" && code=0 || code=$?
  rmdir "$hierarchy"
  exit "$code"
elif [ "$COPY" != entered ]; then
  echo 0 > "$COPY"
  COPY=entered exec unshare --cgroup bash "$0" "$checkout" "$@"
fi
node=$(command -v node)

mount --make-rprivate /
mount -t tmpfs -o mode=0755 copy /run
mkdir /run/{changes,work,root}
mount -t overlay copy -o lowerdir=/,upperdir=/run/changes,workdir=/run/work /run/root
root=/run/root

mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
mount -t tmpfs -o mode=0755 run "$root/run"
mount -t tmpfs -o mode=1777 tmp "$root/tmp"
mkdir --parents "$root$checkout"
mount --bind "$checkout" "$root$checkout"
# The path that the document expects.
touch "$root/usr/bin/node"
mount --bind "$(realpath "$node")" "$root/usr/bin/node"

# Of the machine's units, those that start a service; none that touches its kernel, its disks or its network.
units=$root/usr/lib/systemd/system
kept=$(mktemp --directory "$root/tmp/units.XXXXXX")
chmod 755 "$kept"
for unit in basic sysinit shutdown final exit umount multi-user network network-online nss-lookup remote-fs \
  sockets slices paths timers; do
  cp "$units/$unit.target" "$kept"
done
cp "$units"/systemd-journald{.service,.socket,-dev-log.socket} "$units"/{nginx,postgresql@}.service "$kept"
mkdir "$kept/sysinit.target.wants"
ln -s ../systemd-journald.service "$kept/sysinit.target.wants"
mount --bind "$kept" "$units"
mount -t tmpfs generators "$root/usr/lib/systemd/system-generators"
rm -rf "$root"/etc/systemd/system/* "$root/var/log/journal"

mkdir --parents "$root/etc/systemd/journald.conf.d"
printf '[Journal]\nStorage=volatile\nReadKMsg=no\n' > "$root/etc/systemd/journald.conf.d/copy.conf"

ip link set lo up
# The server's public address, and those of three clients (RFC 5737).
for address in 203.0.113.1 203.0.113.7 203.0.113.8 203.0.113.9; do ip address add "$address/32" dev lo; done
echo '203.0.113.1 id.example.com crm.example.com' >> "$root/etc/hosts"

# A root of its own, and not chroot, in which nobody may make a user namespace, as PrivateUsers= does.
cd "$root"
mkdir --parents run/machine
pivot_root . run/machine
umount --lazy /run/machine
# systemd hands credentials to services by mounts that have to reach it.
mount --make-rshared /
exec bash "$checkout/infra/deployment/boot.sh" "$checkout" "$@"

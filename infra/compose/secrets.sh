#!/usr/bin/env bash
# Generates missing secrets of docker-compose.yml into the volumes below /secrets. It can be run at every
# start. Each service can only read its own secrets.
set -euo pipefail
umask 077

# The given number of random bytes as hexadecimal digits, which are safe in URLs and files.
random() { od -An -v -tx1 -N"$1" /dev/urandom | tr -d ' \n'; }

# Atomically writes standard input to a file that only its owner can read.
write() { # path, owner
  cat > "$1.new"
  chown "$2" "$1.new"
  chmod 400 "$1.new"
  mv "$1.new" "$1"
}

# Writes text to a file unless the file exists.
once() { # path, owner, text
  [ -e "$1" ] || printf '%s' "$3" | write "$1" "$2"
}

POSTGRES=postgres:postgres
APP=65532:65532 # the user of both images

once /secrets/postgres/postgres-password "$POSTGRES" "$(random 32)"
for app in identity crm; do
  once "/secrets/postgres/$app-password" "$POSTGRES" "$(random 32)"
  password=$(cat "/secrets/postgres/$app-password")
  once "/secrets/$app/database-url" "$APP" "postgresql://$app:$password@postgres:5432/$app"
  key=$(head -c 32 /dev/urandom | base64 --wrap=0)
  once "/secrets/$app/key-encryption-keys" "$APP" "key-1:$key"
done
# The token with which identity authenticates to CRM.
once /secrets/identity/crm-system-token "$APP" "$(random 32)"
once /secrets/crm/system-tokens "$APP" "$(cat /secrets/identity/crm-system-token)"

# The directories are only accessible to their service, which reads them without root.
chown "$POSTGRES" /secrets/postgres
chown "$APP" /secrets/identity /secrets/crm
chmod 500 /secrets/*

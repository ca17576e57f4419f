#!/bin/sh
# Draws the passwords of the fleet into deploy/secrets, each once. They have letters and digits only, as they stand in URLs.
# The files belong to the group of the containers (65532): run it as root, or change the group yourself.
set -eu
cd "$(dirname "$0")"
mkdir -p secrets
chmod 711 secrets
for name in database_password database_root_password redis_password nats_password; do
  if [ -e "secrets/$name" ]; then
    echo "secrets/$name is there and stays."
    continue
  fi
  (umask 077 && od -An -N24 -tx1 /dev/urandom | tr -d ' \n' >"secrets/$name")
  chmod 440 "secrets/$name"
  chgrp 65532 "secrets/$name" 2>/dev/null || echo "secrets/$name: run chgrp 65532 as root, else the containers cannot read it" >&2
  echo "secrets/$name was drawn."
done

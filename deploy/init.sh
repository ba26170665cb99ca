#!/bin/sh
# Writes .env beside compose.yaml: the host name people use, and a random password for each part.
# Usage: ./init.sh [HOST] [EMAIL OF THE FIRST OWNER]
set -eu
cd "$(dirname "$0")"
if [ -e .env ]; then
    echo "deploy/.env exists already. Its passwords are in use; delete it only together with the volumes." >&2
    exit 1
fi
# The letter in front keeps a value from being read as a number.
random() { printf 'k%s' "$(od -An -N24 -tx1 /dev/urandom | tr -d ' \n')"; }
host=${1:-localhost}
owner=${2:-owner@localhost}
umask 077
cat > .env <<EOF
STEWARD_HOST=$host
FIRST_OWNER=$owner
FIRST_PASSWORD=$(random)
POSTGRES_PASSWORD=$(random)
NATS_PASSWORD=$(random)
S3_ACCESS_KEY=$(random)
S3_SECRET_KEY=$(random)
METRICS_TOKEN=$(random)
EOF
echo "Wrote deploy/.env. After 'docker compose up -d', open https://$host and sign in as $owner."
echo "The first password is FIRST_PASSWORD in deploy/.env; change it under Profile."

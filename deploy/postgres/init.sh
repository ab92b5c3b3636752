#!/bin/sh
# Runs once, when the volume is new: PostgreSQL's own image made the role and
# the database of coachline; this adds Temporal's role and its two databases,
# owned by it, because only a database's owner may create tables in it.
set -eu

psql --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" \
	--set ON_ERROR_STOP=1 --set secret="$TEMPORAL_DB_PASSWORD" <<'SQL'
CREATE ROLE temporal LOGIN PASSWORD :'secret';
CREATE DATABASE temporal OWNER temporal;
CREATE DATABASE temporal_visibility OWNER temporal;
SQL

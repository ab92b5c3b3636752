#!/bin/sh
# Brings both Temporal databases to the schema of this image's version. Safe to
# run again: a database that is up to date is left as it is. SQL_HOST, SQL_PORT,
# SQL_USER, SQL_PASSWORD and SQL_PLUGIN come from the environment.
set -eu

for pair in temporal:temporal temporal_visibility:visibility; do
	database=${pair%%:*}
	schema=${pair##*:}
	temporal-sql-tool --database "$database" setup-schema --version 0.0
	temporal-sql-tool --database "$database" update-schema \
		--schema-dir "/etc/temporal/schema/postgresql/v12/$schema/versioned"
done

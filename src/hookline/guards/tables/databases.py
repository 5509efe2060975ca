"""Guard against deleting in databases."""

from hookline.guards.spec import Flow, GuardedCommand, GuardSpec

_DROPS = "deletes data in a database"
_SQL = (
    r"\bdrop(?:\s|/\*(?:(?!\*/).){0,50}+\*/)++(?:table|database|schema|view|materialized\s+view|index|role|user|sequence|type|function|tablespace|keyspace|collection|column)\b"
    r"|\btruncate\s+(?:table\s+)?(?:only\s+)?[\w\"`\[]"
    r"|\bdelete\s+from\s+(?:only\s+)?[\w.\"`\[\]]+(?:\s+(?!where\b|using\b|returning\b)(?:as\s+)?\w+)?\s*(?:;|$|['\"]|where\s+(?:1\s*=\s*1|true)\s*(?:;|$|['\"]))"
    r"|\bdropDatabase\b|\.drop\(\s*\)|\bdelete(?:Many|One)?\(\s*\{\s*\}|\.remove\(\s*\{\s*\}"
    r"|\balter\s+table\s+\S+\s+drop\b"
)
_CLIENTS = (
    "psql|pgcli|mysql|mariadb|mycli|sqlite|sqlite3|litecli|mongosh|mongo|clickhouse-client|clickhouse|cqlsh|sqlcmd|"
    "duckdb|usql|snowsql|bq|cockroach|influx|sqlplus|isql|tsql|osql|db2|vsql|trino|presto|hive|beeline|impala-shell|"
    "turso|libsql|wrangler|surreal|neo4j|cypher-shell|pgsql|supabase|heroku"
)
_RESETS = "deletes all tables and starts over"

DATABASE_DROP = GuardSpec(
    name="database-drop",
    title="Deleting tables, databases and all rows of a table",
    instead="Write a migration, work on a copy, or ask the user.",
    rows=(
        GuardedCommand(run=_CLIENTS, does=_DROPS, text=_SQL, example="psql -c 'DROP TABLE users'"),
        GuardedCommand(
            run="redis-cli|valkey-cli|keydb-cli",
            does=_DROPS,
            text=r"(?<![\w-])(?:flushall|flushdb)(?![\w-])",
            example="redis-cli -h db FLUSHALL",
        ),
        GuardedCommand(
            run="prisma db execute",
            does=_DROPS,
            text=_SQL,
            example="echo 'DROP TABLE a' | prisma db execute --stdin",
        ),
        GuardedCommand(run="wp db drop|reset|clean", does=_RESETS, example="wp db reset --yes"),
        GuardedCommand(run="drush sql-drop|sql:drop", does=_RESETS, example="drush sql-drop -y"),
        GuardedCommand(
            run="turso|pscale|neonctl|neon db|database|branch|branches|databases|projects destroy|delete",
            does=_DROPS,
            example="turso db destroy app",
        ),
        GuardedCommand(run="dropdb|dropuser", does=_DROPS, example="dropdb --if-exists app"),
        GuardedCommand(
            run="mysqladmin|mariadb-admin drop", does=_DROPS, example="mysqladmin -u root drop app"
        ),
        GuardedCommand(
            run=(
                "rails|rake|bin/rails "
                "db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:schema:load|db:setup|db:truncate_all"
            ),
            does=_RESETS,
            example="bin/rails db:drop",
        ),
        GuardedCommand(run="prisma migrate reset", does=_RESETS, example="npx prisma migrate reset --force"),
        GuardedCommand(
            run="prisma db push",
            does=_DROPS,
            given="--force-reset --accept-data-loss",
            example="prisma db push --force-reset",
        ),
        GuardedCommand(
            run="manage.py|django-admin|python|pypy ** flush|reset_db|sqlflush|reset_schema",
            does=_RESETS,
            text=r"manage\.py|django|flush|reset_",
            example="python manage.py flush --noinput",
        ),
        GuardedCommand(
            run="manage.py|django-admin|python|pypy ** migrate",
            does=_DROPS,
            operand="^zero$",
            which="last",
            example="python manage.py migrate app zero",
        ),
        GuardedCommand(
            run="manage.py|django-admin|python|pypy ** shell|shell_plus",
            does=_DROPS,
            text=r"\.all\(\)\.delete\(\)",
            example="python manage.py shell -c 'User.objects.all().delete()'",
        ),
        GuardedCommand(
            run="manage.py|django-admin flush|reset_db", does=_RESETS, example="./manage.py flush"
        ),
        GuardedCommand(
            run="php|artisan|sail ** migrate:fresh|migrate:reset|migrate:refresh|db:wipe",
            does=_RESETS,
            example="php artisan migrate:fresh --seed",
        ),
        GuardedCommand(
            run="artisan migrate:fresh|migrate:reset|migrate:refresh|db:wipe",
            does=_RESETS,
            example="./artisan db:wipe",
        ),
        GuardedCommand(
            run=(
                "sequelize|sequelize-cli|typeorm|typeorm-ts-node-commonjs|mikro-orm|doctrine "
                "db:drop|db:migrate:undo:all|schema:drop|orm:schema-tool:drop"
            ),
            does=_RESETS,
            example="npx sequelize db:drop",
        ),
        GuardedCommand(
            run="knex migrate:rollback", does=_DROPS, given="--all", example="npx knex migrate:rollback --all"
        ),
        GuardedCommand(
            run="alembic|flask ** downgrade", does=_DROPS, operand="^base$", example="alembic downgrade base"
        ),
        GuardedCommand(
            run="php|console|symfony ** doctrine:schema:drop|doctrine:database:drop",
            does=_RESETS,
            example="php bin/console doctrine:schema:drop --force",
        ),
        GuardedCommand(
            run="dotnet ef database drop", does=_RESETS, example="dotnet ef database drop --force"
        ),
        GuardedCommand(
            run="rails|bin/rails runner|r|console|c",
            does=_DROPS,
            text=r"\b(?:delete|destroy)_all\b",
            example="rails runner 'User.delete_all'",
        ),
        GuardedCommand(run="pg_dropcluster", does=_DROPS, example="pg_dropcluster 15 main"),
        GuardedCommand(run="migrate drop", does=_RESETS, example="migrate -path x -database y drop -f"),
        GuardedCommand(run="influx delete", does=_DROPS, example="influx delete --bucket x"),
        GuardedCommand(run="influx bucket|org delete", does=_DROPS, example="influx bucket delete -n x"),
        GuardedCommand(run="flyway clean", does=_RESETS, example="flyway clean"),
        GuardedCommand(run="liquibase drop-all|dropAll", does=_RESETS, example="liquibase drop-all"),
        GuardedCommand(run="mix ecto.drop|ecto.reset", does=_RESETS, example="mix ecto.reset"),
        GuardedCommand(run="supabase db reset", does=_RESETS, example="supabase db reset"),
        GuardedCommand(
            run="dbmate|goose|sqlx|diesel drop|reset|down-to|database",
            does=_RESETS,
            text=r"\b(?:drop|reset|down-to)\b",
            example="sqlx database drop -y",
        ),
        GuardedCommand(run="heroku pg:reset", does=_RESETS, example="heroku pg:reset DATABASE_URL"),
        GuardedCommand(run="bq rm", does=_DROPS, example="bq rm -r -f dataset"),
        GuardedCommand(
            run="pg_restore",
            does="drops existing data before it restores",
            given="-c --clean",
            example="pg_restore --clean -d app dump",
        ),
        GuardedCommand(run="wrangler d1 delete", does=_DROPS, example="wrangler d1 delete app"),
        GuardedCommand(
            run="curl",
            does=_DROPS,
            given="-X --request",
            value="^DELETE$",
            operand=r":(?:9200|5984|8086|8123|6333)\b",
            example="curl -XDELETE http://localhost:9200/logs",
        ),
    ),
    flows=(
        Flow(
            source="redis-cli|valkey-cli|keydb-cli",
            into=(
                GuardedCommand(
                    run="redis-cli|valkey-cli|keydb-cli del|unlink",
                    does=_DROPS,
                    operand="\0",
                    example="redis-cli keys '*' | xargs redis-cli del",
                ),
            ),
        ),
    ),
    code=_SQL + r"|\bflushall\b|drop_all\(|dropAllTables|dropSchema",
    code_does="looks like code that deletes data in a database",
    catches=(
        "echo 'TRUNCATE users' | psql app",
        "mysql -e 'DELETE FROM users;' app",
        "sqlite3 app.db 'drop table if exists t'",
        "docker compose exec db psql -U app -c 'DROP SCHEMA public CASCADE'",
        "mongosh --eval 'db.dropDatabase()'",
    ),
    leaves=(
        "psql -c 'select * from users'",
        "mysql -e 'DELETE FROM users WHERE id = 1'",
        "redis-cli get key",
        "grep -rn 'DROP TABLE' migrations",
        "bin/rails db:migrate",
        "git commit -m 'drop table users'",
    ),
    cannot=(
        "Statements in a file (`psql -f drop.sql`) and migrations, which are run as the project has them.",
        "A DELETE whose WHERE is true for every row in a way that only the database knows.",
    ),
)

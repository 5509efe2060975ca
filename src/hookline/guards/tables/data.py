"""Guards over what others depend on: databases, and what runs in a cloud."""

from hookline.guards.policy import Policy, Row

_DROPS = "deletes data of a database"
_SQL = (
    r"\bdrop(?:\s|/\*.{0,50}?\*/)+(?:table|database|schema|view|materialized\s+view|index|role|user|sequence|type|function|tablespace|keyspace|collection|column)\b"
    r"|\btruncate\s+(?:table\s+)?(?:only\s+)?[\w\"`\[]"
    r"|\bdelete\s+from\s+(?:only\s+)?[\w.\"`\[\]]+(?:\s+(?!where\b|using\b|returning\b)(?:as\s+)?\w+)?\s*(?:;|$|['\"])"
    r"|\bdropDatabase\b|\.drop\(\s*\)|\bdelete(?:Many|One)?\(\s*\{\s*\}|\.remove\(\s*\{\s*\}"
    r"|\balter\s+table\s+\S+\s+drop\b"
)
_CLIENTS = (
    "psql|pgcli|mysql|mariadb|mycli|sqlite|sqlite3|litecli|mongosh|mongo|clickhouse-client|clickhouse|cqlsh|sqlcmd|"
    "duckdb|usql|snowsql|bq|cockroach|influx|sqlplus|isql|tsql|osql|db2|vsql|trino|presto|hive|beeline|impala-shell|"
    "turso|libsql|wrangler|surreal|neo4j|cypher-shell|pgsql|supabase|heroku"
)
_RESETS = "deletes all tables and begins again"

DATABASE_DROP = Policy(
    name="database-drop",
    title="Deleting tables, databases and all rows of a table",
    instead="Write a migration, work on a copy, or ask the user.",
    rows=(
        Row(run=_CLIENTS, does=_DROPS, text=_SQL, example="psql -c 'DROP TABLE users'"),
        Row(
            run="redis-cli|valkey-cli|keydb-cli",
            does=_DROPS,
            text=r"(?<![\w-])(?:flushall|flushdb)(?![\w-])",
            example="redis-cli -h db FLUSHALL",
        ),
        Row(run="dropdb|dropuser", does=_DROPS, example="dropdb --if-exists app"),
        Row(run="mysqladmin|mariadb-admin drop", does=_DROPS, example="mysqladmin -u root drop app"),
        Row(
            run=(
                "rails|rake|bin/rails "
                "db:drop*|db:reset*|db:purge*|db:migrate:reset*|db:schema:load|db:setup|db:truncate_all"
            ),
            does=_RESETS,
            example="bin/rails db:drop",
        ),
        Row(run="prisma migrate reset", does=_RESETS, example="npx prisma migrate reset --force"),
        Row(
            run="prisma db push",
            does=_DROPS,
            given="--force-reset --accept-data-loss",
            example="prisma db push --force-reset",
        ),
        Row(
            run="manage.py|django-admin|python|pypy ** flush|reset_db|sqlflush|reset_schema",
            does=_RESETS,
            text=r"manage\.py|django|flush|reset_",
            example="python manage.py flush --noinput",
        ),
        Row(run="manage.py|django-admin flush|reset_db", does=_RESETS, example="./manage.py flush"),
        Row(
            run="php|artisan ** migrate:fresh|migrate:reset|migrate:refresh|db:wipe",
            does=_RESETS,
            example="php artisan migrate:fresh --seed",
        ),
        Row(
            run="artisan migrate:fresh|migrate:reset|migrate:refresh|db:wipe",
            does=_RESETS,
            example="./artisan db:wipe",
        ),
        Row(
            run=(
                "sequelize|sequelize-cli|typeorm|typeorm-ts-node-commonjs|mikro-orm|doctrine "
                "db:drop|schema:drop|orm:schema-tool:drop"
            ),
            does=_RESETS,
            example="npx sequelize db:drop",
        ),
        Row(
            run="knex migrate:rollback", does=_DROPS, given="--all", example="npx knex migrate:rollback --all"
        ),
        Row(
            run="alembic|flask ** downgrade", does=_DROPS, operand="^base$", example="alembic downgrade base"
        ),
        Row(
            run="php|console|symfony ** doctrine:schema:drop|doctrine:database:drop",
            does=_RESETS,
            example="php bin/console doctrine:schema:drop --force",
        ),
        Row(run="dotnet ef database drop", does=_RESETS, example="dotnet ef database drop --force"),
        Row(
            run="rails|bin/rails runner|r",
            does=_DROPS,
            text=r"\b(?:delete|destroy)_all\b",
            example="rails runner 'User.delete_all'",
        ),
        Row(run="pg_dropcluster", does=_DROPS, example="pg_dropcluster 15 main"),
        Row(run="migrate drop", does=_RESETS, example="migrate -path x -database y drop -f"),
        Row(run="influx bucket|org delete", does=_DROPS, example="influx bucket delete -n x"),
        Row(run="flyway clean", does=_RESETS, example="flyway clean"),
        Row(run="liquibase drop-all|dropAll", does=_RESETS, example="liquibase drop-all"),
        Row(run="mix ecto.drop|ecto.reset", does=_RESETS, example="mix ecto.reset"),
        Row(run="supabase db reset", does=_RESETS, example="supabase db reset"),
        Row(
            run="dbmate|goose|sqlx|diesel drop|reset|down-to|database",
            does=_RESETS,
            text=r"\b(?:drop|reset|down-to)\b",
            example="sqlx database drop -y",
        ),
        Row(run="heroku pg:reset", does=_RESETS, example="heroku pg:reset DATABASE_URL"),
        Row(run="bq rm", does=_DROPS, example="bq rm -r -f dataset"),
        Row(
            run="pg_restore",
            does="drops what is there before it restores",
            given="-c --clean",
            example="pg_restore --clean -d app dump",
        ),
        Row(run="wrangler d1 delete", does=_DROPS, example="wrangler d1 delete app"),
        Row(
            run="curl",
            does=_DROPS,
            given="-X --request",
            value="^DELETE$",
            operand=r":(?:9200|5984|8086|8123|6333)\b",
            example="curl -XDELETE http://localhost:9200/logs",
        ),
    ),
    code=_SQL + r"|\bflushall\b|drop_all\(|dropAllTables|dropSchema",
    code_does="looks like code that deletes data of a database",
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
        "A DELETE whose WHERE is true for every row.",
    ),
)

_DELETES = "deletes something that runs or is kept in a cloud"
_PODS = r"^(?:po|pods?|jobs?|events?|ev)(?:/|$)"
_VOLUMES = "deletes volumes with the data in them"

CLOUD_DELETE = Policy(
    name="cloud-delete",
    title="Deleting what runs or is kept in a cloud, a cluster or in volumes",
    instead="Show the user what would be deleted (plan, list, --dry-run).",
    rows=(
        Row(
            run="terraform|tf|tofu|terragrunt destroy",
            does=_DELETES,
            example="terraform destroy -auto-approve",
        ),
        Row(
            run="terraform|tf|tofu|terragrunt apply",
            does=_DELETES,
            given="-destroy --destroy",
            example="terraform apply -destroy",
        ),
        Row(
            run="terraform|tf|tofu|terragrunt run-all|state|workspace destroy|rm|delete",
            does=_DELETES,
            example="terraform state rm aws_instance.web",
        ),
        Row(
            run="pulumi destroy|down|stack",
            does=_DELETES,
            text=r"\bdestroy\b|\bdown\b|\bstack rm\b",
            example="pulumi destroy --yes",
        ),
        Row(run="cdk|cdktf|sst destroy|remove", does=_DELETES, example="cdk destroy --all"),
        Row(run="serverless|sls remove", does=_DELETES, example="serverless remove --stage prod"),
        Row(
            run="sam|copilot|eb|eksctl|kops|ecs-cli ** delete|terminate",
            does=_DELETES,
            example="eksctl delete cluster --name prod",
        ),
        Row(
            run=(
                "aws * "
                "delete-*|terminate-*|deregister-*|purge-*|destroy-*|remove-*|batch-delete-*|cancel-*|release-*|schedule-key-deletion|empty-*"
            ),
            does=_DELETES,
            unless="--dry-run --generate-cli-skeleton",
            example="aws ec2 terminate-instances --instance-ids i-1",
        ),
        Row(run="aws s3 rb|rm", does=_DELETES, unless="--dryrun", example="aws s3 rb s3://bucket --force"),
        Row(
            run="aws s3 sync",
            does=_DELETES,
            given="--delete",
            unless="--dryrun",
            example="aws s3 sync . s3://bucket --delete",
        ),
        Row(
            run=(
                "gcloud|az|ibmcloud|oci|doctl|hcloud|scw|openstack|linode-cli|aliyun|tccli ** "
                "delete|purge|terminate|rm|destroy|delete-*"
            ),
            does=_DELETES,
            example="gcloud compute instances delete web --quiet",
        ),
        Row(run="gsutil rm|rb", does=_DELETES, example="gsutil -m rm -r gs://bucket"),
        Row(
            run="s3cmd|mc|rclone rb|rm|del|delete|purge|deletefile",
            does=_DELETES,
            unless="-n --dry-run",
            example="rclone purge remote:backups",
        ),
        Row(
            run="kubectl|oc|k delete|del",
            does="deletes something in a cluster",
            operand=f"^(?!{_PODS[1:]})",
            which="first",
            unless="--dry-run",
            example="kubectl delete ns prod",
        ),
        Row(
            run="kubectl|oc|k delete|del",
            does="deletes something in a cluster",
            given="--all -A --all-namespaces -f --filename -k --kustomize -l --selector",
            unless="--dry-run",
            example="kubectl delete -f k8s/",
        ),
        Row(
            run="kubectl|oc|k delete|del",
            does="deletes pods or jobs of a cluster",
            operand=_PODS,
            which="first",
            part="pods",
            unless="--dry-run",
            example="kubectl delete pod web-1",
        ),
        Row(
            run="kubectl|oc|k drain|replace",
            does="removes what runs on a node, or replaces it",
            given="--force --delete-emptydir-data",
            example="kubectl drain node-1 --force",
        ),
        Row(
            run="helm|helmfile uninstall|delete|del|un|destroy",
            does="deletes an installation in a cluster",
            unless="--dry-run",
            example="helm uninstall web",
        ),
        Row(
            run="argocd|flux ** delete|rm|uninstall",
            does="deletes an installation in a cluster",
            example="argocd app delete web",
        ),
        Row(
            run="docker|podman|nerdctl volume rm|prune|remove",
            does=_VOLUMES,
            example="docker volume rm db-data",
        ),
        Row(
            run="docker|podman|nerdctl system prune|reset",
            does="deletes containers, images and volumes that are not in use",
            example="docker system prune -af --volumes",
        ),
        Row(
            run="docker|podman|nerdctl compose down|rm",
            does=_VOLUMES,
            given="-v --volumes",
            example="docker compose down -v",
        ),
        Row(
            run="docker-compose|podman-compose down|rm",
            does=_VOLUMES,
            given="-v --volumes",
            example="docker-compose down --volumes",
        ),
        Row(
            run="gh|glab repo|release|secret|variable|run|cache|codespace|workflow delete|archive",
            does="deletes something on a code host",
            example="gh repo delete owner/app --yes",
        ),
        Row(
            run="gh|glab api",
            does="deletes something on a code host",
            given="-X --method",
            value="^DELETE$",
            example="gh api -X DELETE repos/owner/app",
        ),
        Row(
            run="heroku apps:destroy|destroy|addons:destroy|apps:delete",
            does=_DELETES,
            example="heroku apps:destroy -a web",
        ),
        Row(run="fly|flyctl ** destroy|delete|rm", does=_DELETES, example="fly apps destroy web"),
        Row(
            run=(
                "vercel|netlify|railway|wrangler|render|surge|now ** "
                "remove|rm|delete|sites:delete|teardown|down|destroy"
            ),
            does=_DELETES,
            example="vercel remove web --yes",
        ),
        Row(
            run="firebase firestore:delete|database:remove|functions:delete|hosting:disable|apps:delete",
            does=_DELETES,
            example="firebase firestore:delete --all-collections",
        ),
        Row(run="cf delete|delete-*|purge-*", does=_DELETES, example="cf delete web -f"),
        Row(
            run="nomad|consul|etcdctl|vault ** delete|del|purge|destroy|secrets",
            does=_DELETES,
            text=r"\b(?:delete|del|purge|destroy|disable)\b",
            example="etcdctl del --prefix /app",
        ),
        Row(run="nomad job stop", does=_DELETES, given="-purge", example="nomad job stop -purge web"),
        Row(
            run="minikube|kind|k3d|vagrant|multipass|colima|lima|limactl delete|destroy|purge",
            does="deletes a machine or a cluster on this computer",
            part="local",
            example="minikube delete",
        ),
    ),
    code=r"\.(?:delete|terminate)_(?:bucket|instances|stack|db_instance|table|cluster|object|objects|function|queue|volume|snapshot|user|role)\w*\(|\bforce_destroy\b",
    code_does="looks like code that deletes something in a cloud",
    parts={"pods": "`kubectl delete pod` and jobs, of which many come back by themselves"},
    more={
        "local": "clusters and machines on this computer: minikube, kind, vagrant",
    },
    catches=(
        "AWS_PROFILE=prod aws --region eu-west-1 rds delete-db-instance --db-instance-identifier app",
        "kubectl -n prod delete deploy/web",
        "tofu -chdir=infra destroy",
    ),
    leaves=(
        "terraform plan",
        "terraform plan -destroy",
        "aws s3 ls",
        "kubectl get pods",
        "docker compose down",
        "kubectl delete pod web-1 --dry-run=client",
        "docker rm old",
    ),
    cannot=(
        "What a plan deletes that is applied without being asked to destroy: `terraform apply`.",
        "Web consoles and programs of the project.",
    ),
)

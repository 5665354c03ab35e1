import type { ShellWord } from "../types.js";
import { assignmentsOf } from "./environment-variables.js";
import { type Call, type Condition, subject } from "./row.js";

const UNSEEN = "runs statements that nobody sees here on a database that is called production";
const COPIES = "copies a database that is called production";
const CHANGES = "changes the tables of a database that is called production";

/** Part of the name of a host, a database or a setting: `prod`, `prod-db.acme.example`, `app_production`. */
const PRODUCTION =
  /(?:^|[@/.:_=-])(?:prod|prd|production|live)(?:$|[./:_\d-])(?!.*(?:replica|readonly|read-only|mirror|staging))/i;
const HOST_OPTION =
  /^(?:-[hHSdDa]|--(?:host|server|hostname|dbname|database|db|url|uri|dsn|connection|account|cluster|project_id|project|env|environment|settings|profile|target)|-url|-x)$/;
const HOST_VARIABLE =
  /^(?:PGHOST|PGSERVICE|PGDATABASE|MYSQL_HOST|DB_HOST|DATABASE_HOST|\w*DATABASE_URL|\w*DB_URL|\w*_DSN|RAILS_ENV|RACK_ENV|APP_ENV|NODE_ENV|FLASK_ENV|DJANGO_SETTINGS_MODULE|MIX_ENV|ASPNETCORE_ENVIRONMENT)$/;

/** `$PROD_DATABASE_URL`, `$MONGO_PROD_URL`. */
const PRODUCTION_VARIABLE =
  /(?:^|_)(?:PROD|PRD|PRODUCTION|LIVE)(?:_(?!.*(?:REPLICA|READ_?ONLY|MIRROR|STAGING))|$)/i;

/** The word by which the line says that this is production. */
export function production({ args, command }: Call): ShellWord | undefined {
  const said = args.find(({ text, variables }, index) => {
    if (variables?.some((name) => PRODUCTION_VARIABLE.test(name)) === true) return true;
    if (HOST_OPTION.test(args[index - 1]?.text ?? "")) return PRODUCTION.test(text);
    const value = /^(?:-[hHS]|--?[\w-]+=)(.+)$/s.exec(text)?.[1];
    if (value !== undefined)
      return HOST_OPTION.test(text.replace(/=.*/s, "").slice(0, text.startsWith("--") ? undefined : 4)) ||
        /^-[hHS]\w/.test(text)
        ? PRODUCTION.test(value)
        : false;
    return /^[\w+]+:\/\//.test(text) ? PRODUCTION.test(text) : /@prod\w*$/i.test(text);
  });
  return (
    said ??
    assignmentsOf(command).find(({ name, value }) => HOST_VARIABLE.test(name) && PRODUCTION.test(value.text))
      ?.value
  );
}

const FILE_OPTION = /^(?:-[a-zA-Z\d]*[fi]|--(?:file|input|queries-file|input-file|filename))$/;

/** A file or the output of another command, in place of statements that can be read. */
const runsUnseen: Condition = (call) => {
  const { args, command } = call;
  const { kind } = command.input;
  const reads =
    kind === "file" ||
    kind === "commands" ||
    args.some(
      ({ text }, index) =>
        FILE_OPTION.test(args[index - 1]?.text ?? "") ||
        /^--(?:file|input|queries-file)=|^-f\S|^@\S|^\s*(?:source|\\\.|\\i)\s/.test(text) ||
        /\.(?:sql|cql|js|psql)$/.test(text),
    );
  return reads ? production(call) : undefined;
};

const MIGRATES =
  /^(?:(?:[\w:]*:)?(?:migrate|rollback|upgrade|downgrade|db:(?:migrate|seed|setup|rollback|schema:load|push)(?::\w+)?|ecto\.\w+|db\s+push|up|down|deploy|push|run)|update)$/;
const MIGRATORS =
  "rails|rake|alembic|flask|manage.py|django-admin|prisma|knex|sequelize|sequelize-cli|typeorm|artisan|flyway|liquibase|goose|migrate|dbmate|sqlx|diesel|drizzle-kit|atlas|sqitch|mix|dotnet-ef";
/** `python manage.py migrate`, `npx prisma migrate deploy`, `php artisan migrate`. */
const CARRIERS = "python|python3|php|npx|bunx|pnpm|yarn|bundle|poetry|uv";

const migrates: Condition = (call) => {
  const { args, command } = call;
  const names = new Set(MIGRATORS.split("|"));
  const at = names.has(command.program)
    ? 0
    : args.findIndex(({ text }) => names.has(text.split("/").at(-1) ?? "")) + 1;
  if (at === 0 && !names.has(command.program)) return undefined;
  return args.slice(at, at + 6).some(({ text }) => MIGRATES.test(text)) ? production(call) : undefined;
};

const SAYS_PRODUCTION = /^--?(?:prod|production|prodIfUnlocked)(?:=true)?$/;
const STAGE = /^(?:-s|-e|--(?:stage|env|environment|target|alias|site|context|branch))$/;

/** `vercel --prod`, `sls deploy --stage prod`: what everybody sees is replaced. */
const deploys: Condition = ({ args, operands, command: { program } }) => {
  const isDeploy =
    /^(?:vercel|vc|now)$/.test(program) && operands.length === 0
      ? true
      : operands
          .slice(0, 3)
          .some(({ text }) => /^(?:deploy|redeploy|publish|promote|release|pages|up)(?::\w+)?$/.test(text));
  return isDeploy
    ? args.find(
        ({ text }, index) =>
          SAYS_PRODUCTION.test(text) ||
          /^--(?:stage|env|environment|target)=(?:prod|production|live)$/.test(text) ||
          (STAGE.test(args[index - 1]?.text ?? "") && /^(?:prod|prd|production|live)$/i.test(text)),
      )
    : undefined;
};

const WHERE =
  /^(?:-n|-i|-l|-f|-c|-s|-e|--(?:namespace|context|kube-context|kubecontext|inventory|inventory-file|limit|project|values|cluster|environment|env|stage|profile|region|stack|selector|space|app|config))$/;
/** What changes a cluster, or the machines of a list. */
const CHANGES_THERE: Readonly<Record<string, RegExp>> = {
  helm: /^(?:upgrade|install|rollback)$/,
  helmfile: /^(?:apply|sync)$/,
  kubectl: /^(?:apply|replace|patch|create|edit|set|scale|rollout|autoscale|label|annotate|expose)$/,
  oc: /^(?:apply|replace|patch|create|edit|set|scale|rollout|start-build)$/,
  skaffold: /^(?:run|deploy|apply)$/,
  kapp: /^(?:deploy|app-group)$/,
  werf: /^converge$/,
  nomad: /^(?:run|job)$/,
  firebase: /^deploy$/,
  gcloud: /^(?:deploy|apply|update|patch)$/,
  fly: /^deploy$/,
  flyctl: /^deploy$/,
  eb: /^(?:deploy|swap|setenv)$/,
  sam: /^(?:deploy|sync)$/,
  cdk: /^deploy$/,
  "ansible-playbook": /\.ya?ml$/,
};
const ONLY_LOOKS = /^(?:status|history|logs|diff|list|get|plan|inspect|validate)$/;

/** `helm upgrade api . -n production`, `ansible-playbook -i inventories/production site.yml`. */
const changesThere: Condition = ({ args, operands, command: { program } }) => {
  const verb = Object.hasOwn(CHANGES_THERE, program) ? CHANGES_THERE[program] : undefined;
  const at = operands.slice(0, 4).findIndex(({ text }) => verb?.test(text));
  if (at < 0 || ONLY_LOOKS.test(operands[at + 1]?.text ?? "")) return undefined;
  return args.find(({ text }, index) => {
    const [, option, value] = /^(--[\w-]+)=(.*)$/s.exec(text) ?? [];
    const before = args[index - 1]?.text ?? "";
    return WHERE.test(option ?? before) && PRODUCTION.test(value ?? text);
  });
};

/** Data, as opposed to logs, pictures and builds. */
const DATA =
  /\/var\/(?:lib|backups?|opt)\/|\/(?:data|backups?|dumps?|exports?|pgdata|mysql|postgres\w*|mongo\w*|redis)(?:\/|$)|\.(?:sql|dump|bak|db|sqlite3?|rdb|bson|parquet)(?:\.\w+)?$|(?:^|[/_.-])(?:customers?|users|accounts|backups?|dumps?|exports?|pii|payments|orders|databases?|db)(?:$|[/_.\d-])/i;

const DUMPS =
  /\b(?:pg_dump|pg_dumpall|mysqldump|mariadb-dump|mongodump|mongoexport)\b(?!.*\s(?:--schema-only|-s|--no-data|--version|--help)\b)|\btar\b[^|]*\s\/var\/(?:lib|backups)\b|\bcat\b[^|]*\.(?:sql|db|dump|sqlite3?)\b/s;

/** `ssh prod 'pg_dump app'`, `kubectl exec -n prod db-0 -- mysqldump app`: what is dumped there comes here. */
const dumpsThere: Condition = ({ args }) => {
  const at = args.findIndex(({ text }) => PRODUCTION.test(text) && !/\s/.test(text));
  if (at < 0 || at > 6) return undefined;
  return DUMPS.test(
    args
      .slice(at + 1, at + 40)
      .map(({ text }) => text)
      .join(" "),
  )
    ? args[at]
    : undefined;
};

/** `kubectl cp prod/db-0:/data .`, `rsync prod:/var/lib/x .`, `aws s3 sync s3://prod-users .`. */
const copiesOut: Condition = ({ args, command: { program } }) => {
  const copies = args
    .slice(0, 6)
    .some(({ text }) => /^(?:cp|copy|sync|mirror|get|rsync|mv|pull|file)$/.test(text));
  if (!copies && !/^(?:scp|rsync|sftp)$/.test(program)) return undefined;
  const space = args.some(
    ({ text }, index) =>
      /^(?:-n|--namespace|--context|--profile|--project)$/.test(args[index - 1]?.text ?? "") &&
      PRODUCTION.test(text),
  );
  const places = args.filter(({ text }) => !text.startsWith("-"));
  return places.slice(0, -1).find(({ text }) => {
    const [, where = "", path = ""] =
      /^((?:s3|gs|az|https?):\/\/[^/]+|[^:/\s]+(?:\/[^:/\s]+)?):?(\/?.*)$/s.exec(text) ?? [];
    return (
      text.includes(":") &&
      (PRODUCTION.test(where) || (space && !/^\.|^\//.test(text))) &&
      DATA.test(`${where}${path}`)
    );
  });
};

/** What is done to databases that the line itself calls production. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("data", [
  { program: "psql|pgcli|usql|mysql|mariadb|mycli|sqlcmd|sqlplus|mongosh|mongo|cqlsh|clickhouse-client|snowsql|bq|redis-cli|trino|cockroach|pg_restore|mongorestore|mongoimport|mysqlimport|bcp",
    dry: "", when: (call) => /^(?:pg_restore|mongorestore|mongoimport|mysqlimport)$/.test(call.command.program) ? production(call) : runsUnseen(call), rule: "database.production", reason: UNSEEN,
    match: ["psql -h prod -1f migrations/1.sql", "mysql -h prod app < x.sql", "psql postgres://u@prod-db.acme.example/app -f x.sql", "cat x.sql | psql -h production", "PGHOST=prod psql -f x.sql", "sqlcmd -S prod -i x.sql", "mongosh mongodb://prod/app x.js"],
    not_match: ["psql -h prod -c 'select count(*) from users'", "psql -h localhost -f x.sql", "psql -d product_catalog -f x.sql", "mysql app < seed.sql", "psql -h prod-replica -f report.sql"] },
  { program: "pg_dump|pg_dumpall|mysqldump|mariadb-dump|mongodump|mongoexport|pg_basebackup|mydumper", dry: "s schema-only no-data d", when: (call) => production(call) ?? call.find(/^(?:\w+_)?(?:prod|production)$/), rule: "database.production", reason: COPIES,
    match: ["pg_dump -h prod customers | gzip > /tmp/c.gz", "mysqldump -h db.prod.acme.example app > a.sql", "pg_dump prod"],
    not_match: ["pg_dump -h localhost app > a.sql", "pg_dump app", "pg_dump --schema-only -h prod app"] },
  { program: `${MIGRATORS}|${CARRIERS}`, dry: "dry-run sql status", when: migrates, rule: "database.production", reason: CHANGES,
    match: ["RAILS_ENV=production rails db:migrate", "python manage.py migrate --settings=app.settings.production", "DATABASE_URL=postgres://prod/app npx prisma migrate deploy", "alembic -x env=prod upgrade head"],
    not_match: ["rails db:migrate", "RAILS_ENV=production rails assets:precompile", "python manage.py migrate", "NODE_ENV=production npx vite build"] },
  { program: "ssh|kubectl|oc|docker|podman|nerdctl", dry: "", when: dumpsThere, rule: "database.production", reason: COPIES,
    match: ["ssh prod 'pg_dump app' > x.sql", "kubectl exec -n prod db-0 -- pg_dump app", "ssh prod tar cz /var/lib/postgresql > x.tgz"],
    not_match: ["ssh prod uptime", "ssh staging pg_dump app", "ssh prod 'pg_dump --schema-only app'", "kubectl exec -n prod api-0 -- tar cz /var/log/app", "docker exec db pg_dump app"] },
  { program: "vercel|vc|now|netlify|ntl|sls|serverless|sst|firebase|wrangler|amplify|eb|chalice|zappa|railway|cap|kamal|copilot|fly|flyctl|render|mup|eas|expo|ng|nx|firebase-tools|shopify|ampx|arc|up",
    taking: "s stage e env environment t token scope", dry: "dry-run noprovision", when: deploys, rule: "publishing.production", reason: "puts a new version in front of everybody who uses it",
    match: ["vercel deploy --prod --yes", "vercel --prod", "netlify deploy --prod --dir dist", "sls deploy --stage prod", "wrangler deploy --env production", "kamal deploy -e production"],
    not_match: ["vercel deploy", "vercel", "netlify deploy --dir dist", "sls deploy --stage dev", "vercel env ls --prod", "ng build --prod", "netlify deploy --alias preview"] },
  { program: Object.keys(CHANGES_THERE).join("|"), taking: "n namespace i inventory l limit f filename values c context kube-context p patch type project e extra-vars set tags image",
    dry: "dry-run check syntax-check list-tasks list-hosts list-tags template client", when: changesThere, rule: "publishing.production", reason: "changes what runs in what the line calls production",
    match: ["helm upgrade --install api ./charts/api -n production -f values.prod.yaml", "kubectl apply -f x.yaml --context prod", "kubectl -n prod rollout restart deploy/api", "ansible-playbook -i inventories/production site.yml", "firebase deploy --project acme-prod", "helm rollback api 3 --namespace=prod"],
    not_match: ["helm upgrade api ./charts/api -n staging", "kubectl apply -f x.yaml", "kubectl -n prod get pods", "kubectl -n prod rollout status deploy/api", "ansible-playbook -i inventories/production site.yml --check", "helm template api . -f values.prod.yaml", "helm list -n production", "firebase deploy --only hosting", "kubectl apply -f k8s/product.yaml -n shop"] },
  { program: "redis-cli|valkey-cli", dry: "", word: /^--rdb$/, when: production, rule: "database.production", reason: COPIES, match: ["redis-cli -h prod --rdb dump.rdb"], not_match: ["redis-cli --rdb dump.rdb"] },
  { program: "kubectl|oc|docker|podman|nerdctl|scp|rsync|sftp|aws|gsutil|gcloud|rclone|mc|s5cmd|azcopy|lxc|incus", dry: "dry-run dryrun", when: copiesOut, rule: "database.production", reason: "copies data out of what is called production",
    match: ["kubectl cp prod/db-0:/var/lib/postgresql/data ./pg", "kubectl -n prod cp db-0:/data ./x", "docker cp prod-db:/var/lib/mysql ./x", "scp prod:/var/backups/db.sql .", "rsync -a prod:/var/lib/postgresql/ ./pg", "aws s3 sync s3://acme-prod-customers ./x", "gsutil cp -r gs://prod-backups ."],
    not_match: ["kubectl cp dev/db-0:/data ./x", "kubectl cp prod/api-0:/var/log/app.log .", "kubectl -n prod cp api-0:/tmp/heap.hprof .", "scp prod:/var/log/nginx/error.log .", "scp ./app.tgz prod:/srv/app", "aws s3 cp s3://acme-prod-assets/logo.png .", "docker cp web:/app/dist ./dist", "rsync -a ./data/ staging:/srv/data"] },
]);

import type { ShellWord, SimpleCommand } from "../types.js";
import { isForTests } from "./for-tests.js";
import { type Call, type Condition, subject } from "./row.js";
import { runsSql } from "./sql-clients.js";

const EMPTIES = "empties or drops a database";
const UNDOES = "undoes changes of a database, with the data in them";
const TAKING = "c config schema url database-url dir source path env e";
const RULE = "database.migration";

const TASKS =
  /^(?:db:(?:drop|reset|purge|schema:load|structure:load|truncate_all|migrate:reset|seed:replant|mongoid:(?:drop|purge)|wipe|migrate:undo:all|seed:undo:all)(?::\w+)?|migrate:(?:fresh|reset|refresh)|doctrine:(?:database|schema):drop|d:[ds]:d|schema:drop|orm:schema-tool:drop|ecto\.(?:drop|reset))$/;

const ENVIRONMENT = /^(?:RAILS|RACK|HANAMI|MIX|NODE|APP)_ENV$/;
/** The line says that the environment is the one for tests: `RAILS_ENV=test`, `--env=testing`; a database it names counts. */
function isTestEnvironment({ args, command: { assignments } }: Call): boolean {
  if (assignments.some(({ name }) => /DATABASE_URL$|_DSN$|^PGHOST$|DISABLE_/.test(name))) return false;
  return (
    assignments.some(({ name, value }) => ENVIRONMENT.test(name) && isForTests(value)) ||
    args.some(({ text }) => /^(?:RAILS_ENV|RACK_ENV|--env(?:ironment)?)=(?:test|testing)$/.test(text))
  );
}

/** Task runners and consoles whose operand names the task: `rails db:drop`, `artisan migrate:fresh`. */
const emptyingTask: Condition = (call) =>
  isTestEnvironment(call)
    ? undefined
    : call.operands.find(({ text }) => TASKS.test(text.replace(/\[.*\]$/, "")));

/** `php artisan …`, `php bin/console …`, `python manage.py …`: a script of the project, as the task runner it is. */
export function projectScript(command: SimpleCommand): SimpleCommand | undefined {
  const at = command.args.findIndex(({ text }) => !text.startsWith("-"));
  const program = /(?:^|\/)(artisan|console|doctrine|manage\.py)$/.exec(command.args[at]?.text ?? "")?.[1];
  return program === undefined ? undefined : { ...command, program, args: command.args.slice(at + 1) };
}

/** `yarn prisma …`, `pnpm run knex …`: a tool of the project, started by the package manager. */
export function projectTool(command: SimpleCommand): SimpleCommand | undefined {
  const words = command.args.filter(({ text }) => !/^(?:run|exec|dlx|x|-s|--silent|--)$/.test(text));
  const program = words[0]?.text ?? "";
  return PROJECT_TOOLS.test(program) ? { ...command, program, args: words.slice(1) } : undefined;
}
const PROJECT_TOOLS =
  /^(?:rails|rake|sequelize(?:-cli)?|typeorm|mix|artisan|symfony|console|doctrine|hanami|spring|prisma|knex|alembic|flask|flyway|liquibase|hasura|goose|migrate|dbmate|sqlx|diesel|drizzle-kit|sqitch|mikro-orm|wp|drush|dotnet|django-admin)$/;

const rollsBackAll: Condition = ({ flags, rest }) =>
  flags.has("all") || rest.some(({ text }: ShellWord) => text === "all");

/** Tools that change the shape of databases. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("database", [
  { dry: "dry-run", tools: [
    { program: "rails|rake|sequelize|sequelize-cli|typeorm|mix|artisan|symfony|console|doctrine|hanami|spring",
      taking: "e environment env f rakefile", dry: "dry-run n T tasks P pretend dump-sql",
      when: emptyingTask, rule: RULE, reason: EMPTIES, match: ["rails db:drop", "RAILS_ENV=production rails db:drop", "DATABASE_URL=postgres://a/b RAILS_ENV=test rails db:drop"],
      not_match: ["rake test", "RAILS_ENV=test bin/rails db:drop db:create db:schema:load", "MIX_ENV=test mix ecto.reset", "php artisan migrate:fresh --env=testing"] },
    { program: "php", dry: "", carries: projectScript, rows: [] },
    { program: "manage.py|django-admin", rule: RULE,
      not_match: ["python manage.py migrate", "python3 manage.py test"], rows: [
      { path: "flush|reset_db|reset_schema|clear_cache_all|drop_test_database", reason: EMPTIES,
        match: ["./manage.py reset_db"] },
      { path: "migrate * zero", reason: UNDOES, match: ["python3 manage.py migrate app zero"] },
    ] },
    { program: "prisma", taking: `${TAKING} file`, dry: "dry-run sql",
      not_match: ["npx prisma migrate dev", "prisma studio"], rows: [
      { path: "migrate reset", reason: EMPTIES, match: ["yarn prisma migrate reset"] },
      { path: "db push", options: "force-reset accept-data-loss", reason: EMPTIES,
        match: ["prisma db push --force-reset"], not_match: ["prisma db push"] },
      { path: "db drop", reason: EMPTIES, match: ["prisma db drop"] },
      { path: "db execute", when: runsSql(""), rule: "database.sql",
        reason: "changes or deletes data of a database",
        match: ["echo 'drop table users' | prisma db execute --stdin"] },
    ] },
    { program: "knex", taking: `${TAKING} knexfile`, path: "migrate:rollback", when: rollsBackAll,
      reason: UNDOES, match: ["npx knex migrate:rollback --all"], not_match: ["npx knex migrate:latest"] },
    { program: "alembic", taking: `${TAKING} n name x`, dry: "dry-run sql", path: "downgrade",
      reason: UNDOES, match: ["alembic downgrade base"], not_match: ["alembic history"] },
    { program: "flask", taking: `${TAKING} app A`, dry: "dry-run sql", not_match: ["flask run --port 5001"],
      rows: [
      { path: "db downgrade", reason: UNDOES, match: ["flask db downgrade"] },
      { path: "drop_all|drop-db|dropdb|reset-db", reason: EMPTIES, match: ["flask drop_all"] },
    ] },
    { program: "flyway", style: "go", path: "** clean|undo", reason: EMPTIES, match: ["flyway clean"] },
    { program: "liquibase", taking: TAKING, dry: "dry-run sql",
      path: "** drop-all|dropAll|rollback|rollback-count|rollbackCount|rollback-to-date", reason: EMPTIES,
      match: ["liquibase dropAll"] },
    { program: "hasura", taking: TAKING, path: "metadata clear", reason: EMPTIES,
      match: ["hasura metadata clear"] },
    { program: "goose", taking: TAKING, path: "** reset|down-to|down", reason: UNDOES, match: ["goose reset"] },
    { program: "migrate", taking: TAKING, path: "drop|down", reason: UNDOES, match: ["migrate drop"] },
    { program: "dbmate", taking: TAKING, path: "drop|down|rollback", reason: UNDOES, match: ["dbmate drop"] },
    { program: "sqlx", taking: TAKING, path: "database|db drop|reset", reason: EMPTIES,
      match: ["sqlx database drop"] },
    { program: "diesel", taking: TAKING, path: "database|db|migration reset|drop|redo", reason: EMPTIES,
      match: ["diesel database reset"] },
    { program: "drizzle-kit", taking: TAKING, reason: EMPTIES, rows: [
      { path: "drop", match: ["drizzle-kit drop"] },
      { path: "push|push:pg|push:mysql", options: "force", match: ["drizzle-kit push --force"],
        not_match: ["drizzle-kit push"] },
    ] },
    { program: "sqitch", taking: TAKING, path: "revert", reason: UNDOES, match: ["sqitch revert"] },
    { program: "mikro-orm", taking: TAKING, path: "schema:drop|schema:fresh|database:drop|migration:fresh",
      reason: EMPTIES, match: ["mikro-orm schema:drop"] },
  ] },
]);

import { parseOptions } from "../read/options.js";
import type { Rule, ShellWord } from "../types.js";
import { danger, forPrograms, has, type VerbRule, verbRule } from "./verb-table.js";

const EMPTIES = "empties or drops a database";
const UNDOES = "undoes changes of a database, with the data in them";

const TASKS =
  /^(?:db:(?:drop|reset|purge|schema:load|structure:load|truncate_all|migrate:reset|seed:replant|mongoid:(?:drop|purge)|wipe|migrate:undo:all|seed:undo:all)(?::\w+)?|migrate:(?:fresh|reset|refresh)|doctrine:(?:database|schema):drop|d:[ds]:d|schema:drop|orm:schema-tool:drop|ecto\.(?:drop|reset))$/;

/** Task runners and consoles whose operand names the task: `rails db:drop`, `artisan migrate:fresh`. */
const task = (operands: readonly ShellWord[]): ReturnType<Rule> => {
  const word = operands.find(({ text }) => TASKS.test(text.replace(/\[.*\]$/, "")));
  return word === undefined ? undefined : danger("database.migration", EMPTIES, word);
};

const taskRunner: Rule = (command) => {
  const options = parseOptions(command.args, { taking: ["e", "environment", "env", "f", "rakefile"] });
  return has(options, "n", "dry-run", "T", "tasks", "P", "pretend", "help")
    ? undefined
    : task(options.operands);
};

/** `php artisan …`, `php bin/console …`, `python manage.py …`: a script of the project with a task. */
const scriptTask: Rule = (command) => {
  const at = command.args.findIndex(({ text }) => !text.startsWith("-"));
  const script = command.args[at]?.text ?? "";
  const rest = command.args.slice(at + 1).filter(({ text }) => !text.startsWith("-"));
  if (/(?:^|\/)(?:artisan|console|doctrine)$/.test(script)) {
    return command.args.some(({ text }) => text === "--pretend" || text === "--dump-sql")
      ? undefined
      : task(rest);
  }
  return /(?:^|\/)manage\.py$/.test(script) ? django(rest) : undefined;
};

function django(rest: readonly ShellWord[]): ReturnType<Rule> {
  const [verb, , target] = rest;
  if (verb === undefined) return undefined;
  if (/^(?:flush|reset_db|reset_schema|clear_cache_all|drop_test_database)$/.test(verb.text))
    return danger("database.migration", EMPTIES, verb);
  if (verb.text === "migrate" && target?.text === "zero") return danger("database.migration", UNDOES, verb);
  return undefined;
}

const tool = (verbs: readonly VerbRule[], taking: readonly string[] = []): Rule =>
  verbRule({
    family: "database",
    taking: ["c", "config", "schema", "url", "database-url", "dir", "source", "path", "env", "e", ...taking],
    dry: ["dry-run", "sql"],
    verbs,
  });

const one = (path: string, reason: string): Rule => tool([{ path, reason }]);

/** `yarn prisma …`, `pnpm run knex …`: a tool of the project, started by the package manager. */
const projectTool: Rule = (command) => {
  const words = command.args.filter(({ text }) => !/^(?:run|exec|dlx|x|-s|--silent|--)$/.test(text));
  const name = words[0]?.text ?? "";
  const rule =
    Object.hasOwn(MIGRATIONS, name) && !/^(?:yarn|pnpm|npm|bun)$/.test(name) ? MIGRATIONS[name] : undefined;
  return rule?.({ ...command, program: name, args: words.slice(1) });
};

/** Tools that change the shape of databases. */
export const MIGRATIONS: Readonly<Record<string, Rule>> = {
  ...forPrograms(
    [
      "rails",
      "rake",
      "sequelize",
      "sequelize-cli",
      "typeorm",
      "mix",
      "artisan",
      "symfony",
      "console",
      "doctrine",
      "hanami",
      "spring",
    ],
    taskRunner,
  ),
  ...forPrograms(["php", "python", "python3", "python2"], scriptTask),
  ...forPrograms(["yarn", "pnpm", "npm", "bun"], projectTool),
  "manage.py": ({ args }) => django(args.filter(({ text }) => !text.startsWith("-"))),
  "django-admin": ({ args }) => django(args.filter(({ text }) => !text.startsWith("-"))),
  prisma: tool([
    { path: "migrate reset", reason: EMPTIES },
    { path: "db push", reason: EMPTIES, when: (call) => has(call, "force-reset", "accept-data-loss") },
    { path: "db drop", reason: EMPTIES },
  ]),
  knex: tool(
    [
      {
        path: "migrate:rollback",
        reason: UNDOES,
        when: (call) => has(call, "all") || call.rest.some(({ text }) => text === "all"),
      },
    ],
    ["knexfile"],
  ),
  alembic: tool([{ path: "downgrade", reason: UNDOES }], ["n", "name", "x"]),
  flask: tool(
    [
      { path: "db downgrade", reason: UNDOES },
      { path: "drop_all|drop-db|dropdb|reset-db", reason: EMPTIES },
    ],
    ["app", "A"],
  ),
  flyway: verbRule({ family: "database", style: "go", verbs: [{ path: "** clean|undo", reason: EMPTIES }] }),
  liquibase: tool([
    { path: "** drop-all|dropAll|rollback|rollback-count|rollbackCount|rollback-to-date", reason: EMPTIES },
  ]),
  dotnet: (command) => {
    const { operands } = parseOptions(command.args, {
      taking: ["project", "p", "startup-project", "s", "context", "c"],
    });
    const words = operands.map(({ text }) => text).join(" ");
    return /^ef database (?:drop|update 0)\b/.test(words) &&
      !command.args.some(({ text }) => text === "--dry-run")
      ? danger("database.migration", EMPTIES, operands[2])
      : undefined;
  },
  hasura: one("metadata clear", EMPTIES),
  goose: one("** reset|down-to|down", UNDOES),
  migrate: one("drop|down", UNDOES),
  dbmate: one("drop|down|rollback", UNDOES),
  sqlx: one("database|db drop|reset", EMPTIES),
  diesel: one("database|db|migration reset|drop|redo", EMPTIES),
  "drizzle-kit": tool([
    { path: "drop", reason: EMPTIES },
    { path: "push|push:pg|push:mysql", reason: EMPTIES, when: (call) => has(call, "force") },
  ]),
  sqitch: one("revert", UNDOES),
  "mikro-orm": one("schema:drop|schema:fresh|database:drop|migration:fresh", EMPTIES),
  wp: one("db reset|drop|clean", EMPTIES),
  drush: one("sql-drop|sql:drop|site:install|si", EMPTIES),
};

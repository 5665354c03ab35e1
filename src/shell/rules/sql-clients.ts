import { riskOfSql } from "../code/sql.js";
import { parseOptions } from "../read/options.js";
import type { Finding, Rule, ShellWord, SimpleCommand } from "../types.js";
import { danger, forPrograms, readOptions, valuesOf } from "./verb-table.js";

interface Client {
  /** Options whose value is SQL. */
  readonly sql: readonly string[];
  readonly taking?: readonly string[];
  readonly style?: "gnu" | "go";
  readonly mysql?: boolean;
  /** How many operands come before those that are SQL; without it operands are never SQL. */
  readonly sqlAfter?: number;
  /** Lines the client takes for itself that start a program. */
  readonly escapes?: RegExp;
}

function clientRule(client: Client): Rule {
  const spec = { taking: [...client.sql, ...(client.taking ?? [])], style: client.style ?? "gnu" };
  return (command) => {
    const args =
      client.mysql === true ? command.args.filter((word) => !/^-p./.test(word.text)) : command.args;
    const options = readOptions(args, spec);
    const texts = [...valuesOf(options, ...client.sql)];
    if (client.sqlAfter !== undefined) texts.push(...options.operands.slice(client.sqlAfter));
    return judgeTexts([...texts, ...inputText(command)], client) ?? judgeGenerated(command);
  };
}

/** `psql -c "select 'drop table ' || name …" | psql`: statements made by one client and run by another. */
function judgeGenerated(command: SimpleCommand): Finding | undefined {
  if (command.input.kind !== "commands") return undefined;
  const makes = command.input.from.some(
    ({ program, args }) =>
      Object.hasOwn(SQL_CLIENTS, program) &&
      args.some(({ text }) => /'[^']*\b(?:drop|truncate|delete|alter)\b/i.test(text)),
  );
  return makes ? danger("database.generated-sql", "runs statements that a query puts together") : undefined;
}

/** A here-document or known text that the client reads. */
export function inputText(command: SimpleCommand): readonly ShellWord[] {
  return command.input.kind === "text" ? [command.input.text] : [];
}

function judgeTexts(texts: readonly ShellWord[], client: Client): Finding | undefined {
  for (const word of texts) {
    if (client.escapes?.test(word.text) === true)
      return danger("database.shell-escape", "runs a program from a database client", word);
    const reason = riskOfSql(word.text, client.mysql === true ? { mysql: true } : {});
    if (reason !== undefined) return danger("database.sql", reason, word);
  }
  return undefined;
}

const psql = clientRule({
  sql: ["c", "command"],
  taking:
    "d dbname h host p port U username f file v set variable P pset F field-separator R record-separator L log-file o output T table-attr".split(
      " ",
    ),
  escapes:
    /^[ \t]*\\(?:!|setenv|o[ \t]*\|)|\\g[ \t]*\||^[ \t]*\\copy\b.{0,500}\b(?:to|from)[ \t]+program\b/im,
});

const mysql = clientRule({
  sql: ["e", "execute", "init-command"],
  taking:
    "h host P port u user D database S socket default-character-set defaults-file defaults-extra-file ssl-ca protocol password".split(
      " ",
    ),
  mysql: true,
  escapes: /^[ \t]*(?:\\!|system\s)/im,
});

const sqlite = clientRule({
  sql: ["cmd", "c", "s", "e", "execute"],
  taking: "separator init newline nullvalue maxsize mmap lookaside pagecache vfs".split(" "),
  style: "go",
  sqlAfter: 1,
  escapes:
    /^[ \t]*\.(?:sh|she|shel|shell|sys|syst|syste|system|load)\b|^[ \t]*\.(?:o|output|once|excel)\s+\|/im,
});

const byQuery = (sql: readonly string[], taking = "h host p port u user d database"): Rule =>
  clientRule({ sql, taking: taking.split(" ").filter((name) => !sql.includes(name)) });

/** `wrangler d1 execute DB --command …`, `turso db shell NAME …`: SQL given to a hosted database. */
const hosted = (path: readonly string[], client: Client): Rule => {
  const rule = clientRule(client);
  return (command) => {
    const { operands } = parseOptions(command.args, { taking: [...client.sql, ...(client.taking ?? [])] });
    return path.every((word, index) => operands[index]?.text === word) ? rule(command) : undefined;
  };
};

/** Programs that are given SQL, as option, operand or input. */
export const SQL_CLIENTS: Readonly<Record<string, Rule>> = {
  ...forPrograms(["psql", "pgcli", "usql", "gsql", "vsql"], psql),
  ...forPrograms(["mysql", "mariadb", "mycli"], mysql),
  ...forPrograms(["sqlite3", "sqlite", "duckdb", "libsql", "litecli"], sqlite),
  ...forPrograms(["clickhouse-client", "clickhouse-local"], byQuery(["q", "query", "queries"])),
  clickhouse: byQuery(["q", "query"]),
  ...forPrograms(["sqlcmd", "osql", "isql"], byQuery(["Q", "q", "query"], "S U P d i o server user")),
  ...forPrograms(["snowsql", "snow"], byQuery(["q", "query"], "a u d s w r c connection")),
  ...forPrograms(
    ["cqlsh", "hive", "spark-sql", "beeline", "cockroach"],
    byQuery(["e", "execute"], "u n p d k f host port url keyspace"),
  ),
  ...forPrograms(["trino", "presto", "presto-cli"], byQuery(["execute"], "server catalog schema user")),
  ...forPrograms(["impala-shell", "vtctlclient", "tdsql"], byQuery(["q", "query"], "i d u")),
  influx: clientRule({ sql: ["execute"], taking: ["database", "host", "port"], style: "go" }),
  ...forPrograms(["sqlplus", "tsql", "fbsql"], clientRule({ sql: [] })),
  ...forPrograms(
    ["db2", "cypher-shell"],
    clientRule({
      sql: [],
      taking: ["u", "p", "a", "d", "username", "password", "address", "database", "format"],
      sqlAfter: 0,
    }),
  ),
  wrangler: hosted(["d1", "execute"], { sql: ["command"], taking: ["c", "config", "env", "e", "file"] }),
  turso: hosted(["db", "shell"], { sql: [], sqlAfter: 3 }),
  bq: hosted(["query"], {
    sql: [],
    taking: ["project_id", "location", "dataset_id", "format", "max_rows"],
    sqlAfter: 1,
  }),
  heroku: hosted(["pg:psql"], { sql: ["c", "command"], taking: ["a", "app"] }),
  prisma: hosted(["db", "execute"], { sql: [], taking: ["file", "schema", "url"] }),
};

import { riskOfSql } from "../code/sql.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isCredentialFile, isCredentialStore, isStartupFile, isSystemPath } from "./places.js";
import { Call, type Condition, names, subject } from "./row.js";

interface SqlOptions {
  /** How many operands come before those that are SQL; without it operands are never SQL. */
  readonly after?: number;
  readonly mysql?: boolean;
}

/** A here-document or known text that the client reads. */
export function inputText(command: SimpleCommand): readonly ShellWord[] {
  return command.input.kind === "text" ? [command.input.text] : [];
}

/** What a client is given to run: values of the options, operands, input. */
function texts(given: Call, options: string, { after, mysql }: SqlOptions): readonly ShellWord[] {
  const call = mysql === true ? withoutPassword(given) : given;
  const operands = after === undefined ? [] : call.operands.slice(after);
  return [...call.given(...options.split(" ")), ...operands, ...inputText(call.command)];
}

/** `-psecret` is a password and no cluster of options. */
function withoutPassword({ command, reading }: Call): Call {
  return new Call({ ...command, args: command.args.filter(({ text }) => !/^-p./.test(text)) }, reading);
}

/** SQL that deletes or changes more than somebody would want unasked; `options` are those whose value is SQL. */
export const runsSql =
  (options: string, how: SqlOptions = {}): Condition =>
  (call) => {
    for (const word of texts(call, options, how)) {
      const reason = riskOfSql(word.text, how.mysql === true ? { mysql: true } : {});
      if (reason !== undefined) return { word, reason };
    }
    return undefined;
  };

/** Lines the client takes for itself that start a program. */
const escapes =
  (pattern: RegExp, options: string, how: SqlOptions = {}): Condition =>
  (call) =>
    texts(call, options, how).find(({ text }) => pattern.test(text));

/** `INTO`, `TO`, `.once`, `writefile(` and their kin: the file is written, not read. */
const WRITES_FILE =
  /\b(?:into|to|attach|writefile|lo_export|tee|outfile)\b|^[ \t]*(?:\.(?:o|out|output|once|log|trace|backup|save|clone|archive)|\\[owgs])\b/im;

/** Files that statements and orders of a client name: in quotes, or behind `.once`, `\\o`, `tee`. */
function filesIn(word: ShellWord): readonly ShellWord[] {
  const { text } = word;
  if (!/[/~]/.test(text) || text.length > LONGEST_STATEMENT) return [];
  return [
    ...text.matchAll(
      /'([/~][^'\n]*)'|(?:^|\n)\s*(?:[.\\]\w+|tee|source)\s+(?:-\S+\s+)*["']?([/~][^\s"';]*)/g,
    ),
  ].map((match) => ({ ...word, text: match[1] ?? match[2] ?? "" }));
}
const LONGEST_STATEMENT = 20_000;

/** A client that reads a key, or writes what is run or trusted later. */
const reachesFiles =
  (options: string, how: SqlOptions = {}): Condition =>
  (call) =>
    texts(call, options, how).find((word) =>
      filesIn(word).some(
        (file) =>
          isCredentialFile(file) ||
          (WRITES_FILE.test(word.text) &&
            (isStartupFile(file) || isSystemPath(file) || isCredentialStore(file))),
      ),
    );
const REACHES = "reads keys or writes files outside the database from a database client";

const CHANGES = "changes or deletes data of a database";
const STARTS = "runs a program from a database client";
const PSQL_STARTS =
  /^[ \t]*\\(?:!|setenv|[ow][ \t]*["']?\|)|\\g[ \t]*\||\\gexec\b|\\set\b[^\n]*`|^[ \t]*\\copy\b.{0,500}\b(?:to|from)[ \t]+program\b/im;
const SQLITE_STARTS =
  /^[ \t]*\.(?:sh|she|shel|shell|sy|sys|syst|syste|system|load)\b|^[ \t]*\.(?:o|output|once|excel|import|read)\s+(?:-\w+\s+)*["']?\||\bload_extension\s*\(|\bedit\s*\(|^\s*load\s+'[./~]/im;
/** A pager is a program too; these only show. */
const MYSQL_STARTS =
  /^[ \t]*(?:\\!|system\s|(?:pager|\\P)[ \t]+(?!(?:less|more|most|cat|bat|head|tail)\b))|\binstall\s+plugin\b|\bsoname\b/im;
const SQLITE = "cmd c s e execute";

const CLIENTS = names(
  "psql pgcli usql gsql vsql mysql mariadb mycli sqlite3 sqlite duckdb libsql litecli clickhouse-client " +
    "clickhouse-local clickhouse sqlcmd osql isql snowsql snow cqlsh hive spark-sql beeline cockroach trino presto " +
    "presto-cli impala-shell vtctlclient tdsql influx sqlplus tsql fbsql db2 cypher-shell wrangler turso bq heroku prisma",
);

/** `psql -c "select 'drop table ' || name …" | psql`: statements made by one client and run by another. */
const generated: Condition = ({ command: { input } }) =>
  input.kind === "commands" &&
  input.from.some(
    ({ program, args }) =>
      CLIENTS.has(program) && args.some(({ text }) => /'[^']*\b(?:drop|truncate|delete|alter)\b/i.test(text)),
  )
    ? {}
    : undefined;

/** Programs that are given SQL, as option, operand or input. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("database", [
  { program: "psql|pgcli|usql|gsql|vsql",
    taking: "c command d dbname h host p port U username f file v set variable P pset F field-separator R record-separator L log-file o output T table-attr",
    dry: "", not_match: ["psql -c 'SELECT 1'", "psql -f schema.sql"], rows: [
    { when: escapes(PSQL_STARTS, "c command"), rule: "database.shell-escape", reason: STARTS,
      match: ["psql -c '\\! rm -rf x'"], not_match: ["psql -l"] },
    { when: reachesFiles("c command"), rule: "database.files", reason: REACHES,
      match: ["psql -c \"\\copy t to '/etc/cron.d/x'\""] },
    { when: runsSql("c command"), rule: "database.sql", reason: CHANGES, match: ["psql -c 'TRUNCATE users'"],
      not_match: ["psql -c '\\dt'"] },
  ] },
  { program: "mysql|mariadb|mycli",
    taking: "e execute init-command h host P port u user D database S socket default-character-set defaults-file defaults-extra-file ssl-ca protocol password",
    dry: "", not_match: ["mysql < schema.sql", "mysql -e \"select replace(x,'drop','') from t\""], rows: [
    { when: escapes(MYSQL_STARTS, "e execute init-command", { mysql: true }),
      rule: "database.shell-escape", reason: STARTS, match: ["mysql -e '\\! ls'"],
      not_match: ["mysql shop < seed.sql"] },
    { when: reachesFiles("e execute init-command", { mysql: true }), rule: "database.files", reason: REACHES,
      match: ["mysql -e \"LOAD DATA LOCAL INFILE '/etc/shadow' INTO TABLE t\""] },
    { when: runsSql("e execute init-command", { mysql: true }), rule: "database.sql", reason: CHANGES,
      match: ["mariadb -e 'DROP USER bob'"], not_match: ["mysql -e 'SHOW TABLES'"] },
  ] },
  { program: "sqlite3|sqlite|duckdb|libsql|litecli",
    taking: `${SQLITE} separator init newline nullvalue maxsize mmap lookaside pagecache vfs`, style: "go",
    dry: "", not_match: ["sqlite3 app.db '.tables'", "sqlite3 :memory: 'select 1'"], rows: [
    { when: escapes(SQLITE_STARTS, SQLITE, { after: 1 }), rule: "database.shell-escape", reason: STARTS,
      match: ["sqlite3 app.db '.system id'"], not_match: ["duckdb -c 'select 1'"] },
    { when: reachesFiles(SQLITE, { after: 1 }), rule: "database.files", reason: REACHES,
      match: ["sqlite3 app.db '.once /etc/cron.d/x' 'select 1'"] },
    { when: runsSql(SQLITE, { after: 1 }), rule: "database.sql", reason: CHANGES,
      match: ['duckdb x.db "DROP TABLE t"'], not_match: ["sqlite3 app.db .schema"] },
  ] },
  { rule: "database.sql", reason: CHANGES, tools: [
    { program: "clickhouse-client|clickhouse-local|clickhouse|impala-shell|vtctlclient|tdsql",
      taking: "q query queries h host p port u user d database i", when: runsSql("q query queries"),
      match: ["clickhouse-client -q 'DROP TABLE events'"], not_match: ["clickhouse-client -q 'SELECT 1'"] },
    { program: "sqlcmd|osql|isql", taking: "Q q query S U P d i o server user", when: runsSql("Q q query"),
      match: ['sqlcmd -Q "DROP DATABASE shop"'] },
    { program: "snowsql|snow", taking: "q query a u d s w r c connection", when: runsSql("q query"),
      match: ["snowsql -q 'DROP TABLE t'"] },
    { program: "cqlsh|hive|spark-sql|beeline|cockroach",
      taking: "e execute u n p d k f host port url keyspace", when: runsSql("e execute"),
      match: ["cqlsh -e 'DROP KEYSPACE shop'"] },
    { program: "trino|presto|presto-cli", taking: "execute server catalog schema user",
      when: runsSql("execute"), match: ["trino --execute 'drop table t'"],
      not_match: ["trino --execute 'select 1'"] },
    { program: "sqlplus|tsql|fbsql", when: runsSql(""), match: ["echo 'drop table t;' | sqlplus scott"] },
    { program: "db2|cypher-shell", taking: "u p a d username password address database format",
      when: runsSql("", { after: 0 }), match: ["cypher-shell 'MATCH (n) DETACH DELETE n'"],
      not_match: ["cypher-shell 'MATCH (n) RETURN n LIMIT 5'"] },
  ] },
  { program: "influx", taking: "execute database host port token org bucket", style: "go", rows: [
    { when: runsSql("execute"), rule: "database.sql", reason: CHANGES,
      match: ["influx -execute 'DROP DATABASE metrics'"] },
    { path: "delete", reason: "deletes a database or an account of it", match: ["influx delete"] },
    { path: "* delete", reason: "deletes a database or an account of it", match: ["influx web delete"] },
  ] },
  { program: "bq", taking: "project_id location dataset_id format max_rows", not_match: ["bq ls"], rows: [
    { path: "query", when: runsSql("", { after: 1 }), rule: "database.sql", reason: CHANGES,
      match: ["bq query --use_legacy_sql=false 'DELETE FROM d.t WHERE true'"],
      not_match: ["bq query 'SELECT 1'"] },
    { path: "rm|remove", reason: "deletes a database or an account of it", match: ["bq rm -r -f dataset"] },
  ] },
  { program: [...CLIENTS].filter((name) => !/^(?:wrangler|turso|heroku|prisma)$/.test(name)).join("|"),
    when: generated, rule: "database.generated-sql", reason: "runs statements that a query puts together",
    match: ["psql -tAc \"select 'drop table ' || tablename from pg_tables\" | psql"], not_match: ["bq ls"] },
]);

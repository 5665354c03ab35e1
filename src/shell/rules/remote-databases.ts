import { isWord, type SqlToken, sqlStatements } from "../code/sql.js";
import type { ShellWord } from "../types.js";
import { hostOf, isElsewhere, isOwnHost } from "./addresses.js";
import { production } from "./production.js";
import { type Call, type Clue, type Condition, names, subject } from "./row.js";
import { inputText } from "./sql-clients.js";

const CHANGES = "does more than read in a database that others use";

/** The word by which the line says that the database is not one of this machine, nor a neighbour without a domain. */
function elsewhere(call: Call): ShellWord | undefined {
  return (
    production(call) ??
    call.args.find(({ text }) => isRemoteHost(/(?:^|\s)host(?:addr)?=(\S+)/.exec(text)?.[1])) ??
    call.given("h", "host", "S", "server", "url", "u", "uri").find(({ text }) => isRemote(text)) ??
    call.args.find(
      ({ text }) =>
        /^(?:-h|--host=|[a-z][\w+]*:\/\/)\S/.test(text) && isRemote(text.replace(/^(?:-h|--host=)/, "")),
    )
  );
}

const isRemoteHost = (text: string | undefined): boolean =>
  text !== undefined && (isRemote(text) || /^prod\b/.test(text));

function isRemote(text: string): boolean {
  const host = hostOf(text);
  return isElsewhere(text) && host !== undefined && !isOwnHost(host) && /[.:]/.test(host);
}

const READING_SQL = names(
  "SELECT WITH SHOW EXPLAIN DESCRIBE DESC TABLE VALUES USE SET BEGIN START COMMIT ROLLBACK END HELP PRAGMA LIST STATUS ANALYZE MATCH RETURN FROM SUMMARIZE EXISTS DECLARE FETCH CLOSE PRINT GO COPY",
);
const WRITES_SQL = names(
  "INSERT UPDATE DELETE MERGE INTO LOCK TRUNCATE ALTER DROP CREATE GRANT REVOKE PG_SLEEP SLEEP BENCHMARK WAITFOR PG_TERMINATE_BACKEND PG_CANCEL_BACKEND PG_RELOAD_CONF PG_ROTATE_LOGFILE " +
    "PG_SWITCH_WAL PG_PROMOTE PG_ADVISORY_LOCK SET_CONFIG SETVAL NEXTVAL LO_IMPORT LO_EXPORT LO_UNLINK DBLINK DBLINK_EXEC CALL EXEC EXECUTE GLOBAL PERSIST OUTFILE DUMPFILE LOAD_FILE GET_LOCK DETACH",
);
/** What a client does for itself: describes, shows, formats. */
const READING_META =
  /^[ \t]*(?:\\(?:d\S*|l\+?|x|timing|conninfo|pset|echo|q|a|t|z|s[fv]\+?|h|\?|encoding|dt\S*|du|dn|errverbose|watch|copy\s*(?:\(.*\)|\S+)\s*to\s+(?!program).*)(?:\s.*)?|\.(?:tables|schema|headers|mode|indexes|databases)\b.*)$/gm;
/** Functions of ClickHouse that reach elsewhere; as the name of a column they say nothing. */
const REACHES = names("REMOTE REMOTESECURE URL S3 FILE HDFS POSTGRESQL MYSQL EXECUTABLE CALL");
const SERIES = ["GENERATE_SERIES", "GENERATE_ARRAY", "NUMBERS", "NUMBERS_MT", "RANGE", "REPEAT", "SEQUENCE"];
const ENDLESS = 1e7;

function changesSql(text: string, mysql: boolean): boolean {
  return sqlStatements(text.replace(READING_META, ""), { mysql }).some(writes);
}

function writes(statement: readonly SqlToken[]): boolean {
  const [first] = statement;
  if (first === undefined || (first.kind === "sign" && statement.length === 1)) return false;
  const start = statement.find(({ kind }) => kind === "word");
  if (start === undefined || !READING_SQL.has(start.text)) return true;
  if (isWord(start, "COPY"))
    return (
      statement.some((token) => isWord(token, "PROGRAM")) ||
      (statement[1]?.text !== "(" && statement.some((token) => isWord(token, "FROM")))
    );
  if (isWord(start, "SET"))
    return statement.slice(1, 3).some((token) => isWord(token, "GLOBAL", "PERSIST", "PASSWORD"));
  return statement.some(
    ({ kind, text }, index) =>
      (kind === "word" && WRITES_SQL.has(text)) ||
      (kind === "word" && REACHES.has(text) && statement[index + 1]?.text === "(") ||
      (kind === "number" && Number(text) >= ENDLESS && statement.some((token) => isWord(token, ...SERIES))),
  );
}

const asksSql =
  (options: string, how: { readonly mysql?: boolean; readonly after?: number } = {}): Condition =>
  (call) => {
    const given = [
      ...call.given(...options.split(" ")),
      ...(how.after === undefined ? [] : call.operands.slice(how.after)),
      ...inputText(call.command),
    ];
    return beyondReading(
      call,
      given.find(({ text }) => changesSql(text, how.mysql === true)),
    );
  };

const beyondReading = (call: Call, word: ShellWord | undefined): Clue | undefined =>
  word !== undefined && elsewhere(call) !== undefined ? { word } : undefined;

const READING_REDIS =
  /^(?:(?:m?get|getrange|strlen|exists|type|t?ttl|pttl|expiretime|object|hgetall|hm?get|hlen|hkeys|hvals|hexists|hscan|llen|lrange|lindex|lpos|smembers|scard|s(?:m)?ismember|sscan|srandmember|sinter|sunion|sdiff|zrange\w*|zrevrange\w*|zcard|zscore|zmscore|zcount|zrank|zrevrank|zscan|scan|info|ping|dbsize|time|echo|command|randomkey|lastsave|role|bit(?:count|pos)|getbit|xrange|xrevrange|xlen|xinfo|xpending|pubsub|slowlog|latency|memory|geo(?:dist|hash|pos|search)|pfcount|dump|json\.get|ft\.(?:search|info|_list)|select|auth|hello|readonly)$|(?:config|acl|client|cluster|script|function) (?:get|list|whoami|info|nodes|slots|shards|getname|id|exists|stats|keyslot|cat|getuser|dump|myid)\b)/i;

const redisBeyond: Condition = (call) => {
  const { operands, command } = call;
  const lines = [
    operands.map(({ text }) => text).join(" "),
    ...inputText(command).flatMap(({ text }) => text.split("\n")),
  ];
  const beyond = lines.some((line) => {
    const words = line.trim().split(/\s+/);
    return (
      words[0] !== "" &&
      !READING_REDIS.test(words[0] ?? "") &&
      !READING_REDIS.test(words.slice(0, 2).join(" "))
    );
  });
  return beyond ? beyondReading(call, operands[0] ?? inputText(command)[0]) : undefined;
};

const CALLED = /\.\s*(\w+)\s*\(/g;
const READING_MONGO =
  /^(?:find|findOne|count|countDocuments|estimatedDocumentCount|aggregate|distinct|stats|dataSize|storageSize|totalSize|totalIndexSize|getIndexes|getIndices|explain|limit|skip|sort|hint|toArray|forEach|pretty|project|next|hasNext|itcount|size|batchSize|maxTimeMS|allowDiskUse|getCollection|getSiblingDB|getCollectionNames|getCollectionInfos|getName|getMongo|getDBs|getDBNames|version|hello|isMaster|status|conf|config|serverStatus|serverBuildInfo|hostInfo|currentOp|getUsers|getRoles|getUser|getProfilingStatus|getLogComponents|printShardingStatus|printReplicationInfo|printSecondaryReplicationInfo|map|filter|reduce|join|slice|keys|values|entries|stringify|parse|length|includes|push|log|table|toString|toISOString|getTime|getFullYear|toFixed|round|min|max|floor|readPref|setReadPref|getShardDistribution|validate|latencyStats|isCapped|split|trim|match|test|indexOf|some|every|concat|getTimestamp|valueOf)$/;
const mongoBeyond: Condition = (call) => {
  const word = [...call.given("eval"), ...inputText(call.command)].find(
    ({ text }) =>
      [...text.slice(0, LONGEST_SCRIPT).matchAll(CALLED)].some(
        ([, name = ""]) => !READING_MONGO.test(name),
      ) || /\$(?:out|merge|where)\b|\bwhile\s*\(|\bfor\s*\(\s*;\s*;|\bsleep\s*\(|\uFFFC/.test(text),
  );
  return beyondReading(call, word);
};
const LONGEST_SCRIPT = 20_000;

/** Databases elsewhere: reading is listed, the rest is asked about. Those of this machine are judged by what is deleted. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("data", [
  { rule: "database.elsewhere", reason: CHANGES, dry: "", tools: [
    { program: "psql|pgcli|usql|gsql|vsql", taking: "c command d dbname h host p port U username f file v set variable P pset F field-separator o output", when: asksSql("c command"),
      match: ["psql -h db.acme.example -c 'UPDATE users SET a = 1 WHERE id = 3'", "psql \"$PROD_DATABASE_URL\" -c 'LOCK TABLE users'", "psql postgres://me@10.0.0.5/app -c 'select pg_sleep(9999)'", "psql -h prod -c 'select count(*) from generate_series(1, 1e9)'"],
      not_match: ["psql -h db.acme.example -c 'select count(*) from users'", "psql \"$PROD_DATABASE_URL\" -c '\\dt'", "psql \"$DATABASE_URL\" -c 'insert into a values (1)'", "psql -h db -c 'create table a (b int)'", "psql -h localhost -c 'vacuum'"] },
    { program: "mysql|mariadb|mycli", taking: "e execute init-command h host P port u user D database S socket protocol password", when: asksSql("e execute", { mysql: true }),
      match: ["mysql -h db.acme.example -e 'SET GLOBAL read_only = 1'", "mysql -h prod app -e 'insert into a values (1)'"], not_match: ["mysql -h db.acme.example -e 'show processlist'", "mysql -h 127.0.0.1 app -e 'insert into a values (1)'"] },
    { program: "clickhouse-client|clickhouse|cqlsh|snowsql|snow|trino|presto|cockroach|sqlcmd|hive|beeline|spark-sql|impala-shell", taking: "q query queries Q e execute h host server p port u user d database S U P url k keyspace f", when: asksSql("q query queries Q e execute"),
      match: ["clickhouse-client -h ch.acme.example -q 'OPTIMIZE TABLE a FINAL'", "sqlcmd -S prod -Q 'update a set b = 1 where c = 2'"], not_match: ["clickhouse-client -h ch.acme.example -q 'select url, file from t'", "clickhouse-client -q 'optimize table a'"] },
    { program: "redis-cli|valkey-cli|keydb-cli", taking: "h p n a u s user pass i r count pattern", unless: /^--(?:scan|stat|bigkeys|memkeys|hotkeys|latency\S*|rdb)$/, when: redisBeyond,
      match: ["redis-cli -h cache.acme.example DEL a", "redis-cli -h prod KEYS '*'", "redis-cli -u redis://cache.acme.example EXPIRE a 1"], not_match: ["redis-cli -h cache.acme.example GET a", "redis-cli -h localhost DEL a", "redis-cli -h redis SET a b", "redis-cli -h prod --scan"] },
    { program: "mongosh|mongo", taking: "eval host port u username p password authenticationDatabase f file", when: mongoBeyond,
      match: ["mongosh mongodb://db.acme.example/app --eval 'db.a.insertOne({})'", "mongosh \"$MONGO_PROD_URL\" --eval 'for(;;){db.a.find()}'", "mongosh --host prod --eval 'db.adminCommand({fsync: 1})'"],
      not_match: ["mongosh mongodb://db.acme.example/app --eval 'db.a.find().limit(3)'", "mongosh --eval 'db.a.insertOne({})'", "mongosh \"$MONGO_PROD_URL\" --quiet --eval 'printjson(db.stats())'"] },
  ] },
]);

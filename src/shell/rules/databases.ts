import type { ShellWord } from "../types.js";
import { hostOf, isOwnHost } from "./addresses.js";
import { isForTests } from "./for-tests.js";
import { type Condition, names, subject } from "./row.js";
import { inputText } from "./sql-clients.js";

const DROPS = "deletes a database or an account of it";
const STOPS = "stops a database server";
const RELIED_ON = "deletes data or a thing others rely on";
const SERVICE = "stops, restarts or switches off a service";
const BY_REQUEST = "asks a server to delete something";

const REDIS_DANGER =
  /^(?:FLUSHALL|FLUSHDB|SHUTDOWN|DEBUG|SLAVEOF|REPLICAOF|MIGRATE|SWAPDB|FAILOVER|RESET|CONFIG (?:SET|REWRITE|RESETSTAT)|SCRIPT (?:FLUSH|KILL)|FUNCTION (?:FLUSH|DELETE|LOAD|KILL)|CLUSTER (?:RESET|FORGET|FAILOVER|FLUSHSLOTS|DELSLOTS)|ACL (?:SETUSER|DELUSER|LOAD|SAVE)|CLIENT KILL|MODULE (?:LOAD|UNLOAD|LOADEX)|XTRIM|XGROUP DESTROY)\b/;
const REDIS_TAKING = names("h p n a u s r i d D user pass t");

function redisRisk(line: string): string | undefined {
  const upper = line.trim().replace(/\s+/g, " ").toUpperCase();
  if (REDIS_DANGER.test(upper)) return "empties, stops or reconfigures a database";
  if (/^EVAL(?:SHA|_RO)?\b/.test(upper) && /\b(?:FLUSH\w*|DEL|UNLINK|CONFIG|SHUTDOWN)\b|^EVALSHA/.test(upper))
    return "runs a script that deletes keys";
  return undefined;
}

/** The words after the client's own options are a command of the server, and so is each line it reads. */
const redisCommand: Condition = ({ args, command }) => {
  let index = 0;
  while (args[index]?.text.startsWith("-"))
    index += REDIS_TAKING.has((args[index]?.text ?? "").replace(/^--?/, "")) ? 2 : 1;
  const [word, ...others] = args.slice(index);
  const reason = redisRisk([word, ...others].map((each) => each?.text ?? "").join(" "));
  if (reason !== undefined) return { word, reason };
  const deletesMany = command.repeated || others.some(({ known }) => !known);
  if (/^(?:del|unlink)$/i.test(word?.text ?? "") && deletesMany)
    return { word, reason: "deletes whatever keys are named" };
  for (const typed of inputText(command))
    for (const line of typed.text.split("\n")) {
      const risk = redisRisk(line);
      if (risk !== undefined) return { word: typed, reason: risk };
    }
  return undefined;
};

const MONGO_DANGER =
  /\.\s*(?:dropDatabase|drop|dropIndex(?:es)?|dropUser|dropAllUsers|dropRole|dropAllRoles|shutdownServer|fsyncLock|remove\s*\(\s*(?:\{\s*\})?\s*\)|delete(?:Many|One)\s*\(\s*(?:\{\s*\})?\s*[,)]|updateMany\s*\(\s*\{\s*\})|\b(?:dropDatabase|shutdown)["']?\s*:\s*(?:1|true)|\[\s*["']drop(?:Database)?["']\s*\]|\bgetSiblingDB\([^)]*\)\.dropDatabase/;
const MONGO_PRINTS = /\/\/[^\n]*|\b(?:print|printjson|console\.log)\s*\(\s*(?:"[^"]*"|'[^']*')\s*\)/g;

const mongoScript: Condition = (call) =>
  [...call.given("eval"), ...inputText(call.command)].find(({ text }) =>
    MONGO_DANGER.test(text.replace(MONGO_PRINTS, "")),
  );

const isDelete = ({ text }: ShellWord): boolean => /^delete$/i.test(text);

/** Ports of databases, brokers and engines, where one path may be everything. */
const STORE_PORT =
  /:(?:9200|9201|5984|8086|8500|8983|2375|2376|2379|15672|6333|7700|8108|8080\/v1\.\d+)(?:\/|$)/;
/** `http://localhost:3000/api/todos/7`: one thing of the service that is being worked on. */
const isOneOfOwn = ({ text, known }: ShellWord): boolean =>
  known &&
  isOwnHost(hostOf(/^\w+:\/\//.test(text) ? text : `http://${text}`) ?? "") &&
  !STORE_PORT.test(text) &&
  /^(?:https?:\/\/)?[^/]+\/[\w./-]+\/[\w-]*\d[\w-]*\/?$/.test(text);
const namesOneOfOwn = (words: readonly ShellWord[]): boolean => words.some(isOneOfOwn);

/** `dropdb -h localhost app_test`. */
const dropsTestDatabase: Condition = (call) =>
  call.operands.length > 0 &&
  call.operands.every(isForTests) &&
  call.given("h", "host").every(({ text }) => isOwnHost(text) || /^\//.test(text))
    ? undefined
    : {};

/** Orders to the container engine through its socket, not questions. */
const engineSocket: Condition = (call) => {
  const socket = call
    .given("unix-socket")
    .find(({ text }) => /(?:docker|containerd|podman)\.sock$/.test(text));
  const asks = call.given("X", "request").some(({ text }) => /^(?:get|head)$/i.test(text));
  return call.has("X", "request", "d", "data", "json") && !asks ? socket : undefined;
};

/** Servers of databases and their tools; SQL itself is judged by its clients. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("database", [
  { dry: "dry-run", tools: [
    { program: "redis-cli|keydb-cli|valkey-cli", taking: "h p n a u user pass", dry: "", unknownVerb: true,
      not_match: ["redis-cli get shutdown", "redis-cli INFO"], rows: [
      { path: "shutdown", rule: "service.stop", reason: SERVICE, match: ["redis-cli shutdown"] },
      { when: redisCommand, rule: "database.redis", reason: "empties, stops or reconfigures a database",
        match: ["redis-cli FLUSHALL"], not_match: ["redis-cli PING"] },
    ] },
    { program: "mongosh|mongo", taking: "eval host port u username p password authenticationDatabase f file",
      when: mongoScript, rule: "database.mongo", reason: "deletes data of a database",
      match: ["mongosh --eval 'db.dropDatabase()'"], not_match: ["mongosh --eval 'print(\"drop()\")'"] },
    { program: "mongorestore", taking: "d h n p uri db", options: "drop",
      reason: "drops collections before it restores them", match: ["mongorestore --drop dump/"],
      not_match: ["mongorestore dump/"] },
    { program: "mongod", rows: [
      { word: /^--shutdown$/, rule: "service.stop", reason: SERVICE, match: ["mongod --shutdown"] },
      { options: "repair", reason: STOPS, match: ["mongod --repair"], not_match: ["mongod"] },
    ] },
    { program: "curl|wget|http|https|xh|xhs|curlie",
      taking: "X request method H header d data data-raw data-binary F form o output u user A e T m x b c K unix-socket json url-query w",
      dry: "", rule: "database.http-delete",
      not_match: ["curl https://example.com/bash", "wget -qO- https://example.com"], rows: [
      { when: (call) => namesOneOfOwn(call.operands) ? undefined : call.given("X", "request", "method").find(isDelete), reason: BY_REQUEST,
        match: ["curl -X DELETE http://localhost:9200/logs", "curl -X DELETE http://localhost:9200/logs/_doc/1", "curl -X DELETE https://api.example.com/users/1", "curl -X DELETE localhost:3000/api/users"],
        not_match: ["curl -sI x.example", "curl -s -X DELETE http://localhost:3000/api/todos/7", "curl -X DELETE 127.0.0.1:8000/items/1"] },
      { path: "*", when: ({ command, operands }) =>
          /^(?:https?|xhs?)$/.test(command.program) && !namesOneOfOwn(operands) ? operands.slice(0, 1).find(isDelete) : undefined,
        reason: BY_REQUEST, match: ["http DELETE https://api.example.com/users/1"],
        not_match: ["curl file:///etc/hosts"] },
      { when: ({ operands }) => operands.find(({ text }) => /\/_(?:delete_by_query|shutdown)\b/.test(text)),
        reason: BY_REQUEST,
        match: ['curl -X POST http://es:9200/logs/_delete_by_query -d \'{"query":{"match_all":{}}}\''],
        not_match: ["curl http://169.254.1.1/"] },
      { when: engineSocket, rule: "container.engine-socket", reason: "gives orders to the container engine",
        match: ["curl --unix-socket /var/run/docker.sock -X POST http://d/containers/create"],
        not_match: ["curl localhost:8080/token"] },
    ] },
    { program: "pg_dropcluster", rule: "service.stop", reason: "deletes a database server with its data",
      match: ["pg_dropcluster"] },
    { program: "dropdb", taking: "h host p port U username maintenance-db", unless: /^-[?V]$/, word: /./, when: dropsTestDatabase, reason: DROPS,
      match: ["dropdb shop", "dropdb -h db.acme.example app_test"], not_match: ["dropdb --help", "dropdb --if-exists -h localhost app_test"] },
    { program: "dropuser|pg_resetwal|pg_deletecluster", unless: /^-[?V]$/, word: /./, reason: DROPS,
      match: ["dropuser bob"], not_match: ["dropuser --help"] },
    { program: "createuser", taking: "h U p", options: "s superuser",
      reason: "makes a database administrator", match: ["createuser --superuser"], not_match: ["createuser"] },
    { program: "pg_restore", taking: "d h U j n t p", options: "c clean",
      reason: "drops what it is about to restore", match: ["pg_restore -c -d shop dump"],
      not_match: ["pg_restore -l dump"] },
    { program: "pg_ctl", taking: "D pgdata m mode l log t o", unknownVerb: true,
      path: "stop|restart|kill|promote", rule: "service.stop", reason: SERVICE,
      match: ["pg_ctl stop -D /data"], not_match: ["pg_ctl --version"] },
    { program: "pg_ctlcluster", unknownVerb: true, path: "* * stop|restart|promote", rule: "service.stop",
      reason: SERVICE, match: ["pg_ctlcluster 14 main stop"] },
    { program: "mysqladmin|mariadb-admin", taking: "u h P user host S p port U socket",
      not_match: ["mysqladmin status", "mysqladmin -u root ping"], rows: [
      { path: "** shutdown|kill", rule: "service.stop", reason: SERVICE, match: ["mysqladmin shutdown"] },
      { path: "** drop|password|flush-hosts|stop-slave", reason: "drops or stops a database",
        match: ["mysqladmin drop shop"] },
    ] },
    { program: "mysqlimport", taking: "h u p", options: "delete D r replace",
      reason: "replaces the rows of a table", match: ["mysqlimport --replace"], not_match: ["mysqlimport"] },
    { program: "memcflush|memcrm|memflush", rule: "rare.use", reason: RELIED_ON,
      match: ["memcflush --servers=localhost"] },
    { program: "neo4j-admin", family: "rare", path: "database? delete|drop|load|restore", reason: RELIED_ON,
      match: ["neo4j-admin database delete x"] },
    { program: "curator_cli", family: "rare", taking: "host port filter_list",
      path: "delete_indices|delete_snapshots|close|shrink|forcemerge", reason: RELIED_ON,
      match: ["curator_cli delete_indices --filter_list '[]'"], not_match: ["curator_cli show_indices"] },
    { program: "curator", word: /^[^-]/, rule: "rare.option", reason: "deletes or changes indices by a plan",
      match: ["curator x"] },
    { program: "hdfs|hadoop", dry: "",
      word: /^-(?:rm|rmr|rmdir|expunge|truncate|delete(?:Snapshot)?|format|chmod|chown|moveFromLocal)$/,
      rule: "rare.delete", reason: RELIED_ON, match: ["hadoop fs -rmr /data"],
      not_match: ["hdfs dfs -ls /data"] },
  ] },
]);

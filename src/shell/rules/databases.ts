import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet, ShellWord } from "../types.js";
import { MIGRATIONS } from "./migrations.js";
import { inputText, SQL_CLIENTS } from "./sql-clients.js";
import { danger, forPrograms, has, valuesOf, verbRule } from "./verb-table.js";

const DROPS = "deletes a database or an account of it";
const STOPS = "stops a database server";

const REDIS_DANGER =
  /^(?:FLUSHALL|FLUSHDB|SHUTDOWN|DEBUG|SLAVEOF|REPLICAOF|MIGRATE|SWAPDB|FAILOVER|RESET|CONFIG (?:SET|REWRITE|RESETSTAT)|SCRIPT (?:FLUSH|KILL)|FUNCTION (?:FLUSH|DELETE|LOAD|KILL)|CLUSTER (?:RESET|FORGET|FAILOVER|FLUSHSLOTS|DELSLOTS)|ACL (?:SETUSER|DELUSER|LOAD|SAVE)|CLIENT KILL|MODULE (?:LOAD|UNLOAD|LOADEX)|XTRIM|XGROUP DESTROY)\b/;

function redisRisk(line: string): string | undefined {
  const command = line.trim().replace(/\s+/g, " ");
  const upper = command.toUpperCase();
  if (REDIS_DANGER.test(upper)) return "empties, stops or reconfigures a database";
  if (/^EVAL(?:SHA|_RO)?\b/.test(upper) && /\b(?:FLUSH\w*|DEL|UNLINK|CONFIG|SHUTDOWN)\b|^EVALSHA/.test(upper))
    return "runs a script that deletes keys";
  return undefined;
}

const redis: Rule = (command) => {
  const taking = "h p n a u s r i d D user pass t".split(" ");
  const args = command.args;
  let index = 0;
  while (args[index]?.text.startsWith("-"))
    index += taking.includes((args[index]?.text ?? "").replace(/^--?/, "")) ? 2 : 1;
  const words = args.slice(index);
  const line = words.map(({ text }) => text).join(" ");
  const [verb] = words;
  const reason = redisRisk(line);
  if (reason !== undefined) return danger("database.redis", reason, verb);
  const deletesMany = command.repeated || words.slice(1).some(({ known }) => !known);
  if (/^(?:del|unlink)$/i.test(verb?.text ?? "") && deletesMany)
    return danger("database.redis", "deletes whatever keys are named", verb);
  for (const text of inputText(command))
    for (const typed of text.text.split("\n")) {
      const typedReason = redisRisk(typed);
      if (typedReason !== undefined) return danger("database.redis", typedReason, text);
    }
  return undefined;
};

const MONGO_DANGER =
  /\.\s*(?:dropDatabase|drop|dropIndex(?:es)?|dropUser|dropAllUsers|dropRole|dropAllRoles|shutdownServer|fsyncLock|remove\s*\(\s*(?:\{\s*\})?\s*\)|delete(?:Many|One)\s*\(\s*(?:\{\s*\})?\s*[,)]|updateMany\s*\(\s*\{\s*\})|\b(?:dropDatabase|shutdown)["']?\s*:\s*(?:1|true)|\[\s*["']drop(?:Database)?["']\s*\]|\bgetSiblingDB\([^)]*\)\.dropDatabase/;

const mongo: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking: ["eval", "host", "port", "u", "username", "p", "password", "authenticationDatabase", "f", "file"],
  });
  for (const word of [...valuesOf(options, "eval"), ...inputText(command)]) {
    const bare = word.text.replace(
      /\/\/[^\n]*|\b(?:print|printjson|console\.log)\s*\(\s*(?:"[^"]*"|'[^']*')\s*\)/g,
      "",
    );
    if (MONGO_DANGER.test(bare)) return danger("database.mongo", "deletes data of a database", word);
  }
  return undefined;
};

const one = (path: string, reason: string, taking: readonly string[] = []): Rule =>
  verbRule({
    family: "database",
    taking: ["h", "host", "p", "port", "u", "user", "U", "S", "socket", "n", "vhost", ...taking],
    dry: ["dry-run"],
    verbs: [{ path, reason }],
  });

const withOption =
  (names: readonly string[], reason: string): Rule =>
  (command) => {
    const options = parseOptions(command.args, {
      taking: ["bootstrap-server", "topic", "zookeeper", "d", "h", "U", "j", "n", "t", "p", "uri", "db"],
    });
    return has(options, ...names) ? danger(`database.${command.program}`, reason) : undefined;
  };

const always =
  (reason: string): Rule =>
  (command) =>
    command.args.some(({ text }) => /^(?:--help|-\?|--version|-V)$/.test(text)) || command.args.length === 0
      ? undefined
      : danger(`database.${command.program}`, reason);

/** `curl -X DELETE`, `http DELETE`, and search servers told to delete by query. */
const httpDelete: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking:
      "X request method H header d data data-raw data-binary F form o output u user A e T m x b c K unix-socket json url-query w".split(
        " ",
      ),
  });
  const method = valuesOf(options, "X", "request", "method").find(({ text }) => /^delete$/i.test(text));
  if (method !== undefined)
    return danger("database.http-delete", "asks a server to delete something", method);
  const isDelete = (word: ShellWord | undefined): word is ShellWord =>
    word !== undefined && /^delete$/i.test(word.text);
  const [first] = options.operands;
  if (/^(?:https?|xhs?)$/.test(command.program) && isDelete(first))
    return danger("database.http-delete", "asks a server to delete something", first);
  const byQuery = options.operands.find(({ text }) => /\/_(?:delete_by_query|shutdown)\b/.test(text));
  if (byQuery !== undefined)
    return danger("database.http-delete", "asks a server to delete something", byQuery);
  const socket = valuesOf(options, "unix-socket").find(({ text }) =>
    /(?:docker|containerd|podman)\.sock$/.test(text),
  );
  const sends =
    has(options, "X", "request", "d", "data", "json") &&
    !valuesOf(options, "X", "request").some(({ text }) => /^(?:get|head)$/i.test(text));
  return socket !== undefined && sends
    ? danger("container.engine-socket", "gives orders to the container engine", socket)
    : undefined;
};

export const RULES: RuleSet = {
  family: "database",
  programs: {
    ...mergeRules(SQL_CLIENTS, MIGRATIONS, {
      bq: verbRule({
        family: "database",
        taking: ["project_id", "location", "dataset_id"],
        verbs: [{ path: "rm|remove", reason: DROPS }],
      }),
      influx: verbRule({
        family: "database",
        taking: ["host", "token", "org", "bucket"],
        verbs: [
          { path: "delete", reason: DROPS },
          { path: "* delete", reason: DROPS },
        ],
      }),
    }),
    ...forPrograms(["redis-cli", "keydb-cli", "valkey-cli"], redis),
    ...forPrograms(["mongosh", "mongo"], mongo),
    mongorestore: withOption(["drop"], "drops collections before it restores them"),
    mongod: withOption(["shutdown", "repair"], STOPS),
    ...forPrograms(["curl", "wget", "http", "https", "xh", "xhs", "curlie"], httpDelete),
    ...forPrograms(
      ["dropdb", "dropuser", "pg_dropcluster", "pg_resetwal", "pg_deletecluster"],
      always(DROPS),
    ),
    createuser: withOption(["s", "superuser"], "makes a database administrator"),
    pg_restore: withOption(["c", "clean"], "drops what it is about to restore"),
    pg_ctl: one("stop|restart|kill|promote", STOPS, ["D", "m", "l", "o"]),
    pg_ctlcluster: one("* * stop|restart|promote", STOPS),
    mysqladmin: one("** drop|shutdown|kill|password|flush-hosts|stop-slave", "drops or stops a database"),
    mysqlimport: withOption(["delete", "D", "r", "replace"], "replaces the rows of a table"),
    ...forPrograms(
      ["kafka-topics", "kafka-topics.sh", "kafka-consumer-groups", "kafka-consumer-groups.sh"],
      withOption(["delete", "delete-offsets"], "deletes a topic or group"),
    ),
    ...forPrograms(["kafka-delete-records", "kafka-delete-records.sh"], always("deletes messages")),
    rabbitmqctl: one(
      "delete_queue|delete_vhost|delete_user|purge_queue|reset|force_reset|stop|stop_app|shutdown|forget_cluster_node|clear_permissions|set_user_tags",
      "deletes or stops a message queue",
    ),
    rabbitmqadmin: one("delete|purge *", "deletes a message queue", ["V", "P"]),
    nats: one("** rm|purge|del|delete", "deletes messages", ["s", "server", "context"]),
    celery: one("** purge|shutdown", "deletes waiting tasks", ["A", "app"]),
    zkcli: one("delete|deleteall|rmr", "deletes shared settings", ["server"]),
    "zkcli.sh": one("delete|deleteall|rmr", "deletes shared settings", ["server"]),
  },
};

/** Some programs are both clients and migration tools: each rule is asked. */
function mergeRules(...tables: readonly Readonly<Record<string, Rule>>[]): Record<string, Rule> {
  const merged: Record<string, Rule> = {};
  for (const table of tables)
    for (const [program, rule] of Object.entries(table)) {
      const earlier = merged[program];
      merged[program] = earlier === undefined ? rule : (command) => earlier(command) ?? rule(command);
    }
  return merged;
}

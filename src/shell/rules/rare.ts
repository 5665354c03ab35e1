import type { Rule, RuleSet } from "../types.js";
import { always, CHANGES, DELETES, deletes, STOPS, tool, withOption } from "./rare-helpers.js";
import { MACHINES } from "./rare-machines.js";
import { inputText } from "./sql-clients.js";
import { danger, forPrograms } from "./verb-table.js";

/** Programs few people have, each with a word that deletes, stops or changes something for good. */

/** `echo flush_all | nc localhost 11211`: the memcached protocol is plain text. */
const plainProtocol: Rule = (command) => {
  const word = inputText(command).find(({ text }) =>
    /(?:^|\n)[ \t]*(?:flush_all|flushall|flushdb|shutdown)\b/i.test(text),
  );
  return word === undefined ? undefined : danger("database.flush", "empties a database", word);
};

const ldapDelete: Rule = (command) =>
  command.args.some(({ text }) => text === "-n")
    ? undefined
    : always("deletes or changes entries of a directory")(command);

const hadoop = (command: Parameters<Rule>[0]): ReturnType<Rule> => {
  const word = command.args.find(({ text }) =>
    /^-(?:rm|rmr|rmdir|expunge|truncate|delete(?:Snapshot)?|format|chmod|chown|mv|moveFromLocal|setrep)$/.test(
      text,
    ),
  );
  return word === undefined || /^-(?:mv|setrep)$/.test(word.text)
    ? undefined
    : danger("rare.delete", DELETES, word);
};

/** `kadmin -q 'delprinc x'`, `slapcat`-like tools: the verb hides in a word of its own or of a query. */
const kadmin: Rule = ({ args }) => {
  const word = args.find(({ text }) =>
    /^(?:del(?:ete_)?princ(?:ipal)?|delprinc|addprinc|add_principal|cpw|change_password|modprinc|ktremove|ktrem|ktadd|delpol|delete_policy|destroy)\b/.test(
      text,
    ),
  );
  return word === undefined ? undefined : danger("account.change", "adds, changes or removes accounts", word);
};

const ldconfig: Rule = ({ args }) => {
  const folder = args.find(
    ({ text }, index) => !text.startsWith("-") && !/^-[CfrB]$/.test(args[index - 1]?.text ?? ""),
  );
  const elsewhere = args.find(({ text }) => /^-[fC]$/.test(text));
  const word = folder ?? elsewhere;
  return word === undefined
    ? undefined
    : danger("system.programs", "changes which libraries programs load", word);
};

const touch: Rule = ({ args }) => {
  const at = args.findIndex(({ text }) => /^(?:-[a-z]*r|--reference)$/.test(text));
  const like = at < 0 ? undefined : args[at + 1];
  return like !== undefined && /^\/(?:usr\/)?s?bin\//.test(like.text)
    ? danger("history.time", "gives a file the age of another to hide it", like)
    : undefined;
};

export const RULES: RuleSet = {
  family: "rare",
  programs: {
    ldconfig,
    touch,
    ...forPrograms(
      ["ldapdelete", "ldapmodify", "ldapadd", "ldapmodrdn", "ldappasswd", "ldapmoddn"],
      ldapDelete,
    ),
    ...forPrograms(["kadmin", "kadmin.local", "kdb5_util"], kadmin),
    ...forPrograms(["hdfs", "hadoop"], hadoop),
    ...forPrograms(["memcflush", "memcrm", "memflush"], always(DELETES)),
    ...forPrograms(["nc", "ncat", "netcat", "telnet", "socat"], plainProtocol),
    "neo4j-admin": tool([
      { path: "database delete|drop|load|restore", reason: DELETES },
      { path: "delete|load|restore", reason: DELETES },
    ]),
    curator_cli: deletes("delete_indices|delete_snapshots|close|shrink|forcemerge", [
      "host",
      "port",
      "filter_list",
    ]),
    curator: withOption(/^[^-]/, "deletes or changes indices by a plan"),
    airflow: tool([
      { path: "db reset|clean|downgrade", reason: DELETES },
      { path: "dags|pools|users|connections|variables|roles delete", reason: DELETES },
      { path: "tasks clear", reason: DELETES },
      { path: "resetdb|delete_dag", reason: DELETES },
    ]),
    dvc: tool([{ path: "gc|destroy|remove", reason: DELETES }]),
    mlflow: tool([
      { path: "gc", reason: DELETES },
      { path: "experiments|runs|models delete", reason: DELETES },
    ]),
    wandb: tool([{ path: "artifact|sweep|offline rm|delete|stop|cancel", reason: DELETES }]),
    ollama: deletes("rm"),
    ...forPrograms(
      ["huggingface-cli", "hf"],
      tool([
        { path: "delete-cache", reason: DELETES },
        { path: "repo|cache|repo-files delete|rm|prune", reason: DELETES },
      ]),
    ),
    prefect: deletes("** delete"),
    dagster: deletes("run|asset delete|wipe"),
    consul: tool([
      { path: "leave|force-leave|maint", reason: STOPS },
      { path: "kv|acl|config|intention delete", reason: DELETES },
      { path: "acl token|policy|role delete", reason: DELETES },
    ]),
    nomad: tool([
      { path: "stop", reason: STOPS },
      { path: "job stop|purge", reason: STOPS },
      { path: "node drain|eligibility|purge", reason: STOPS },
      { path: "system gc", reason: DELETES },
      { path: "namespace|volume|acl|var delete|purge|detach", reason: DELETES },
    ]),
    etcdctl: tool(
      [
        { path: "del|rm|rmdir", reason: DELETES },
        { path: "member|user|role remove|delete|rm", reason: DELETES },
        { path: "defrag|compact|compaction", reason: DELETES },
      ],
      ["endpoints", "cacert", "cert", "key", "user"],
    ),
    ...forPrograms(["pulsar-admin"], deletes("** delete|unload|clear-backlog|truncate|expire-messages")),
    "kafka-topics": withOption(/^--(?:delete|alter)$/, DELETES),
    "kafka-topics.sh": withOption(/^--(?:delete|alter)$/, DELETES),
    "kafka-delete-records": always(DELETES),
    "kafka-delete-records.sh": always(DELETES),
    ...forPrograms(
      ["kafka-consumer-groups", "kafka-consumer-groups.sh"],
      withOption(/^--(?:delete|reset-offsets|delete-offsets)$/, DELETES),
    ),
    ...forPrograms(
      ["kafka-configs", "kafka-configs.sh", "kafka-acls", "kafka-acls.sh"],
      withOption(/^--(?:alter|remove|add)$/, CHANGES),
    ),
    ...forPrograms(["kcat", "kafkactl"], deletes("delete|reset")),
    rabbitmqctl: tool(
      [
        {
          path: "reset|force_reset|stop|stop_app|shutdown|delete_queue|delete_vhost|delete_user|purge_queue|clear_password|forget_cluster_node|close_all_connections|change_password|set_user_tags|set_permissions|clear_permissions|close_connection|rotate_logs|add_user",
          reason: STOPS,
        },
      ],
      ["n", "p", "node", "vhost"],
    ),
    rabbitmqadmin: deletes("delete|purge|close", ["H", "P", "u", "p", "V"]),
    nats: deletes("** rm|purge|del|delete", ["s"]),
    mosquitto_pub: ({ args }) =>
      args.some(({ text }) => text === "-n") && args.some(({ text }) => text === "-r")
        ? danger("rare.delete", "clears a kept message", args[0])
        : undefined,
    rq: deletes("empty", ["u", "url"]),
    celery: tool(
      [
        { path: "purge", reason: DELETES },
        { path: "control shutdown|pool_shrink|revoke|terminate", reason: STOPS },
      ],
      ["A", "app", "b", "broker", "Q"],
    ),
    ...forPrograms(["sidekiqctl"], tool([{ path: "stop|quiet", reason: STOPS }])),
    "jenkins-cli": tool(
      [
        { path: "delete-job|delete-node|delete-builds|delete-view|delete-credentials", reason: DELETES },
        { path: "safe-shutdown|shutdown|safe-restart|restart|quiet-down|offline-node", reason: STOPS },
        { path: "groovy|groovysh", reason: "runs code on the server" },
      ],
      ["s", "auth", "user"],
    ),
    java: (command) => {
      const at = command.args.findIndex(({ text }) => /(?:^|\/)jenkins-cli[\w.-]*\.jar$/.test(text));
      const word =
        at < 0
          ? undefined
          : command.args
              .slice(at + 1)
              .find(({ text }) =>
                /^(?:delete-\w+|safe-shutdown|shutdown|safe-restart|restart|quiet-down|groovy|groovysh)$/.test(
                  text,
                ),
              );
      return word === undefined ? undefined : danger("rare.stop", STOPS, word);
    },
    rancher: deletes("** rm|delete|remove"),
    ...forPrograms(
      ["occ"],
      deletes(
        "user:delete|group:delete|maintenance:mode|app:remove|trashbin:cleanup|versions:cleanup|files:cleanup|config:system:delete|db:convert-type",
      ),
    ),
    ...forPrograms(
      ["magento", "bin/magento"],
      deletes("setup:uninstall|module:uninstall|admin:user:create|maintenance:enable|setup:rollback"),
    ),
    n8n: deletes("user-management:reset|db:revert|mfa:disable|license:clear|delete:workflow"),
    wp: tool(
      [
        { path: "db reset|drop|clean", reason: DELETES },
        {
          path: "site|plugin|theme|user|post|term|comment|option|transient|network|menu|media delete|empty|uninstall|destroy",
          reason: DELETES,
        },
        {
          path: "search-replace|eval|eval-file|core",
          reason: CHANGES,
          when: ({ operands }) => /^(?:eval|eval-file)$/.test(operands[0]?.text ?? ""),
        },
      ],
      ["path", "url"],
    ),
    drush: deletes(
      "sql-drop|sql:drop|site-install|site:install|si|user:cancel|ucan|pmu|pm:uninstall|entity:delete|config:delete|cdel|sql:sync|sqlq",
    ),
    ...forPrograms(["postsuper"], withOption(/^-[dr]$/, DELETES)),
    ...forPrograms(["exim", "exim4"], withOption(/^-(?:Mrm|Mg|Mf)$/, DELETES)),
    ...forPrograms(["mailq-rm", "qmail-remove", "ipcrm"], (command) =>
      command.args.length === 0 ? undefined : always(DELETES)(command),
    ),
    ...MACHINES,
  },
};

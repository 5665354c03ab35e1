import { subject } from "./row.js";

const DELETES = "deletes data or a thing others rely on";
const STOPS = "stops a service or takes it out of use";
const SERVICE = "stops, restarts or switches off a service";
const KAFKA = "bootstrap-server topic zookeeper";

/** Brokers of messages and the workers behind them. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("database", [
  { dry: "dry-run", tools: [
    { program: "kafka-topics|kafka-topics.sh", taking: KAFKA,
      not_match: ["kafka-topics --list --bootstrap-server k:9092"], rows: [
      { options: "delete", reason: "deletes a topic or group",
        match: ["kafka-topics.sh --delete --topic orders"],
        not_match: ["kafka-topics --list --bootstrap-server k:9092"] },
      { options: "alter", rule: "rare.option", reason: DELETES, match: ["kafka-topics --alter"],
        not_match: ["kafka-topics"] },
    ] },
    { program: "kafka-consumer-groups|kafka-consumer-groups.sh", taking: KAFKA, rows: [
      { options: "delete delete-offsets", reason: "deletes a topic or group",
        match: ["kafka-consumer-groups --delete-offsets"], not_match: ["kafka-consumer-groups"] },
      { options: "reset-offsets", rule: "rare.option", reason: DELETES,
        match: ["kafka-consumer-groups --reset-offsets"], not_match: ["kafka-consumer-groups"] },
    ] },
    { program: "kafka-delete-records|kafka-delete-records.sh", word: /./, reason: "deletes messages",
      match: ["kafka-delete-records x"] },
    { program: "kafka-configs|kafka-configs.sh|kafka-acls|kafka-acls.sh", word: /^--(?:alter|remove|add)$/,
      rule: "rare.option", reason: "changes the machine itself", match: ["kafka-configs --alter"] },
    { program: "kcat|kafkactl", family: "rare", path: "delete|reset", reason: DELETES, match: ["kcat delete"] },
    { program: "pulsar-admin", family: "rare",
      path: "** delete|unload|clear-backlog|truncate|expire-messages", reason: DELETES,
      match: ["pulsar-admin delete"] },
    { program: "rabbitmqctl", taking: "n p node vhost", unknownVerb: true,
      not_match: ["rabbitmqctl status", "rabbitmqctl list_queues"], rows: [
      { path: "stop|stop_app|shutdown|reset|force_reset|delete_vhost|delete_queue", rule: "service.stop",
        reason: SERVICE, match: ["rabbitmqctl reset"] },
      { path: "delete_user|purge_queue|forget_cluster_node|clear_permissions|set_user_tags",
        reason: "deletes or stops a message queue", match: ["rabbitmqctl delete_user"] },
      { family: "rare",
        path: "clear_password|close_all_connections|change_password|set_permissions|close_connection|rotate_logs|add_user",
        reason: STOPS, match: ["rabbitmqctl clear_password"] },
    ] },
    { program: "rabbitmqadmin", taking: "H P u p V host port user", rows: [
      { path: "delete|purge *", reason: "deletes a message queue", match: ["rabbitmqadmin delete web"] },
      { family: "rare", path: "close", reason: DELETES, match: ["rabbitmqadmin close"] },
    ] },
    { program: "nats", taking: "s server context", path: "** rm|purge|del|delete",
      reason: "deletes messages", match: ["nats stream rm ORDERS"] },
    { program: "mosquitto_pub",
      when: ({ args }) => args.some(({ text }) => text === "-n") && args.some(({ text }) => text === "-r"),
      rule: "rare.delete", reason: "clears a kept message", match: ["mosquitto_pub -t a -r -n"] },
    { program: "rq", family: "rare", taking: "u url", path: "empty", reason: DELETES, match: ["rq empty"] },
    { program: "celery", taking: "A app b broker Q", rows: [
      { path: "** purge|shutdown", reason: "deletes waiting tasks", match: ["celery -A app purge -f"] },
      { family: "rare", path: "control pool_shrink|revoke|terminate", reason: STOPS,
        match: ["celery control pool_shrink"] },
    ] },
    { program: "sidekiqctl", family: "rare", path: "stop|quiet", reason: STOPS, match: ["sidekiqctl stop"] },
  ] },
]);

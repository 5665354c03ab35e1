import { subject } from "./row.js";

const DELETES = "deletes data or a thing others rely on";
const EMPTIES = "empties or drops a database";
const STOPS = "stops a service or takes it out of use";

/** Consoles of programs that run websites, shops, telephones and build servers. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("rare", [
  { dry: "dry-run", tools: [
    { program: "wp", taking: "path url", rows: [
      { family: "database", path: "db reset|drop|clean", reason: EMPTIES, match: ["wp db reset --yes"] },
      { path: "site|plugin|theme|user|post|term|comment|option|transient|network|menu|media delete|empty|uninstall|destroy",
        reason: DELETES, match: ["wp site delete"] },
      { path: "eval|eval-file", reason: "changes the machine itself", match: ["wp eval"] },
    ] },
    { program: "drush", rows: [
      { family: "database", path: "sql-drop|sql:drop|site:install|si", reason: EMPTIES,
        match: ["drush sql-drop"] },
      { path: "site-install|user:cancel|ucan|pmu|pm:uninstall|entity:delete|config:delete|cdel|sql:sync|sqlq",
        reason: DELETES, match: ["drush site-install"] },
    ] },
    { program: "occ",
      path: "user:delete|group:delete|maintenance:mode|app:remove|trashbin:cleanup|versions:cleanup|files:cleanup|config:system:delete|db:convert-type",
      reason: DELETES, match: ["occ user:delete"] },
    { program: "magento",
      path: "setup:uninstall|module:uninstall|admin:user:create|maintenance:enable|setup:rollback",
      reason: DELETES, match: ["magento setup:uninstall"] },
    { program: "n8n", path: "user-management:reset|db:revert|mfa:disable|license:clear|delete:workflow",
      reason: DELETES, match: ["n8n user-management:reset"] },
    { program: "fwconsole", path: "stop|restart|reload", reason: STOPS, match: ["fwconsole stop"] },
    { program: "jenkins-cli", taking: "s auth user", rows: [
      { path: "delete-job|delete-node|delete-builds|delete-view|delete-credentials", reason: DELETES,
        match: ["jenkins-cli delete-job"] },
      { path: "safe-shutdown|shutdown|safe-restart|restart|quiet-down|offline-node", reason: STOPS,
        match: ["jenkins-cli safe-shutdown"] },
      { path: "groovy|groovysh", reason: "runs code on the server", match: ["jenkins-cli groovy"] },
    ] },
    { program: "java", dry: "", when: ({ args }) => {
          const at = args.findIndex(({ text }) => /(?:^|\/)jenkins-cli[\w.-]*\.jar$/.test(text));
          const verb = /^(?:delete-\w+|safe-shutdown|shutdown|safe-restart|restart|quiet-down|groovy|groovysh)$/;
          return at < 0 ? undefined : args.slice(at + 1).find(({ text }) => verb.test(text));
        },
      rule: "rare.stop", reason: STOPS, match: ["java -jar jenkins-cli.jar -s http://j delete-job x"],
      not_match: ["JAVA_TOOL_OPTIONS=-Xmx2g java -jar a.jar"] },
  ] },
]);

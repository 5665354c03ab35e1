import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { danger, forPrograms, has, type VerbRule, verbRule } from "./verb-table.js";

const DELETES = "deletes something that is online";
const STOPS = "stops something that is online";
const SETTINGS = "removes settings of something that is online";

const TAKING =
  "a app r remote t token scope cwd s site c config n name org o project p env e S environment region confirm".split(
    " ",
  );

const tool = (verbs: readonly VerbRule[]): Rule =>
  verbRule({ family: "cloud", taking: TAKING, dry: ["dry-run"], verbs });

/** Tools that join type and verb with a colon (`apps:destroy`, `functions:delete`). */
const colonTool: Rule = (command) => {
  const options = parseOptions(command.args, { taking: TAKING });
  const [verb, ...rest] = options.operands;
  if (verb === undefined || has(options, "help", "dry-run")) return undefined;
  const { text } = verb;
  if (
    /:(?:destroy|delete|remove|reset|unset|rollback|purge|disable|clear|rm|uninstall|kill|wipe)$/.test(text)
  )
    return danger("cloud.hosting-delete", DELETES, verb);
  if (
    /^(?:rollback|restart|(?:ps|dyno|apps|pg|services):(?:stop|restart)|maintenance:on|pg:(?:push|killall|promote|copy)|(?:[\w-]+):detach)$/.test(
      text,
    )
  )
    return danger("cloud.hosting-stop", STOPS, verb);
  if (/^(?:ps|dyno|formation):scale$/.test(text) && rest.some((word) => /=0(?:\D|$)/.test(word.text)))
    return danger("cloud.hosting-stop", STOPS, verb);
  if (/^(?:access|members|keys|authorizations|oauth):(?:add|create)$/.test(text))
    return danger("cloud.rights", "gives somebody access", verb);
  return undefined;
};

/** Platforms that host sites, functions and small databases. */
export const HOSTING: Readonly<Record<string, Rule>> = {
  ...forPrograms(
    ["heroku", "netlify", "ntl", "firebase", "dokku", "scalingo", "expo", "eas", "shopify"],
    colonTool,
  ),
  ...forPrograms(
    ["fly", "flyctl"],
    tool([
      { path: "destroy", reason: DELETES },
      { path: "** destroy|delete|remove|rm", reason: DELETES },
      { path: "machine|machines|m|apps|app stop|kill|restart|suspend", reason: STOPS },
      {
        path: "scale count",
        reason: STOPS,
        when: ({ rest }) => rest.some(({ text }) => /^(?:\w+=)?0$/.test(text)),
      },
      { path: "secrets unset", reason: SETTINGS },
      { path: "suspend|restart", reason: STOPS },
    ]),
  ),
  ...forPrograms(
    ["vercel", "vc", "now"],
    tool([
      { path: "remove|rm", reason: DELETES },
      { path: "* remove|rm", reason: DELETES },
      { path: "rollback", reason: STOPS },
    ]),
  ),
  supabase: tool([
    { path: "db reset", reason: "empties a database" },
    { path: "projects|branches|functions|orgs|domains|sso delete|remove", reason: DELETES },
    { path: "secrets unset", reason: SETTINGS },
  ]),
  ...forPrograms(
    ["wrangler"],
    tool([
      { path: "delete|rollback", reason: DELETES },
      { path: "** delete|purge", reason: DELETES },
      { path: "kv:key|kv:namespace|kv:bulk|r2:object delete", reason: DELETES },
    ]),
  ),
  ...forPrograms(
    ["railway", "render", "koyeb", "northflank", "zeabur", "cyclic"],
    tool([
      { path: "down|delete", reason: DELETES },
      { path: "* delete|remove|rm", reason: DELETES },
    ]),
  ),
  ...forPrograms(
    ["cf", "cf7", "cf8"],
    verbRule({
      family: "cloud",
      taking: ["s", "o"],
      verbs: [
        {
          path: "delete|d|delete-org|delete-space|delete-service|ds|delete-service-key|delete-route|delete-orphaned-routes|delete-domain|delete-user|delete-buildpack|purge-service-offering|purge-service-instance|unbind-service",
          reason: DELETES,
        },
        { path: "stop|sp|restart|rs|restage", reason: STOPS },
        {
          path: "scale",
          reason: STOPS,
          when: (call) => has(call, "i") && call.rest.some(({ text }) => text === "0"),
        },
      ],
    }),
  ),
  ...forPrograms(
    [
      "turso",
      "pscale",
      "neon",
      "neonctl",
      "xata",
      "upstash",
      "appwrite",
      "stripe",
      "sentry-cli",
      "sf",
      "sfdx",
      "confluent",
      "temporal",
      "tctl",
      "atlas",
    ],
    tool([{ path: "** delete|destroy|remove|rm|drop|reset|terminate", reason: DELETES }]),
  ),
  pm2: (command) => {
    const { operands } = parseOptions(command.args, { taking: ["n", "name"] });
    const [verb, target] = operands;
    return verb !== undefined &&
      /^(?:delete|del|kill|stop|restart|flush|unstartup)$/.test(verb.text) &&
      (verb.text === "kill" || target !== undefined || verb.text === "flush")
      ? danger("cloud.process-manager", "stops processes that are kept running", verb)
      : undefined;
  },
};

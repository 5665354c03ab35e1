import { type Condition, subject } from "./row.js";
import { runsSql } from "./sql-clients.js";

const DELETES = "deletes something that is online";
const STOPS = "stops something that is online";
const SETS = "changes secrets or settings of something that is online";
const PRINTS = "prints the settings of something that is online, passwords among them";
const TAKING =
  "a app r remote t token scope cwd s site c config n name org o project p env e S environment region confirm";
const STRIPE_TAKING =
  "api-key color config device-name log-level p project-name d data e expand i idempotency v stripe-version stripe-account";

/** Verbs joined to their type with a colon (`apps:destroy`, `functions:delete`). */
const verb =
  (pattern: RegExp): Condition =>
  ({ operands }) =>
    pattern.test(operands[0]?.text ?? "") ? operands[0] : undefined;

/** Resources of Stripe have verbs of their own (`capture`, `void_invoice`): what does not read, writes. */
const stripeWrites: Condition = ({ operands }) => {
  const [first, ...others] = operands;
  if (first === undefined || others.length === 0 || /^(?:get|listen|logs|open)$/.test(first.text))
    return undefined;
  if (/^(?:post|delete)$/.test(first.text)) return first;
  const word = others.find(({ text }) =>
    /^(?:create|update|delete|(?:list|retrieve|search)(?:_\w+)?)$/.test(text),
  );
  return /^[lrs]/.test(word?.text ?? "") ? undefined : (word ?? first);
};

/** Platforms that host sites, functions and small databases. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("cloud", [
  { dry: "dry-run", tools: [
    { program: "heroku|netlify|ntl|firebase|dokku|scalingo|expo|eas|shopify", taking: TAKING,
      not_match: ["firebase deploy", "heroku logs --tail"], rows: [
      { when: verb(/:(?:destroy|delete|remove|reset|unset|rollback|purge|disable|clear|rm|uninstall|kill|wipe)$/),
        rule: "cloud.hosting-delete", reason: DELETES, match: ["netlify sites:delete"],
        not_match: ["heroku ps"] },
      { when: verb(
            /^(?:rollback|restart|(?:ps|dyno|apps|pg|services):(?:stop|restart)|maintenance:on|pg:(?:push|killall|promote|copy)|(?:[\w-]+):detach)$/,
          ),
        rule: "cloud.hosting-stop", reason: STOPS, match: ["heroku restart"], not_match: ["heroku ps"] },
      { path: "ps:scale|dyno:scale|formation:scale",
        when: ({ rest }) => rest.some(({ text }) => /=0(?:\D|$)/.test(text)), rule: "cloud.hosting-stop",
        reason: STOPS, match: ["heroku ps:scale web=0"], not_match: ["heroku ps:scale web=2"] },
      { when: verb(/^(?:access|members|keys|authorizations|oauth):(?:add|create)$/), rule: "cloud.rights",
        reason: "gives somebody access", match: ["heroku access:add a@b.example"],
        not_match: ["netlify status"] },
    ] },
    { program: "heroku", taking: "c command a app", path: "pg:psql", when: runsSql("c command"),
      rule: "database.sql", reason: "changes or deletes data of a database",
      match: ["heroku pg:psql -c 'drop table users'"], not_match: ["heroku ps"] },
    { program: "wrangler", taking: "command c config env e file", path: "d1 execute",
      when: runsSql("command"), rule: "database.sql", reason: "changes or deletes data of a database",
      match: ['wrangler d1 execute prod --command "DROP TABLE users"'], not_match: ["wrangler dev"] },
    { program: "stripe|sentry-cli|sf|sfdx|tctl",
      taking: TAKING, path: "** delete|destroy|remove|rm|drop|reset|terminate|invalidate", reason: DELETES,
      match: ["stripe delete /v1/customers/cus_1",
        "stripe customers delete cus_1"] },
    { program: "stripe", taking: STRIPE_TAKING,
      not_match: ["stripe listen --live --forward-to localhost:4242", "stripe logs tail",
        "stripe --log-level debug get /v1/customers/cus_1 --live", "stripe --live terminal readers list",
        "stripe open dashboard --live", "stripe customers create --email a@b.example",
        "stripe post /v1/products -d name=Mug"],
      rows: [
      { options: "live", when: stripeWrites, rule: "cloud.live-write",
        reason: "changes a live payment account",
        match: ["stripe post /v1/refunds -d charge=ch_1 --live", "stripe --live prices create -d amount=9",
          "stripe customers update cus_1 --live", "stripe --live issuing cards update ic_1",
          "stripe customers update cus_1 --live --name list",
          "stripe invoices void_invoice in_1 --live", "stripe products delete prod_1 --live"] },
    ] },
    { program: "turso", path: "db shell", when: runsSql("", { after: 3 }), rule: "database.sql",
      reason: "changes or deletes data of a database", match: ["turso db shell app 'drop table users'"] },
  ] },
  { rule: "cloud.secrets-set", reason: SETS, dry: "dry-run", tools: [
    { program: "fly|flyctl", taking: TAKING, path: "secrets set|import|deploy", match: ["fly secrets set ADMIN_PASSWORD=x -a core"], not_match: ["fly secrets list"] },
    { program: "heroku|scalingo|dokku", taking: TAKING, path: "config:set|env-set|env:set", match: ["heroku config:set A=b -a core"], not_match: ["heroku ps -a core"] },
    { program: "netlify|ntl", taking: TAKING, path: "env:set|env:import|env:clone", match: ["netlify env:set A b"], not_match: ["netlify status"] },
    { program: "vercel|vc|now", taking: "t token scope cwd S", path: "env add|update", when: ({ rest }) => rest.find(({ text }) => /^prod/.test(text)), match: ["vercel env add X production"], not_match: ["vercel env ls", "vercel env add X development", "vercel env pull"] },
    { program: "supabase|wrangler|railway|doppler|infisical|render|koyeb|northflank|convex|encore|nitric", taking: TAKING, path: "secret|secrets|env|pages|versions set|put|bulk|upload|import|secret", match: ["supabase secrets set A=b", "wrangler secret put API_KEY"], not_match: ["wrangler secret list", "supabase secrets list"] },
    { program: "railway", word: /^--set(?:=|$)/, match: ["railway variables --set A=b"], not_match: ["railway status"] },
  ] },
  { rule: "cloud.secrets", reason: PRINTS, dry: "help", tools: [
    { program: "heroku|scalingo|dokku", taking: TAKING, path: "config|config:show|config:export|env", options: "s shell j json a app r remote export", match: ["heroku config -s -a core", "heroku config -a core"], not_match: ["heroku logs -a core", "heroku config"] },
    { program: "railway", taking: "s service e environment", path: "variables|variable|vars", match: ["railway variables"], not_match: ["railway status"] },
    { program: "netlify|ntl", path: "env:list|env:get", options: "plain json", match: ["netlify env:list --plain"], not_match: ["netlify env:list"] },
  ] },
]);

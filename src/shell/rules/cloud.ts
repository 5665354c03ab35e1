import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet } from "../types.js";
import { aws } from "./aws.js";
import { logsInWith } from "./flows.js";
import { HOSTING } from "./hosting.js";
import { STORAGE } from "./storage.js";
import { danger, forPrograms, has, type VerbRule, valuesOf, verbRule } from "./verb-table.js";

const DELETES = "deletes something in the cloud";
const STOPS = "stops something in the cloud";
const RIGHTS = "changes who may use the cloud account";
const SECRETS = "prints secrets of the cloud account";
const CHANGES = "changes real infrastructure";

const terraform = verbRule({
  family: "cloud",
  style: "go",
  taking: "var target terragrunt-working-dir terragrunt-config working-dir config queue-include-dir".split(
    " ",
  ),
  verbs: [
    { path: "destroy|destroy-all|apply-all", reason: "destroys real infrastructure" },
    { path: "apply", reason: CHANGES },
    { path: "run-all|run|stack destroy|apply", reason: CHANGES },
    { path: "run-all|run|stack run destroy|apply", reason: CHANGES },
    { path: "state rm|push|replace-provider", reason: "makes infrastructure unmanaged" },
    { path: "force-unlock|taint", reason: "forces the state of infrastructure" },
    { path: "workspace delete", reason: DELETES },
  ],
});

const pulumi = verbRule({
  family: "cloud",
  taking: ["C", "cwd", "s", "stack", "m", "message", "t", "target", "color"],
  dry: ["preview-only"],
  verbs: [
    { path: "destroy|down", reason: "destroys real infrastructure" },
    { path: "up|update", reason: CHANGES },
    { path: "stack rm", reason: DELETES },
    { path: "state delete", reason: "makes infrastructure unmanaged" },
    { path: "cancel", reason: "forces the state of infrastructure" },
    { path: "config get", reason: SECRETS, when: (call) => has(call, "show-secrets") },
    { path: "stack export|output", reason: SECRETS, when: (call) => has(call, "show-secrets") },
  ],
});

const everywhere = (source: string): boolean =>
  source.split(",").some((range) => /^(?:0\.0\.0\.0\/0|::\/0|\*|any|internet)$/i.test(range));

const gcloud = verbRule({
  family: "cloud",
  taking:
    "project account configuration format filter zone region quiet-level verbosity impersonate-service-account billing-project member role source-ranges allow size num-nodes secret instance cluster location database command data-file target-tags".split(
      " ",
    ),
  verbs: [
    {
      path: "auth print-access-token|print-identity-token",
      reason: SECRETS,
      when: ({ command }) => !logsInWith(command),
    },
    { path: "auth application-default print-access-token", reason: SECRETS },
    { path: "secrets versions access", reason: SECRETS },
    { path: "iam service-accounts keys create", reason: RIGHTS },
    {
      path: "** delete|destroy|purge|abandon|undeploy|rm",
      reason: DELETES,
      when: ({ operands }) => operands[0]?.text !== "logging" || operands[1]?.text !== "read",
    },
    {
      path: "** add-iam-policy-binding|remove-iam-policy-binding|set-iam-policy|reset-windows-password",
      reason: RIGHTS,
    },
    { path: "** disable", reason: STOPS },
    { path: "* * stop|reset|suspend|restart|failover", reason: STOPS },
    {
      path: "storage rsync",
      reason: DELETES,
      when: (call) => has(call, "delete-unmatched-destination-objects"),
    },
    {
      path: "** resize",
      reason: STOPS,
      when: (call) => valuesOf(call, "size", "num-nodes").some(({ text }) => text === "0"),
    },
    {
      path: "compute firewall-rules create|update",
      reason: "opens the firewall to everybody",
      when: (call) =>
        valuesOf(call, "source-ranges").some(({ text }) => everywhere(text)) ||
        (has(call, "allow") && !has(call, "source-ranges", "source-tags", "source-service-accounts")),
    },
    { path: "sql backups restore", reason: "overwrites a database" },
  ],
});

const az = verbRule({
  family: "cloud",
  taking:
    "g resource-group n name subscription o output query l location id ids access source-address-prefixes role assignee scope vault-name command-id scripts file".split(
      " ",
    ),
  dry: ["dryrun", "what-if"],
  verbs: [
    { path: "account get-access-token", reason: SECRETS },
    { path: "keyvault secret show|download", reason: SECRETS },
    { path: "** keys list|renew|regenerate", reason: SECRETS },
    { path: "** list-keys|show-connection-string", reason: SECRETS },
    { path: "role assignment create", reason: RIGHTS },
    { path: "ad sp create-for-rbac", reason: RIGHTS },
    { path: "ad sp credential reset", reason: RIGHTS },
    { path: "vm|vmss run-command invoke|create", reason: "runs commands on another machine" },
    { path: "** delete|delete-batch|purge|remove|deallocate|revoke|destroy", reason: DELETES },
    { path: "** stop|restart|failover|reimage", reason: STOPS },
    {
      path: "network nsg rule create",
      reason: "opens the firewall to everybody",
      when: (call) => valuesOf(call, "source-address-prefixes").some(({ text }) => everywhere(text)),
    },
  ],
});

/** Clouds whose tools all read `tool type verb name`. */
const CLOUD_VERBS: readonly VerbRule[] = [
  { path: "** delete|destroy|rm|remove|terminate|purge|drop", reason: DELETES },
  { path: "** power-off|poweroff|shutdown|stop|reset|reboot|rebuild|power-cycle|restart", reason: STOPS },
];
const cloud = verbRule({
  family: "cloud",
  taking:
    "p profile t access-token config context output o format r region compartment-id id name n c g q os-cloud os-username".split(
      " ",
    ),
  dry: ["dry-run"],
  verbs: CLOUD_VERBS,
});

/** Some join type and verb: `aliyun ecs DeleteInstance`, `ibmcloud resource service-instance-delete`. */
const joinedCloud: Rule = (command) => {
  const { operands } = parseOptions(command.args, { taking: ["profile", "p", "region", "RegionId"] });
  const word = operands
    .slice(0, 3)
    .find(({ text }) =>
      /^(?:Delete|Remove|Stop|Reboot|Terminate|Release|Destroy)[A-Z]|-(?:delete|remove|rm|terminate)$/.test(
        text,
      ),
    );
  return word === undefined ? cloud(command) : danger("cloud.delete", DELETES, word);
};

const one = (path: string, reason: string): Rule =>
  verbRule({ family: "cloud", dry: ["dry-run"], verbs: [{ path, reason }] });

const ansible: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking:
      "m module-name a args i inventory u user e extra-vars f forks l limit t tree private-key become-user".split(
        " ",
      ),
  });
  if (has(options, "C", "check", "list-hosts", "version")) return undefined;
  const module = (valuesOf(options, "m", "module-name").at(-1)?.text ?? "command").replace(
    /^ansible\.(?:builtin|posix)\./,
    "",
  );
  const [given] = valuesOf(options, "a", "args");
  const text = given?.text ?? "";
  if (module === "reboot") return danger("cloud.ansible", "restarts other machines");
  if (/\bstate\s*=\s*(?:absent|stopped|restarted)\b/.test(text))
    return danger("cloud.ansible", "removes or stops things on other machines", given);
  return undefined;
};

export const RULES: RuleSet = {
  family: "cloud",
  programs: {
    aws,
    ...forPrograms(["terraform", "tofu", "terragrunt"], terraform),
    pulumi,
    gcloud,
    az,
    ...forPrograms(
      [
        "doctl",
        "oci",
        "linode-cli",
        "linode",
        "hcloud",
        "scw",
        "vultr-cli",
        "upctl",
        "exo",
        "civo",
        "openstack",
        "nova",
        "kamatera",
        "ovhcloud",
        "hetzner",
      ],
      cloud,
    ),
    ...forPrograms(["aliyun", "tccli", "ibmcloud"], joinedCloud),
    cdk: verbRule({
      family: "cloud",
      taking: ["app", "a", "c", "context", "profile", "require-approval"],
      verbs: [
        { path: "destroy", reason: "destroys real infrastructure" },
        {
          path: "deploy",
          reason: CHANGES,
          when: (call) =>
            has(call, "force", "f") ||
            valuesOf(call, "require-approval").some(({ text }) => text === "never"),
        },
      ],
    }),
    ...forPrograms(["cdktf"], one("destroy", "destroys real infrastructure")),
    ...forPrograms(
      ["sam", "copilot", "amplify", "eb", "sls", "serverless", "chalice", "sst", "zappa"],
      one("** delete|remove|terminate|undeploy|rollback", DELETES),
    ),
    ansible,
    knife: one("* delete|bulk|purge", "removes machines from management"),
    vault: verbRule({
      family: "cloud",
      taking: ["namespace", "address", "mount", "field", "format", "version", "versions"],
      style: "go",
      verbs: [
        { path: "kv get", reason: "prints a secret" },
        {
          path: "read",
          reason: "prints a secret",
          when: ({ rest }) => !/^(?:sys|auth)\//.test(rest[0]?.text ?? ""),
        },
        { path: "delete|unwrap", reason: "deletes or prints a secret" },
        {
          path: "kv delete|destroy|metadata",
          reason: "deletes secrets",
          when: (call) => call.operands[1]?.text !== "metadata" || call.operands[2]?.text === "delete",
        },
        { path: "secrets|auth|audit disable", reason: "switches off a store with everything in it" },
        { path: "token|lease revoke", reason: "withdraws access" },
        { path: "policy delete", reason: RIGHTS },
        { path: "operator seal|rekey|rotate|step-down|generate-root", reason: "changes the vault itself" },
      ],
    }),
    consul: one("kv|acl|config|snapshot|services delete|restore|deregister", "deletes shared settings"),
    etcdctl: verbRule({
      family: "cloud",
      taking: ["endpoints", "cacert", "cert", "key", "user"],
      verbs: [
        { path: "del|rm|rmdir|defrag", reason: "deletes shared settings" },
        { path: "member|user|role remove|delete", reason: "changes the cluster" },
        { path: "snapshot restore", reason: "overwrites shared settings" },
      ],
    }),
    nomad: verbRule({
      family: "cloud",
      style: "go",
      taking: ["address", "namespace", "region"],
      verbs: [
        { path: "stop", reason: STOPS },
        {
          path: "job stop|revert|deployments",
          reason: STOPS,
          when: (call) => call.operands[1]?.text !== "deployments",
        },
        { path: "alloc stop|restart", reason: STOPS },
        { path: "node drain|purge", reason: STOPS },
        { path: "namespace|volume|var|acl delete|purge|deregister", reason: DELETES },
        { path: "system gc", reason: DELETES },
      ],
    }),
    ...STORAGE,
    ...HOSTING,
  },
};

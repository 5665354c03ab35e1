import { logsInWith } from "./flows.js";
import { type Condition, subject } from "./row.js";

const DELETES = "deletes something in the cloud";
const RIGHTS = "changes who may use the cloud account";
const SECRETS = "prints secrets of the cloud account";
const REPLACES = "replaces code or settings that are online";
const CHANGES = "changes real infrastructure";
const FIREWALL = "opens the firewall to everybody";
const SHARED = "deletes shared settings";
const RELIED_ON = "deletes data or a thing others rely on";

const everywhere = (source: string): boolean =>
  source.split(",").some((range) => /^(?:0\.0\.0\.0\/0|::\/0|\*|any|internet)$/i.test(range));

/** `aws [options] service operation`: the operation, unless the service has rows of its own. */
const operation =
  (pattern: RegExp, unless?: RegExp): Condition =>
  ({ operands }) => {
    const [service, verb] = operands;
    if (verb === undefined || /^(?:s3|configure)$/.test(service?.text ?? "")) return undefined;
    return pattern.test(verb.text) && unless?.test(verb.text) !== true ? verb : undefined;
  };

const AWS_DESTROYS =
  /^(?:delete|terminate|destroy|purge|deregister|detach|revoke|reset|stop|reboot|disable|remove|release|batch-delete|abort|failover|disassociate|schedule-key-deletion|close-account|leave-organization|schedule-secret|force|empty|deactivate|suspend|cancel-(?:spot|capacity|reserved)|modify-db-instance-delete)(?:-|$)/;
const AWS_HARMLESS =
  /^(?:remove-tags(?:-|$)|abort-multipart-upload|stop-query|stop-session|stop-logging-preview)/;
const AWS_WIDENS =
  /^(?:create-access-key|create-login-profile|update-login-profile|create-user|create-service-specific-credential|add-user-to-group|attach-(?:user|role|group)-policy|put-(?:user|role|group)-policy|put-bucket-(?:policy|acl)|put-object-acl|put-key-policy|put-resource-policy|put-public-access-block|create-policy-version|set-default-policy-version|update-assume-role-policy|authorize-security-group-(?:ingress|egress)|modify-(?:snapshot|image)-attribute|add-permission|create-grant|put-secret-value|import-key-pair|create-function-url-config)$/;
const AWS_SECRETS =
  /^(?:get-secret-value|batch-get-secret-value|get-session-token|assume-role(?:-with-\w+)?|get-federation-token|get-password-data|get-authorization-token|export-credentials|decrypt)$/;

/** The big clouds, tools that build infrastructure in them, and stores of shared settings and secrets. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("cloud", [
  { dry: "dry-run", tools: [
    { program: "aws",
      taking: "profile region output query endpoint-url cli-read-timeout cli-connect-timeout color ca-bundle acl exclude " +
        "include desired-count desired-capacity min-size max-size cli-input-json cli-input-yaml parameters " +
        "document-name instance-ids bucket key name secret-id cidr public-key-material",
      dry: "dry-run dryrun generate-cli-skeleton", unless: /^help$/,
      not_match: ["aws configure list", "aws s3 mb s3://new"], rows: [
      { path: "s3 rm|rb", rule: "cloud.s3-delete", reason: "deletes stored objects",
        match: ["aws s3 rb --force s3://x"] },
      { path: "s3 sync", options: "delete", rule: "cloud.s3-delete", reason: "deletes stored objects",
        match: ["aws s3 sync . s3://bucket --delete"], not_match: ["aws s3 sync . s3://bucket"] },
      { path: "s3 *", when: (call) => call.given("acl").find(({ text }) => /^public-/.test(text)),
        rule: "cloud.public", reason: "makes stored objects public",
        match: ["aws s3 cp x s3://b --acl public-read"], not_match: ["aws s3 ls"] },
      { path: "configure export-credentials", rule: "cloud.secret",
        reason: "prints keys to the cloud account", match: ["aws configure export-credentials"] },
      { path: "configure get", when: ({ rest }) => /secret|token|access_key/.test(rest[0]?.text ?? ""),
        rule: "cloud.secret", reason: "prints keys to the cloud account",
        match: ["aws configure get aws_secret_access_key"] },
      { when: operation(AWS_SECRETS), rule: "cloud.secret", reason: SECRETS,
        match: ["aws sts assume-role --role-arn x --role-session-name y"], not_match: ["aws sso login"] },
      { path: "ssm get-parameter|get-parameters|get-parameters-by-path|get-parameter-history",
        options: "with-decryption", rule: "cloud.secret", reason: SECRETS,
        match: ["aws ssm get-parameter --name /db/pass --with-decryption"],
        not_match: ["aws ssm get-parameter --name /x"] },
      { path: "ssm send-command", rule: "cloud.remote-command", reason: "runs commands on other machines",
        match: ["aws ssm send-command --document-name AWS-RunShellScript --parameters commands=ls"] },
      { path: "lambda update-function-code|update-function-configuration|publish-layer-version|update-alias|update-event-source-mapping", rule: "cloud.code", reason: REPLACES,
        match: ["aws lambda update-function-code --function-name auth --zip-file fileb://x.zip"], not_match: ["aws lambda list-functions", "aws lambda get-function --function-name a"] },
      { path: "ssm put-parameter", options: "overwrite", rule: "cloud.code", reason: REPLACES, match: ["aws ssm put-parameter --name /prod/x --value y --overwrite"], not_match: ["aws ssm get-parameter --name /app/x"] },
      { when: operation(AWS_WIDENS), rule: "cloud.rights", reason: RIGHTS,
        match: ["aws iam create-access-key --user-name bob"], not_match: ["aws s3 rm help"] },
      { path: "route53 change-resource-record-sets", rule: "cloud.dns",
        reason: "changes where names point to", match: ["aws route53 change-resource-record-sets"] },
      { path: "* *", options: "desired-count=0 desired-capacity=0", rule: "cloud.stop",
        reason: "stops a running service", match: ["aws ecs update-service --service web --desired-count 0"],
        not_match: ["aws iam get-user"] },
      { when: operation(AWS_DESTROYS, AWS_HARMLESS), rule: "cloud.delete",
        reason: "deletes or stops something in the cloud", match: ["aws sqs purge-queue --queue-url q", "aws iam deactivate-mfa-device --user-name a --serial-number b"],
        not_match: ["aws iam list-users"] },
    ] },
    { program: "gcloud",
      taking: "project account configuration format filter zone region quiet-level verbosity impersonate-service-account " +
        "billing-project member role source-ranges allow size num-nodes secret instance cluster location database " +
        "command data-file target-tags",
      not_match: ["gcloud auth list", "gcloud compute ssh vm"], rows: [
      { path: "auth print-access-token|print-identity-token", when: ({ command }) => !logsInWith(command),
        reason: SECRETS, match: ["gcloud auth print-access-token"] },
      { path: "auth application-default print-access-token", reason: SECRETS,
        match: ["gcloud auth application-default print-access-token"] },
      { path: "secrets versions access", reason: SECRETS,
        match: ["gcloud secrets versions access latest --secret=db"] },
      { path: "iam service-accounts keys create", reason: RIGHTS,
        match: ["gcloud iam service-accounts keys create k.json --iam-account x"] },
      { path: "** add-iam-policy-binding|remove-iam-policy-binding|set-iam-policy|reset-windows-password",
        reason: RIGHTS,
        match: ["gcloud projects add-iam-policy-binding p --member=user:x --role=roles/owner"] },
      { path: "storage rsync", options: "delete-unmatched-destination-objects", reason: DELETES,
        match: ["gcloud storage rsync --delete-unmatched-destination-objects"],
        not_match: ["gcloud storage rsync"] },
      { path: "compute firewall-rules create|update", when: (call) =>
          call.given("source-ranges").some(({ text }) => everywhere(text)) ||
          (call.has("allow") && !call.has("source-ranges", "source-tags", "source-service-accounts")),
        reason: FIREWALL, match: ["gcloud compute firewall-rules create x --allow tcp:22"] },
    ] },
    { program: "az",
      taking: "g resource-group n name subscription o output query l location id ids access source-address-prefixes role " +
        "assignee scope vault-name command-id scripts file",
      dry: "dry-run dryrun what-if", not_match: ["az group list", "az account show"], rows: [
      { path: "account get-access-token", reason: SECRETS, match: ["az account get-access-token"] },
      { path: "keyvault secret show|download", reason: SECRETS,
        match: ["az keyvault secret show --name s --vault-name v"] },
      { path: "** keys list|renew|regenerate", reason: SECRETS, match: ["az storage account keys list -n x"] },
      { path: "** list-keys|show-connection-string|list-connection-strings|list-publishing-credentials|list-publishing-profiles|list-secrets", reason: SECRETS,
        match: ["az list-keys", "az webapp deployment list-publishing-profiles -n x -g g"] },
      { path: "acr credential show", reason: SECRETS, match: ["az acr credential show -n x"] },
      { path: "role assignment create", reason: RIGHTS,
        match: ["az role assignment create --assignee x --role Owner"] },
      { path: "ad sp create-for-rbac", reason: RIGHTS, match: ["az ad sp create-for-rbac"] },
      { path: "ad sp credential reset", reason: RIGHTS, match: ["az ad sp credential reset"] },
      { path: "vm|vmss run-command invoke|create", reason: "runs commands on another machine",
        match: ["az vm run-command invoke"] },
      { path: "network nsg rule create",
        when: (call) => call.given("source-address-prefixes").find(({ text }) => everywhere(text)),
        reason: FIREWALL, match: ["az network nsg rule create -n r --source-address-prefixes '*'"] },
    ] },
    { program: "pulumi", taking: "C cwd s stack m message t target color", dry: "dry-run preview-only",
      not_match: ["pulumi stack ls", "pulumi preview"], rows: [
      { path: "config get", options: "show-secrets", reason: SECRETS,
        match: ["pulumi config get --show-secrets"], not_match: ["pulumi config get"] },
      { path: "stack export|output", options: "show-secrets", reason: SECRETS,
        match: ["pulumi stack export --show-secrets"], not_match: ["pulumi stack export"] },
    ] },
    { program: "cdk", taking: "app a c context profile require-approval",
      not_match: ["cdk diff", "cdk synth"], rows: [
      { path: "deploy", options: "force f require-approval=never", reason: CHANGES,
        match: ["cdk deploy --require-approval never"], not_match: ["cdk deploy"] },
    ] },
    { program: "knife", path: "* delete|bulk|purge", reason: "removes machines from management",
      match: ["knife web delete"] },
    { program: "vault", taking: "namespace address mount field format version versions", style: "go",
      not_match: ["vault kv list secret/", "vault status"], rows: [
      { path: "kv get", reason: "prints a secret", match: ["vault kv get secret/db"] },
      { path: "read", when: ({ rest }) => !/^(?:sys|auth)\//.test(rest[0]?.text ?? ""),
        reason: "prints a secret", match: ["vault read secret/db"] },
      { path: "delete|unwrap", reason: "deletes or prints a secret", match: ["vault delete secret/x"] },
      { path: "kv delete|destroy", reason: "deletes secrets", match: ["vault kv delete secret/db"] },
      { path: "kv metadata", when: (call) => call.operand(2) === "delete", reason: "deletes secrets",
        match: ["vault kv metadata delete secret/app"] },
      { path: "secrets|auth|audit disable", reason: "switches off a store with everything in it",
        match: ["vault secrets disable kv"] },
      { path: "token|lease revoke", reason: "withdraws access", match: ["vault token revoke x"] },
      { path: "policy delete", reason: RIGHTS, match: ["vault policy delete"] },
      { path: "operator seal|rekey|rotate|step-down|generate-root", reason: "changes the vault itself",
        match: ["vault operator seal"] },
    ] },
    { program: "etcdctl", taking: "endpoints cacert cert key user", not_match: ["etcdctl get --prefix /"],
      rows: [
      { path: "del|rm|rmdir|defrag", reason: SHARED, match: ["etcdctl del --prefix /"] },
      { path: "member|user|role remove|delete|rm", reason: "changes the cluster",
        match: ["etcdctl member remove"] },
      { path: "snapshot restore", reason: "overwrites shared settings", match: ["etcdctl snapshot restore"] },
      { family: "rare", path: "compact|compaction", reason: RELIED_ON, match: ["etcdctl compact"] },
    ] },
    { program: "zkcli|zkcli.sh", family: "database", taking: "server", path: "delete|deleteall|rmr",
      reason: SHARED, match: ["zkcli delete"] },
  ] },
  { program: "az", path: "functionapp|webapp|containerapp deployment|config|secret|env-vars source|appsettings|connection-string|set|container config-zip|set", rule: "cloud.code", reason: REPLACES,
    match: ["az webapp config appsettings set -n x --settings A=b", "az functionapp deployment source config-zip -n x --src x.zip"], not_match: ["az webapp config appsettings list -n x", "az webapp list"] },
  { program: "az", path: "keyvault secret set|delete|purge", rule: "cloud.code", reason: REPLACES, match: ["az keyvault secret set --vault-name v -n x --value y"], not_match: ["az keyvault secret list --vault-name v"] },
]);

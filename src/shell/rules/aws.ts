import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { danger, has, valuesOf } from "./verb-table.js";

const TAKING = (
  "profile region output query endpoint-url cli-read-timeout cli-connect-timeout color ca-bundle acl exclude " +
  "include desired-count desired-capacity min-size max-size cli-input-json cli-input-yaml parameters " +
  "document-name instance-ids bucket key name secret-id cidr public-key-material"
).split(" ");

const DESTROYS =
  /^(?:delete|terminate|destroy|purge|deregister|detach|revoke|reset|stop|reboot|disable|remove|release|batch-delete|abort|failover|disassociate|schedule-key-deletion|close-account|leave-organization|schedule-secret|force|empty|cancel-(?:spot|capacity|reserved)|modify-db-instance-delete)(?:-|$)/;
const HARMLESS =
  /^(?:remove-tags(?:-|$)|abort-multipart-upload|stop-query|stop-session|stop-logging-preview)/;
const WIDENS =
  /^(?:create-access-key|create-login-profile|update-login-profile|create-user|create-service-specific-credential|add-user-to-group|attach-(?:user|role|group)-policy|put-(?:user|role|group)-policy|put-bucket-(?:policy|acl)|put-object-acl|put-key-policy|put-resource-policy|put-public-access-block|create-policy-version|set-default-policy-version|update-assume-role-policy|authorize-security-group-(?:ingress|egress)|modify-(?:snapshot|image)-attribute|add-permission|create-grant|put-secret-value|import-key-pair|create-function-url-config)$/;
const SHOWS_SECRETS =
  /^(?:get-secret-value|batch-get-secret-value|get-session-token|assume-role(?:-with-\w+)?|get-federation-token|get-password-data|get-authorization-token|export-credentials|decrypt)$/;

/** The command line of Amazon's cloud: `aws [options] service operation`. */
export const aws: Rule = (command) => {
  const options = parseOptions(command.args, { taking: TAKING });
  const [service, operation, ...rest] = options.operands;
  if (service === undefined || operation === undefined) return undefined;
  if (options.operands.some(({ text }) => text === "help")) return undefined;
  if (has(options, "dryrun", "dry-run", "generate-cli-skeleton")) return undefined;
  const verb = operation.text;
  if (service.text === "s3") {
    if (verb === "rm" || verb === "rb") return danger("cloud.s3-delete", "deletes stored objects", operation);
    if (verb === "sync" && has(options, "delete"))
      return danger("cloud.s3-delete", "deletes stored objects", operation);
    const open = valuesOf(options, "acl").find(({ text }) => /^public-/.test(text));
    return open === undefined ? undefined : danger("cloud.public", "makes stored objects public", open);
  }
  if (service.text === "configure") {
    const asked = rest[0]?.text ?? "";
    const secret = verb === "export-credentials" || (verb === "get" && /secret|token|access_key/.test(asked));
    return secret ? danger("cloud.secret", "prints keys to the cloud account", operation) : undefined;
  }
  if (SHOWS_SECRETS.test(verb))
    return danger("cloud.secret", "prints secrets of the cloud account", operation);
  if (service.text === "ssm" && /^get-parameter/.test(verb) && has(options, "with-decryption"))
    return danger("cloud.secret", "prints secrets of the cloud account", operation);
  if (service.text === "ssm" && verb === "send-command")
    return danger("cloud.remote-command", "runs commands on other machines", operation);
  if (WIDENS.test(verb)) return danger("cloud.rights", "changes who may use the cloud account", operation);
  if (service.text === "route53" && verb === "change-resource-record-sets")
    return danger("cloud.dns", "changes where names point to", operation);
  if (valuesOf(options, "desired-count", "desired-capacity").some(({ text }) => text === "0"))
    return danger("cloud.stop", "stops a running service", operation);
  if (DESTROYS.test(verb) && !HARMLESS.test(verb))
    return danger("cloud.delete", "deletes or stops something in the cloud", operation);
  return undefined;
};

import { type Condition, subject } from "./row.js";

const OPENS = "opens something in the cloud to everybody";
const UNGUARDS = "takes a protection off something in the cloud";

/** Every address there is, as a range or as its two ends. */
const EVERYBODY =
  /(?:^|[=:,"'[\s])(?:0\.0\.0\.0\/[01]|::\/0|ip_addr:0\.0\.0\.0\/0)(?:$|[,"'\]\s])|^(?:--?[\w-]+=)?255\.255\.255\.255$/;
/** Verbs that only look. */
const LOOKS = /^(?:list|ls|get|show|describe|view|search|check|export|help|wait|find)(?:-|$)/i;

const isChange: Condition = ({ operands }) =>
  operands.slice(0, 5).some(({ text }) => LOOKS.test(text)) ? undefined : {};

const opensToAll: Condition = (call) =>
  isChange(call) === undefined ? undefined : call.args.find(({ text }) => EVERYBODY.test(text));

/** Options of one word: `--publicly-accessible`, `--allow-unauthenticated`. */
const OPENING =
  /^--(?:(?:predefined|canned)-acl=public\w*|publicly-accessible|allow-unauthenticated|make-public|public-access|enable-public-ip-on-launch)(?:=(?:true|enabled?))?$/i;
const LIFTING =
  /^--(?:no-(?:deletion-protection|disable-api-termination|require-ssl|termination-protection|enable-termination-protection|versioning|storage-encrypted|multi-factor\S*|shielded\S*|uniform-bucket-level-access|enable-key-rotation|public-access-prevention)|(?:deletion|termination)-protection=(?:false|off|disabled))$/i;
/** Options whose value says it: `--public-network-access Enabled`. */
const PAIRED =
  /^--(?:(?:allow-blob-public-access|allow-public-access|public-network-access)[ =](?:true|enabled?)|default-action[ =]allow|(?:deletion|termination|enable-termination)-protection[ =](?:false|off|disabled)|minimal-tls-version[ =](?:none|tls1_0)|https-only[ =]false|ssl-enforcement[ =]disabled|(?:enable-)?purge-protection[ =]false|enable-soft-delete[ =]false)$/i;

const said =
  (single: RegExp): Condition =>
  ({ args }) =>
    args.find(
      ({ text }, index) =>
        single.test(text) || PAIRED.test(text) || PAIRED.test(`${args[index - 1]?.text ?? ""} ${text}`),
    );

/** What the options of any cloud's tool open to the world, or leave without its protection. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("exposure", [
  { program: "aws|gcloud|az|doctl|oci|linode-cli|hcloud|scw|vultr-cli|openstack|aliyun|tccli|ibmcloud|exo|civo|upctl|gsutil|yc|neonctl|supabase|atlas",
    taking: "profile region output query g resource-group n name s server subscription project zone", dry: "dry-run dryrun", rows: [
    { when: opensToAll, rule: "cloud.public", reason: OPENS,
      match: ["az sql server firewall-rule create -g r -s s -n all --start-ip-address 0.0.0.0 --end-ip-address 255.255.255.255", "gcloud sql instances patch x --authorized-networks=0.0.0.0/0", "doctl databases firewalls append x --rule ip_addr:0.0.0.0/0"],
      not_match: ["aws ec2 describe-security-groups --filters Name=ip-permission.cidr,Values=0.0.0.0/0", "hcloud firewall list"] },
    { when: said(OPENING), rule: "cloud.public", reason: OPENS,
      match: ["aws rds modify-db-instance --publicly-accessible --db-instance-identifier x", "gcloud run deploy api --image x --allow-unauthenticated", "az storage account update -n x --allow-blob-public-access true"],
      not_match: ["gcloud run deploy api --image x --no-allow-unauthenticated"] },
    { when: said(LIFTING), rule: "cloud.protection", reason: UNGUARDS,
      match: ["aws rds modify-db-instance --no-deletion-protection --db-instance-identifier x", "gcloud sql instances patch db --no-require-ssl"],
      not_match: ["az storage account show -n x"] },
  ] },
]);

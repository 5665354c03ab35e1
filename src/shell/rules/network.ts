import { parseOptions } from "../read/options.js";
import type { Rule } from "../types.js";
import { danger, explainsAnywhere, forPrograms, names, operandsOf, verbRule } from "./words.js";

const FIREWALL = "changes the firewall";
const NETWORK = "changes the network of the machine";

const IPTABLES_CHANGES =
  /^(?:-[FXPAIDRNEZ].*|--(?:flush|delete-chain|policy|append|insert|delete|replace|new-chain|rename-chain|zero))$/;

const iptables: Rule = ({ args }) => {
  if (explainsAnywhere(args)) return undefined;
  const change = args.find(({ text }) => IPTABLES_CHANGES.test(text));
  return change === undefined ? undefined : danger("firewall.rules", FIREWALL, change);
};

const nft: Rule = ({ args }) => {
  const { flags, values, operands } = parseOptions(args, { taking: ["f", "file", "I", "D"] });
  if (flags.has("c") || flags.has("check") || flags.has("h") || flags.has("v")) return undefined;
  const file = values.get("f") ?? values.get("file");
  if (file !== undefined) return danger("firewall.rules", FIREWALL, file[0]);
  const words = operands.flatMap(({ text }) => text.split(/[\s;]+/));
  return words.some((word) => NFT_CHANGES.has(word))
    ? danger("firewall.rules", FIREWALL, operands[0])
    : undefined;
};
const NFT_CHANGES = names("add create insert replace delete destroy flush reset rename");

const UFW_READS = names("status version show app");
const ufw: Rule = ({ args }) => {
  if (explainsAnywhere(args) || args.some(({ text }) => text === "--dry-run")) return undefined;
  const [verb, next] = operandsOf(args);
  if (verb === undefined || (UFW_READS.has(verb.text) && !/^(?:update|default)$/.test(next?.text ?? "")))
    return undefined;
  return danger("firewall.rules", FIREWALL, verb);
};

const firewallCmd: Rule = ({ args }) => {
  const change = args.find(({ text }) =>
    /^--(?:add|remove|set|change|delete|new|load|reload|complete-reload|panic-on|panic-off|lockdown|reset|runtime-to-permanent|direct)/.test(
      text,
    ),
  );
  return change === undefined || explainsAnywhere(args)
    ? undefined
    : danger("firewall.rules", FIREWALL, change);
};

const pfctl: Rule = ({ args }) => {
  const change = args.find(({ text }) => /^-[a-zA-Z]*[dFfekKTRNA]/.test(text) && !/^-s/.test(text));
  return change === undefined || args.some(({ text }) => /^-[a-z]*n/.test(text))
    ? undefined
    : danger("firewall.rules", FIREWALL, change);
};

const IP_CHANGES = names("set add del delete flush replace change append prepend attach detach down restore");
const ip: Rule = ({ args }) => {
  const operands = operandsOf(args, "-f -family -n -netns -b -batch -rc");
  const batch = args.find(({ text }) => /^-b(?:atch)?$/.test(text));
  if (batch !== undefined) return danger("network.change", NETWORK, batch);
  const verb = operands[1];
  return verb !== undefined && IP_CHANGES.has(verb.text)
    ? danger("network.change", NETWORK, verb)
    : undefined;
};

const ifconfig: Rule = ({ args }) => {
  const operands = operandsOf(args);
  return operands.length > 1 ? danger("network.change", NETWORK, operands[1]) : undefined;
};

const NMCLI_CHANGES =
  /^(?:down|del(?:ete)?|add|mod(?:ify)?|edit|off|disc(?:onnect)?|import|clone|hotspot|set|connect|up)$/;
const nmcli: Rule = ({ args }) => {
  const operands = operandsOf(args, "-f --fields -m --mode -c --colors -e -g --get-values -w --wait");
  const verb = operands.slice(1, 3).find(({ text }) => NMCLI_CHANGES.test(text));
  return verb === undefined ? undefined : danger("network.change", NETWORK, verb);
};

const resolvectl: Rule = ({ args }) => {
  const operands = operandsOf(args);
  return /^(?:dns|domain|revert|dnssec|dnsovertls|llmnr|mdns|default-route|nta)$/.test(
    operands[0]?.text ?? "",
  ) && operands.length > 2
    ? danger("network.change", NETWORK, operands[0])
    : undefined;
};

const change = (verbs: string, at = 0): Rule =>
  verbRule({ rule: "network.change", reason: NETWORK, verbs, at });

/** Firewalls, interfaces, routes. */
export const NETWORKS: Readonly<Record<string, Rule>> = {
  ...forPrograms(
    "iptables ip6tables iptables-legacy iptables-nft ip6tables-legacy ip6tables-nft ebtables arptables",
    iptables,
  ),
  ...forPrograms("iptables-restore ip6tables-restore iptables-apply pfctl-restore", ({ args }) =>
    args.some(({ text }) => /^(?:-t|--test|-h|--help|-V)$/.test(text))
      ? undefined
      : danger("firewall.rules", FIREWALL),
  ),
  nft,
  ufw,
  "firewall-cmd": firewallCmd,
  "firewall-offline-cmd": firewallCmd,
  pfctl,
  ipset: verbRule({
    rule: "firewall.rules",
    reason: FIREWALL,
    verbs: "create add del destroy flush rename swap restore",
  }),
  ipfw: verbRule({
    rule: "firewall.rules",
    reason: FIREWALL,
    verbs: "add delete flush disable enable zero table",
  }),
  socketfilterfw: ({ args }) =>
    args.some(({ text }) => /^--(?:set|add|remove|block|unblock)/.test(text))
      ? danger("firewall.rules", FIREWALL)
      : undefined,
  "fail2ban-client": verbRule({
    rule: "firewall.rules",
    reason: FIREWALL,
    verbs: "stop unban set reload restart",
  }),
  ip,
  ifconfig,
  route: change("add del delete flush change"),
  arp: ({ args }) =>
    args.some(({ text }) => /^-[a-z]*[ds]/.test(text)) ? danger("network.change", NETWORK) : undefined,
  nmcli,
  resolvectl,
  "wg-quick": change("up down"),
  wg: change("set setconf addconf syncconf"),
  ifdown: ({ args }) =>
    operandsOf(args).length > 0 || args.length > 0 ? danger("network.change", NETWORK) : undefined,
  netplan: change("apply set try"),
  tc: change("add del delete change replace flush", 1),
  brctl: change("addbr delbr addif delif"),
  "ovs-vsctl": change("del-br add-br del-port add-port set remove emer-reset", -1),
  rfkill: change("block"),
  ethtool: ({ args }) =>
    args.some(({ text }) =>
      /^(?:-[sKGAECfpUNX]|--(?:change|features|offload|set-ring|flash|reset))$/.test(text),
    )
      ? danger("network.change", NETWORK)
      : undefined,
  networksetup: ({ args }) =>
    /^-(?:set|create|remove|delete|add|disconnect|switch)/i.test(args[0]?.text ?? "")
      ? danger("network.change", NETWORK, args[0])
      : undefined,
  scutil: ({ args }) =>
    args.some(({ text }) => text === "--set") ? danger("network.change", NETWORK) : undefined,
  tailscale: change("down logout up set"),
};

import { type Condition, subject } from "./row.js";

const FIREWALL = "changes the firewall";
const NETWORK = "changes the network of the machine";
const RULES_CHANGE = "firewall.rules";
const CHANGE = "network.change";
const SHOWS = "prints the passwords or keys of a network";
const PASSWORDS = "credentials.network";

const nftChange: Condition = ({ operands }) =>
  operands
    .flatMap(({ text }) => text.split(/[\s;]+/))
    .some((word) => /^(?:add|create|insert|replace|delete|destroy|flush|reset|rename)$/.test(word))
    ? operands[0]
    : undefined;

/** Firewalls, interfaces, routes. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("network", [
  { rule: RULES_CHANGE, reason: FIREWALL, tools: [
    { program: "iptables|ip6tables|iptables-legacy|iptables-nft|ip6tables-legacy|ip6tables-nft|ebtables|arptables",
      dry: "",
      word: /^(?:-[FXPAIDRNEZ].*|--(?:flush|delete-chain|policy|append|insert|delete|replace|new-chain|rename-chain|zero))$/,
      match: ["iptables -F"], not_match: ["iptables -L"] },
    { program: "iptables-restore|ip6tables-restore|iptables-apply|pfctl-restore",
      unless: /^(?:-t|--test|-h|-V)$/, match: ["iptables-restore < rules.v4"] },
    { program: "nft", taking: "f file I D", dry: "c check h v", not_match: ["nft list ruleset"], rows: [
      { options: "f file", match: ["nft -f /tmp/x.nft"], not_match: ["nft -c -f x.nft"] },
      { when: nftChange, match: ["nft flush ruleset"], not_match: ["nft list tables"] },
    ] },
    { program: "ufw", dry: "dry-run", not_match: ["ufw app list", "ufw status verbose"], rows: [
      { path: "status|version|show|app update|default", match: ["ufw app update nginx"] },
      { path: "*", when: (call) => !/^(?:status|version|show|app)$/.test(call.operand(0)),
        match: ["ufw disable"], not_match: ["ufw version"] },
    ] },
    { program: "firewall-cmd|firewall-offline-cmd",
      word: /^--(?:add|remove|set|change|delete|new|load|reload|complete-reload|panic-on|panic-off|lockdown|reset|runtime-to-permanent|direct)/,
      match: ["firewall-cmd --panic-on"], not_match: ["firewall-cmd --state"] },
    { program: "pfctl", unless: /^-[a-z]*n/, word: /^-(?!s)[a-zA-Z]*[dFfekKTRNA]/, match: ["pfctl -d"],
      not_match: ["pfctl -s rules"] },
    { program: "ipset", unknownVerb: true, path: "create|add|del|destroy|flush|rename|swap|restore",
      match: ["ipset destroy"] },
    { program: "ipfw", unknownVerb: true, path: "add|delete|flush|disable|enable|zero|table",
      match: ["ipfw flush"] },
    { program: "socketfilterfw", word: /^--(?:set|add|remove|block|unblock)/, match: ["socketfilterfw --setglobalstate off"] },
    { program: "fail2ban-client", unknownVerb: true, path: "stop|unban|set|reload|restart",
      match: ["fail2ban-client stop"] },
  ] },
  { rule: CHANGE, reason: NETWORK, tools: [
    { program: "ip", taking: "f family n netns rc", style: "go", not_match: ["ip neigh", "ip monitor"],
      rows: [
      { word: /^-b(?:atch)?$/, match: ["ip -batch changes.txt"], not_match: ["ip addr"] },
      { path: "* set|add|del|delete|flush|replace|change|append|prepend|attach|detach|down|restore",
        match: ["ip route del default"] },
    ] },
    { program: "ifconfig", path: "* *", match: ["ifconfig eth0 down"] },
    { program: "route", unknownVerb: true, path: "add|del|delete|flush|change", match: ["route del default"],
      not_match: ["route"] },
    { program: "arp", word: /^-[a-z]*[ds]/, match: ["arp -d"], not_match: ["arp -a"] },
    { program: "nmcli", taking: "f fields m mode c colors e g get-values w wait", rows: [
      { when: ({ operands }) =>
          operands
            .slice(1, 3)
            .find(({ text }) =>
              /^(?:down|del(?:ete)?|add|mod(?:ify)?|edit|off|disc(?:onnect)?|import|clone|hotspot|set|connect|up)$/.test(
                text,
              ),
            ),
        match: ["nmcli con down eth0"], not_match: ["nmcli con show"] },
      { options: "s show-secrets", rule: PASSWORDS, reason: SHOWS, match: ["nmcli -s con show office"],
        not_match: ["nmcli con show office"] },
      { word: /^(?:show-password|[\w.,-]*\b(?:psk|wep-key\d?|leap-password|password|secrets))$/, rule: PASSWORDS, reason: SHOWS,
        match: ["nmcli device wifi show-password", "nmcli -g 802-11-wireless-security.psk con show x"], not_match: ["nmcli -g ip4.address con show x"] },
    ] },
    { program: "resolvectl", path: "dns|domain|revert|dnssec|dnsovertls|llmnr|mdns|default-route|nta",
      when: ({ rest }) => rest.length > 1, match: ["resolvectl dns eth0 203.0.113.9"],
      not_match: ["resolvectl dns"] },
    { program: "wg-quick", unknownVerb: true, rows: [
      { path: "up|down", match: ["wg-quick down wg0"] },
      { path: "strip", rule: PASSWORDS, reason: SHOWS, match: ["wg-quick strip wg0"] },
    ] },
    { program: "wg", unknownVerb: true, not_match: ["wg", "wg show wg0", "wg show wg0 endpoints"], rows: [
      { path: "set|setconf|addconf|syncconf", match: ["wg set"] },
      { path: "showconf", rule: PASSWORDS, reason: SHOWS, match: ["wg showconf wg0"] },
      { path: "show * private-key|preshared-keys|dump", rule: PASSWORDS, reason: SHOWS, match: ["wg show all dump"],
        not_match: ["wg show wg0 peers"] },
    ] },
    { program: "iwctl|connmanctl|wpa_cli", word: /^(?:get_network|show-psk|psk)$/, rule: PASSWORDS, reason: SHOWS,
      match: ["wpa_cli get_network 0 psk"], not_match: ["wpa_cli status"] },
    { program: "ifdown", word: /./, match: ["sudo ifdown eth0"] },
    { program: "netplan", unknownVerb: true, path: "apply|set|try", match: ["netplan apply"] },
    { program: "tc", unknownVerb: true, path: "* add|del|delete|change|replace|flush",
      match: ["tc qdisc add dev eth0 root netem loss 100%"], not_match: ["tc -s qdisc"] },
    { program: "brctl", unknownVerb: true, path: "addbr|delbr|addif|delif", match: ["sudo brctl delbr br0"] },
    { program: "ovs-vsctl", path: "** del-br|add-br|del-port|add-port|set|remove|emer-reset",
      match: ["ovs-vsctl del-br"] },
    { program: "rfkill", unknownVerb: true, path: "block", match: ["rfkill block all"] },
    { program: "ethtool", word: /^(?:-[sKGAECfpUNX]|--(?:change|features|offload|set-ring|flash|reset))$/,
      match: ["sudo ethtool -s eth0 speed 10"], not_match: ["ethtool eth0"] },
    { program: "networksetup", dry: "", when: ({ args: [first] }) =>
        /^-(?:set|create|remove|delete|add|disconnect|switch)/i.test(first?.text ?? "") ? first : undefined,
      match: ["networksetup -setwebproxy Wi-Fi x 80"] },
    { program: "scutil", word: /^--set$/, match: ["scutil --set"] },
    { program: "tailscale", unknownVerb: true, path: "down|logout|up|set", match: ["tailscale down"],
      not_match: ["tailscale status"] },
  ] },
]);

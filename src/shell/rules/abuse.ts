import type { ShellWord, SimpleCommand } from "../types.js";
import { isElsewhere } from "./addresses.js";
import { producersOf, producersOfWord } from "./flows.js";
import { type Condition, names, subject } from "./row.js";
import { writesOf } from "./writes.js";

const MINES = "lets the machine calculate coins for somebody";
const FLOODS = "floods or disturbs a network or another machine";
const LOADS = "puts another machine under load";
const GUESSES = "guesses passwords or names until one fits";
const ATTACKS = "looks for holes in other machines, or uses them";
const EXHAUSTS = "uses up the processor, the memory or the disk of this machine";
const DISTURBS = "writes on the terminals of others, or switches off their screen, keyboard or mouse";
const PRINTS = "prints more than anybody wants to read";
const SHOWS_ONLY = /^(?:--?help|-h|--version|-V|version|help)$/;

const aimsElsewhere: Condition = ({ args }) =>
  args.find(({ text }) => isElsewhere(text.replace(/^--?[\w-]+=/, "")));

const ENDLESS = /^\/dev\/(?:zero|u?random|full)$/;
const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 512,
  c: 1,
  k: 2 ** 10,
  m: 2 ** 20,
  g: 2 ** 30,
  t: 2 ** 40,
  p: 2 ** 50,
  e: 2 ** 60,
};
/** More than a project, a test or an image of a disk needs. */
const HUGE = 20 * 2 ** 30;

function sizeOf(text: string): number {
  const [, count = "", unit = ""] = /^\+?(\d+(?:\.\d+)?)\s*([bckmgtpe]?)i?b?$/i.exec(text) ?? [];
  return count === "" ? 0 : Number(count) * (UNITS[unit.toLowerCase()] ?? 1);
}

const optionValue = ({ args }: SimpleCommand, option: RegExp): string =>
  args
    .flatMap(({ text }, index) => {
      if (option.test(args[index - 1]?.text ?? "")) return [text];
      const cut = option.exec(text.replace(/(?<![\d.])[\d.]+(?:[A-Za-z_]\w*)?$/, "").replace(/=$/, ""));
      return cut === null ? [] : [text.slice(cut[0].length).replace(/^=/, "")];
    })
    .at(-1) ?? "";

/** Whether a command prints without end, or more than any disk of an ordinary machine has to spare. */
function overflows(command: SimpleCommand): boolean {
  const { program, args, input } = command;
  const reads =
    args.some(({ text }) => ENDLESS.test(text.replace(/^if=/, ""))) ||
    (input.kind === "file" && ENDLESS.test(input.path.text));
  if (program === "yes") return true;
  if (program === "seq")
    return Number((args.at(-1)?.text ?? "0").replace(/^\+?inf(?:inity)?$/i, "Infinity")) > 1e10;
  if (program === "dd") {
    const named = (name: string): string =>
      args.find(({ text }) => text.startsWith(`${name}=`))?.text.slice(name.length + 1) ?? "";
    const count = named("count");
    return reads && (count === "" || sizeOf(count) * (sizeOf(named("bs")) || 512) > HUGE);
  }
  if (/^g?head$/.test(program) && reads && args.some(measuresDisk)) return true;
  if (/^g?head$/.test(program)) return reads && sizeOf(optionValue(command, /^(?:-c|--bytes)$/)) > HUGE;
  if (program === "openssl") return args[0]?.text === "rand" && sizeOf(args.at(-1)?.text ?? "") > HUGE;
  return (
    /^(?:cat|pv|tee|base64|xxd|od|tr|hexdump|cp|gzip|bzip2|xz|buffer|mbuffer|shuf)$/.test(program) && reads
  );
}

/** `fallocate -l $(df --output=avail …)`: as much as there is. */
const measuresDisk = (word: ShellWord): boolean =>
  producersOfWord(word).some(({ program }) => /^(?:df|free|stat|vmstat)$/.test(program));

/** `tail /dev/zero`, `cat /dev/zero | sort`: these keep what they read until its end, which never comes. */
const hoards: Condition = ({ command }) => {
  const word = command.args.find(({ text }) => ENDLESS.test(text));
  if (word !== undefined) return word;
  const producers = feeding(command);
  const isEndless = producers.some((each) => each.program !== "yes" && overflows(each));
  const isBounded = producers.some(
    (each) =>
      /^g?(?:head|timeout)$/.test(each.program) && !(sizeOf(optionValue(each, /^(?:-c|--bytes)$/)) > HUGE),
  );
  return isEndless && !isBounded && /^g?(?:tail|tac|sort|shuf|xargs)$|^parallel$/.test(command.program)
    ? {}
    : undefined;
};

/** Who prints what it reads, also when the text is known. */
function feeding(command: SimpleCommand): readonly SimpleCommand[] {
  return command.input.kind === "text" ? producersOfWord(command.input.text) : producersOf(command);
}

/** `yes > x`, `cat /dev/zero > x`, `head -c 1T /dev/zero > x`, `fallocate -l 900G x`: until the disk is full. */
const fillsDisk: Condition = ({ command }) => {
  const { program } = command;
  if (/^(?:fallocate|mkfile|xfs_mkfile)$/.test(program) && command.args.some(measuresDisk)) return {};
  if (/^(?:fallocate|mkfile|xfs_mkfile)$/.test(program))
    return sizeOf(
      program === "mkfile"
        ? (command.args.find(({ text }) => /^\d/.test(text))?.text ?? "")
        : optionValue(command, /^(?:-l|--length)$/),
    ) > HUGE
      ? {}
      : undefined;
  const written = writesOf(command).find(
    ({ word, how }) => how !== "touch" && !/^\/dev\/(?!shm\/)|^$/.test(word.text),
  )?.word;
  if (written === undefined || command.feeds.length > 0) return undefined;
  if (overflows(command)) return written;
  const producers = feeding(command);
  const bounded = [command, ...producers].some(
    (each) => /^g?(?:head|timeout|sed|awk)$/.test(each.program) && !overflows(each),
  );
  return !bounded &&
    !/^(?:sh|bash|python3?|apt|apt-get|npm|node|make)$/.test(program) &&
    producers.some(overflows)
    ? written
    : undefined;
};

/** `echo x > /dev/pts/3`, `tee /dev/pts/*`: the terminals of other people and programs. */
const writesTerminals: Condition = ({ command }) =>
  writesOf(command).find(({ word }) => /^\/dev\/(?:pts\/|tty\d|vcs)/.test(word.text))?.word;

const LOCKED =
  /^(?:sshpass|curl|http|wget|mysql|psql|smbclient|unzip|7z|gpg|redis-cli|xfreerdp|ldapsearch|ssh-keygen|qpdf|unrar)$/;

/** `for p in $(cat words); do sshpass -p "$p" ssh …`: one after the other. */
const triesPasswords: Condition = ({ command: { program, args, repeated } }) => {
  if (!repeated || !LOCKED.test(program)) return undefined;
  return args.find(({ text, known }, index) => {
    const before = args[index - 1]?.text ?? "";
    if (known) return false;
    if (/^(?:-u|--user|-U|--auth|-a)$/.test(before)) return /[:%]\uFFFC/.test(text);
    const isPassword =
      /^(?:-p|-P|-w|--password|--passphrase)$/.test(before) && !/^(?:curl|http|wget)$/.test(program);
    return isPassword || /^--?(?:password|passphrase|user|pass)=.*\uFFFC|^-[pP]\uFFFC$/.test(text);
  });
};

/** Hundreds of requests at once. */
const storms: Condition = ({ args }) => {
  const many = args.find(({ text }, index) => {
    const isNext =
      /^(?:-P|-j|--max-procs|--jobs)$/.test(args[index - 1]?.text ?? "") && /^\d{2,}$/.test(text);
    return isNext || /^-[Pj]\d{2,}$|^--(?:max-procs|jobs)=\d{2,}$/.test(text);
  });
  const asks = args.some(({ text }) => /^(?:curl|wget|http|xh|ab|hping3|nc)$/.test(text));
  return many !== undefined && asks && args.some(({ text }) => isElsewhere(text)) ? many : undefined;
};

const MINER =
  /(?:^|[/:_-])(?:xmrig|cpuminer|minerd|ethminer|nanominer|lolminer|t-rex-miner|webminer|coinhive|cryptonight|monero-miner|xmr-stak)(?:[:@._-]|$)/i;
const RUNS_IMAGES = names("docker podman nerdctl kubectl npx bunx pnpx pip pip3 npm apt apt-get brew snap");

/** `stratum+tcp://…` is spoken by miners only. */
const minesCoins: Condition = ({ args, command }) =>
  args.find(
    ({ text }) =>
      /stratum\d?(?:\+(?:tcp|ssl|tls))?:\/\//i.test(text) ||
      (RUNS_IMAGES.has(command.program) && MINER.test(text)),
  );

const NMAP_SCRIPT = /(?:vuln|exploit|brute|\bdos\b|intrusive|malware|fuzzer|http-shellshock|smb-vuln|all\b)/;

/** Programs made to harm, to use up or to annoy, and ordinary ones used so. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("abuse", [
  { program: "*", when: fillsDisk, rule: "abuse.exhaust", reason: EXHAUSTS,
    match: ["head -c 1T /dev/zero > ~/x", "yes > junk", "cat /dev/urandom > x", "dd if=/dev/zero of=x bs=1M", "fallocate -l 900G x"],
    not_match: ["head -c 1M /dev/zero > x", "yes | head -3 > x", "fallocate -l 1G swap", "yes > /dev/null", "head -c 32 /dev/urandom | base64 > k"] },
  { program: "tail|gtail|tac|gtac|sort|gsort|shuf|grep|egrep|fgrep|wc|less|most|vi|vim|nano|jq|xargs|parallel", dry: "", when: hoards, rule: "abuse.exhaust", reason: EXHAUSTS, match: ["tail /dev/zero", "cat /dev/zero | sort", "cat /dev/zero | head -c 64G | tail", "seq inf | xargs -P0 -I{} touch {}"],
    not_match: ["tail -f a.log", "head -c 9 /dev/urandom | sort", "tail /dev/null"] },
  { program: "*", when: writesTerminals, rule: "abuse.disturb", reason: DISTURBS, match: ["yes | tee '/dev/pts/*'", "echo hi > /dev/pts/3"], not_match: ["echo hi > /dev/tty"] },
  { program: "*", when: minesCoins, rule: "abuse.mine", reason: MINES, match: ["./x -o stratum+tcp://pool.example:3333 -u a", "docker run -d miner/xmrig -o pool.example:3333"] },
  { program: "*", when: triesPasswords, rule: "abuse.guess", reason: GUESSES, match: ["for p in $(cat words); do sshpass -p \"$p\" ssh root@10.0.0.5 id; done", "for p in $(cat w); do curl -u admin:$p https://x.example; done"],
    not_match: ["for i in $(cat ids); do curl https://x.example/$i; done"] },
  { program: "xargs|parallel|rush", dry: "", when: storms, rule: "abuse.load", reason: LOADS, match: ["seq 9999 | xargs -P200 -I{} curl -s https://shop.acme.com/?{}", "parallel -j500 curl -s ::: https://shop.acme.com/"], not_match: ["cat urls.txt | xargs -P4 -n1 curl -sO", "seq 9 | xargs -P20 -I{} curl http://localhost:3000/{}"] },
  { program: "k6|vegeta|locust|artillery", dry: "", when: ({ args }) => args.find(({ text }, index) => /^-{1,2}(?:vus|rate|users|u)=\d{4,}/.test(text) || (/^-{1,2}(?:vus|rate|users|u)$/.test(args[index - 1]?.text ?? "") && /^\d{4,}/.test(text))), rule: "abuse.load", reason: LOADS, match: ["k6 run --vus 5000 script.js", "vegeta attack -targets=t.txt -rate=10000"], not_match: ["k6 run --vus 10 script.js"] },
  { program: "pkill|killall", dry: "", word: /^-(?:STOP|SIGSTOP|19|TSTP|SIGTSTP)$/, rule: "process.kill-wide", reason: "freezes programs by name", match: ["pkill -STOP -f sshd"], not_match: ["pkill -CONT -f vite"] },
  { program: "renice", dry: "", word: /^(?:-u|--user)$|^1$/, rule: "abuse.exhaust", reason: "slows down every program of a user", match: ["renice 19 -u postgres"], not_match: ["renice 10 -p 1234"] },
  { rule: "abuse.mine", reason: MINES, dry: "", tools: [
    { program: "xmrig|xmr-stak|xmr-stak-cpu|minerd|cpuminer|cpuminer-multi|cpuminer-opt|cgminer|bfgminer|sgminer|ethminer|t-rex|lolminer|nbminer|phoenixminer|gminer|miniz|nanominer|teamredminer|srbminer-multi|ccminer|wildrig-multi|rigel|bzminer|nheqminer|hellminer|minergate-cli|nicehash|xmrig-proxy|p2pool|unmineable|kryptex|verus-solver|chia_plot|bladebit",
      unless: SHOWS_ONLY, match: ["xmrig -o pool.example:3333 -u 48ed", "minerd -a yescrypt"], not_match: ["xmrig --version"] },
  ] },
  { rule: "abuse.flood", reason: FLOODS, dry: "", tools: [
    { program: "hping|hping2|hping3|nping", unless: SHOWS_ONLY, word: /^--?(?:flood|faster|rand-source|rate|i(?:nterval)?)|^-[a-z]*i$|^u\d+$/, match: ["hping3 --flood -S -p 443 198.51.100.7"], not_match: ["hping3 -c 3 -S -p 443 localhost"] },
    { program: "slowloris|slowhttptest|goldeneye|hulk|t50|mz|mausezahn|torshammer|thc-ssl-dos|mdk3|mdk4|aireplay-ng|airbase-ng|wifite|wifiphisher|macof|arpspoof|dnsspoof|ettercap|bettercap|yersinia|dhcpig|dhcpstarv|trafgen|pktgen|packeth|loic|hoic|xerxes|ufonet|impulse|mhddos|siege-bot|raven-storm|saddam|fl00d|udpflood|synflood|flood_router6|fake_router6|thcping6|responder|mitm6|evilginx|deauther|ubertooth-btle|l2flood|l2ping-flood|spooftooph|zarp",
      unless: SHOWS_ONLY, match: ["slowloris shop.example", "arpspoof -i eth0 -t 10.0.0.5 10.0.0.1"], not_match: ["slowhttptest -h"] },
    { program: "ping|ping6|fping|l2ping", taking: "c i I W w s t Q p M m S F", word: /^-[a-zA-Z]*f[a-zA-Z]*$|^--flood$/, match: ["ping -f 198.51.100.7", "sudo ping -fs 65000 a.example"], not_match: ["ping -c 3 example.com", "fping localhost"] },
    { program: "iperf|iperf3|nuttcp|netperf", taking: "c H t P b p n l", when: (call) => call.given("c", "H").find(({ text }) => isElsewhere(text)), match: ["iperf3 -c 198.51.100.7 -u -b 10G -t 9999"], not_match: ["iperf3 -c localhost", "iperf3 -s"] },
  ] },
  { rule: "abuse.load", reason: LOADS, dry: "", tools: [
    { program: "ab|wrk|wrk2|hey|vegeta|siege|autocannon|bombardier|oha|rewrk|h2load|httperf|ddosify|plow|cassowary|fortio|ghz|loadtest|loadtest-cli|artillery|k6|locust|gobench|baton|pounce|slapper|hyperload|weighttp|tsung|gatling|jmeter|taurus|bzt|http_load|dnsperf|queryperf|resperf|sipp|mqtt-bench|memtier_benchmark|redis-benchmark|pgbench|mysqlslap|sysbench|ycsb|cassandra-stress|kafka-producer-perf-test|rabbitmq-perf-test|tcpkali",
      unless: SHOWS_ONLY, when: aimsElsewhere, match: ["wrk -t32 -c5000 -d24h https://shop.acme.com/checkout", "hey -n 100000 https://api.example.com", "locust --host=https://x.example.com --headless"],
      not_match: ["ab -n 200 -c 10 http://localhost:3000/", "wrk -t2 http://127.0.0.1:8080", "k6 run script.js", "k6 run tests/load.test.js"] },
    { program: "vegeta", when: ({ command: { input } }) => input.kind === "text" && input.text.text.split(/\s+/).some((each) => /^https?:/.test(each) && isElsewhere(each)) ? input.text : undefined,
      match: ["echo 'GET https://shop.acme.com/' | vegeta attack -rate 9000"], not_match: ["echo 'GET http://localhost:80/' | vegeta attack"] },
  ] },
  { rule: "abuse.guess", reason: GUESSES, dry: "", unless: SHOWS_ONLY, tools: [
    { program: "hydra|thc-hydra|xhydra|medusa|ncrack|patator|crowbar|brutespray|legba|kerbrute|crackmapexec|cme|netexec|nxc|aircrack-ng|pyrit|cowpatty|hcxdumptool|reaver|bully|wash|fcrackzip|pdfcrack|rarcrack|bruteforce-luks|bruteforce-salted-openssl|bruteforce-wallet|ophcrack|chntpw|o365spray|sprayhound|trevorspray|ssh-brute|thc-pptp-bruter|changeme|onesixtyone|snmp-brute|hashcat-utils|cupp",
      match: ["hydra -l root -P rockyou.txt ssh://10.0.0.5", "ncrack -p 22 10.0.0.5"], not_match: ["hydra -h"] },
    { program: "gobuster|ffuf|feroxbuster|dirb|dirbuster|dirsearch|wfuzz|rustbuster|arjun|kiterunner|kr", when: aimsElsewhere, match: ["ffuf -u https://shop.acme.com/FUZZ -w w.txt"], not_match: ["ffuf -u http://localhost:8080/FUZZ -w w.txt"] },
  ] },
  { rule: "abuse.attack", reason: ATTACKS, dry: "", unless: SHOWS_ONLY, tools: [
    { program: "msfconsole|msfvenom|msfdb|msfrpcd|armitage|setoolkit|beef-xss|commix|xsser|tplmap|ysoserial|jndi-exploit-kit|routersploit|rsf|exploitdb|evil-winrm|psexec.py|wmiexec.py|smbexec.py|atexec.py|dcomexec.py|secretsdump.py|ntlmrelayx.py|getuserspns.py|getnpusers.py|mssqlclient.py|impacket-psexec|impacket-secretsdump|impacket-wmiexec|impacket-smbexec|impacket-ntlmrelayx|impacket-getuserspns|bloodhound-python|certipy|certipy-ad|enum4linux|enum4linux-ng|rubeus|lazagne|laZagne|mimipenguin|linpeas|linpeas.sh|linenum.sh|les.sh|pspy|pspy64|empire|sliver-client|sliver-server|sliver|havoc|covenant|veil|shellter|koadic|pupy|pwncat|pwncat-cs|weevely|webshell|cobaltstrike|teamserver|bettercap|wpscan|joomscan|droopescan|nuclei|whatweb|wapiti|arachni|skipfish|w3af|zap.sh|zap-cli|zaproxy|jaeles|dalfox|xsstrike|nosqlmap|sqlninja|sqlsus|bbqsql|masscan|zmap|zgrab|zgrab2|rustscan|naabu|unicornscan|smbmap|ldapdomaindump|kubesploit|peirates|kube-hunter|deepce.sh|pacu|scoutsuite|cloudfox|trufflehog-s3|theharvester|spiderfoot|recon-ng|maltego",
      match: ["nuclei -u https://shop.acme.com", "masscan 0.0.0.0/0 -p22"], not_match: ["nuclei -h"] },
    { program: "sqlmap|ghauri", unless: /^(?:-hh?|--help|--version|--url=http:\/\/(?:localhost|127\.).*)$/, match: ["sqlmap -u 'https://shop.acme.com/?id=1' --dump"], not_match: ["sqlmap --version"] },
    { program: "nmap", word: /^--script(?:=|$)/, when: ({ args }) => args.find(({ text }, index) => (/^--script=/.test(text) || args[index - 1]?.text === "--script") && NMAP_SCRIPT.test(text)),
      match: ["nmap --script vuln 10.0.0.5", "nmap --script=ssh-brute h.example"], not_match: ["nmap --script=http-title localhost", "nmap -p 22 localhost"] },
    { program: "nmap", word: /^(?:\d{1,3}\.){3}\d{1,3}\/(?:\d|1\d|2[0-3])$|^-iR$|^-(?:D|S)$/, match: ["nmap -sS 10.0.0.0/8", "nmap -iR 10000"], not_match: ["nmap -sV localhost"] },
  ] },
  { program: "nikto", dry: "", unless: /^-(?:H|Version|Help)$/, word: /./, rule: "abuse.attack", reason: ATTACKS, match: ["nikto -h https://shop.acme.com"], not_match: ["nikto -Version"] },
  { rule: "abuse.exhaust", reason: EXHAUSTS, dry: "", unless: SHOWS_ONLY, tools: [
    { program: "stress|stress-ng|cpuburn|burnp6|burnk7|mprime|prime95|memtester|gpu_burn|gpu-burn|furmark|s-tui-stress|y-cruncher|fork-bomb|forkbomb|looperf|hackbench|fs_mark|bonnie++|fio-fill",
      match: ["stress-ng --vm 0 --vm-bytes 200% -t 1d"], not_match: ["stress-ng --version"] },
    { program: "badblocks", word: /^-[a-z]*[wn]/, match: ["badblocks -wsv /dev/sdb"], not_match: ["badblocks -h"] },
  ] },
  { rule: "abuse.disturb", reason: DISTURBS, dry: "", unless: SHOWS_ONLY, tools: [
    { program: "wall|rwall|write", match: ["wall < text", "write ann < x"], not_match: ["wall --help"] },
    { program: "xset", path: "dpms force off|suspend|standby", match: ["xset dpms force off"], not_match: ["xset q", "xset -dpms"] },
    { program: "xset", path: "r|m|kbd|keyclick|bell off|0", match: ["xset r off"], not_match: ["xset b off"] },
    { program: "xinput", word: /^(?:--)?(?:disable|float|set-(?:int-|float-)?prop|reattach|remove-master)$/, match: ["xinput disable 9", "xinput --float 12"], not_match: ["xinput list", "xinput --list-props 9"] },
    { program: "xrandr|wlr-randr", word: /^--(?:off|brightness|gamma|reflect|rotate|rotation)$/, match: ["xrandr --output eDP-1 --off"], not_match: ["xrandr --listmonitors"] },
    { program: "xmodmap|xkbcomp|setxkbmap|loadkeys|kbd_mode|setkeycodes|dumpkeys-set|evremap|keyd|kmonad", word: /^-e$|^-option|^-[asuk]$|^[^-]/, match: ["xmodmap -e 'pointer = 0 0 0'", "loadkeys evil.map"], not_match: ["xmodmap -pke", "setxkbmap -query"] },
    { program: "vbetool|setterm|chvt|deallocvt|openvt", word: /^(?:dpms|off|\d+|--?blank|--powersave|force)$/, match: ["chvt 9", "vbetool dpms off"], not_match: ["setterm --reset"] },
    { program: "swaymsg|hyprctl|wlopm|ddcutil|brightnessctl|light|xbacklight|kscreen-doctor", word: /^(?:disable|dpms|setvcp|--off|0%?|-set)$|\.disable$/, match: ["swaymsg output eDP-1 disable", "brightnessctl set 0"], not_match: ["ddcutil detect", "brightnessctl info"] },
    { program: "xdg-screensaver|loginctl|xflock4|xlock|i3lock|swaylock|slock|vlock|physlock|gnome-screensaver-command", path: "lock-sessions|lock-session", match: ["loginctl lock-sessions"], not_match: ["loginctl list-sessions"] },
  ] },
  { rule: "abuse.print", reason: PRINTS, dry: "", tools: [
    { program: "lp|lpr", taking: "d P n o t U h H i q", when: (call) => call.args.find(({ text }) => /^\/dev\//.test(text)) ?? (/^\/dev\//.test(call.command.input.kind === "file" ? call.command.input.path.text : "") ? {} : undefined) ??
        call.args.find(({ text }, index) => /^(?:-n|-#)\d{3,}$/.test(text) || (/^(?:-n|-#)$/.test(call.args[index - 1]?.text ?? "") && /^\d{3,}$/.test(text))) ?? (call.command.repeated || feeding(call.command).some(({ program }) => program === "yes") ? {} : undefined),
      match: ["lp -d floor3 -n 999 /dev/urandom", "lpr -#500 a.pdf"], not_match: ["lp a.pdf", "lpr -P office -#2 a.pdf"] },
  ] },
]);

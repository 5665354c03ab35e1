import { inlineCode } from "../code/inline.js";
import type { SimpleCommand } from "../types.js";
import { producersOf, producersOfWord } from "./flows.js";
import { isHistoryFile } from "./places.js";
import { type Condition, names, subject } from "./row.js";
import { isSecretName } from "./secret-names.js";
import { inputText } from "./sql-clients.js";

const ENVIRONMENT = "credentials.environment";
const ELSEWHERE = "shows the environment, keys as well, of another machine";
const FILTERED = "looks for keys and passwords in the environment, or in what was typed";
const MEMORY = "reads the memory or the variables of a running process";
const INSIDE = "runs code inside another process";

/** `kubectl exec web -- env`, `ssh prod env`; a container of this machine is as open as the machine. */
const foreignEnvironment: Condition = ({ command: { program, args, wrappers } }) =>
  /^(?:env|printenv|export|set|declare)$/.test(program) &&
  wrappers.some(
    ({ kind, program: outer }) => kind === "remote" || /^(?:kubectl|oc|heroku|fly|flyctl) /.test(outer),
  ) &&
  (program === "printenv"
    ? args.length === 0 || args.some(({ text }) => isSecretName(text))
    : args.every(({ text }) => text.startsWith("-")))
    ? {}
    : undefined;

const SECRET_WORD =
  /(?:token|secret|passw|\bpass\b|AKIA|ghp_|xox[a-z]|passphrase|credential|api_?-?key|apikey|private_?key|access_?key|\bkey\b|\bpwd\b|\bsensitive\b)/i;
const PRINTERS = names("env printenv set export declare typeset");

/** `env | grep -i token`, `printenv GITHUB_TOKEN`. */
const filtersSecrets: Condition = ({ command }) => {
  const { program, args, feeds, redirects } = command;
  if (program === "printenv")
    return feeds.length === 0 && redirects.length === 0
      ? args.find(({ text }) => isSecretName(text))
      : undefined;
  if (!/^(?:[ef]?grep|rg|ag|ack|awk|gawk|sed|perl|ruby|jq|gojq|jaq)$/.test(program)) return undefined;
  const word = args.find(({ text }) => SECRET_WORD.test(text));
  if (
    word === undefined ||
    args.some(({ text }) => /^-[a-zA-Z]*[qcvL]|^--(?:quiet|count|invert-match)$/.test(text))
  )
    return undefined;
  // Names without values are no secrets.
  if (
    [...feeds, ...producersOf(command)].some(
      ({ program: next, args: [first] }) => /^(?:wc|cut)$/.test(next) && !/^-d.?$/.test(first?.text ?? ""),
    )
  )
    return undefined;
  const isSource = (each: SimpleCommand): boolean =>
    /^(?:history|fc|atuin|mcfly|hstr)$/.test(each.program) ||
    each.args.some(isHistoryFile) ||
    (/^(?:terraform|tofu|terragrunt)$/.test(each.program) &&
      each.args.some(({ text }) => /^(?:output|show|pull)$/.test(text))) ||
    (PRINTERS.has(each.program) && each.args.every(({ text }) => text.startsWith("-")));
  return args.some(isHistoryFile) || producersOf(command).some(isSource) ? word : undefined;
};

/** Programs that print what they read, changed or not. */
const SHOWS = names(
  "cat tac rev base64 base32 basenc xxd od hexdump fold fmt head tail cut tr sed awk gawk nl column paste grep less more jq",
);

/** `echo $GITHUB_TOKEN`, `for v in ${!AWS_*}; do echo "${!v}"; done`, also turned round or encoded. */
const printsSecrets: Condition = ({ command: { program, args, feeds, redirects, repeated, wrappers } }) => {
  if (program !== "echo" && program !== "printf" && program !== "print") return undefined;
  const isKept = [{ redirects }, ...feeds].some((each) => each.redirects.some(({ kind }) => kind !== "read"));
  if (isKept || !feeds.every((each) => SHOWS.has(each.program)) || wrappers.length > 3) return undefined;
  return args.find(
    ({ text, variables = [] }) =>
      // What a build server is told to hide.
      (!text.startsWith("::add-mask::") && variables.some((name) => isSecretName(name))) ||
      (repeated && variables.some((name) => name.startsWith("!"))),
  );
};

const PASSWORD_TABLE =
  /\bpg_(?:shadow|authid)\b|\bmysql\.user\b|\bauthentication_string\b|\bsystem\.users\b|\brequirepass\b|\bmasterauth\b|\bdba_users\b|\bsys\.user\$|\bsys\.sql_logins\b/i;
const CLIENTS =
  "psql|pgcli|usql|mysql|mariadb|mycli|mongosh|mongo|redis-cli|valkey-cli|keydb-cli|sqlplus|sqlcmd|duckdb|cockroach";

/** Where databases keep the passwords of those who may use them. */
const readsPasswordTable: Condition = ({ command }) =>
  [...command.args, ...inputText(command)].find(({ text }) => PASSWORD_TABLE.test(text));

/** What the machine holds in memory, as one file. */
const readsMemory: Condition = ({ args }) =>
  args.find(({ text }) => text.endsWith("mem") && /(?:^|=)\/dev\/k?mem$/.test(text));

const READS_ENVIRONMENT =
  /process\.env|os\.environ|\bENV\b|%ENV|getenv|\$_ENV|\$_SERVER|System\.get[eE]nv|Deno\.env/;

/** Code that goes through the environment for names of secrets. */
const codeFiltersSecrets: Condition = ({ command }) => {
  const queries = /^(?:jq|gojq|jaq|yq)$/.test(command.program) ? command.args : [];
  const texts = [...(inlineCode(command)?.texts ?? []), ...inputText(command), ...queries];
  return texts.find(
    ({ text }) =>
      [...text.matchAll(PRINTS_VARIABLE)].some(([, name = ""]) => isSecretName(name)) ||
      (READS_ENVIRONMENT.test(text) &&
        /entries|keys|items|filter|each|select|grep|for\b|map|dump|stringify/.test(text) &&
        SECRET_WORD.test(text)),
  );
};

/** A variable of the environment that is printed as it is, in the languages above and in queries of jq. */
const PRINTS_VARIABLE =
  /(?:^\s*|\b(?:print|log|puts|echo|say|write|p|pp|print_r|var_dump)\b\s*\(*\s*)(?:os\.environ|os\.getenv|process\.env|\$?ENV|\$_ENV|\$_SERVER|getenv|ENVIRON|env(?=[.(]))(?:\.get|\.fetch)?\s*[.[({]+\s*["']?(\w+)(?=(["']?[\])}]*))\2(?!\s*(?:is\b|[=!<>]=|[?]|&&|in\b|and\b|if\b|\.length|\[))/g;

const LOGIN = /authori[sz]ation|passw|cookie|credential|token|\bauth|\bUSER\b|login|secret/i;
const PLAIN_PORT = /\bport\s+(?:21|23|25|80|110|143|389|ftp|telnet|smtp|pop3?|imap|ldap|http)\b/;

/** Somebody's traffic, as it passes: searched for logins, or kept or shown as a whole. */
const listens: Condition = (call) => {
  const texts = call.args.map(({ text }) => text);
  if (
    texts.some((text) =>
      /^-[a-zA-Z]*[rDL]$|^-r.|^--(?:read-file|version|help|list-interfaces)|^-(?:v|h)$/.test(text),
    )
  )
    return undefined;
  const login = call.find(LOGIN);
  if (login !== undefined) return login;
  const keeps = /^(?:dumpcap|tcpflow|ngrep)$/.test(call.command.program)
    ? call.args[0]
    : call.find(/^(?:-\w*i)?any$/) !== undefined
      ? call.find(/^-[a-zA-Z]*[AXwx]$|^-w./)
      : call.find(/^-[a-zA-Z]*[AXx]$/);
  const isOwn = texts.some(
    (text, index) => /^(?:lo0?|docker\d|br-\w+)$/.test(text) && /^-\w*i$/.test(texts[index - 1] ?? ""),
  );
  if (keeps === undefined || isOwn) return undefined;
  const line = texts.join(" ");
  return PLAIN_PORT.test(line) || !/\b(?:port|host|net|portrange)\s+\S/.test(line) ? keeps : undefined;
};

/** A debugger that is led to the runtime itself. */
const debugsRuntime: Condition = ({ command }) =>
  DEBUGGERS.has(command.program)
    ? command.args.find((word) =>
        producersOfWord(word).some(({ args }) => args.some(({ text }) => /hermes/i.test(text))),
      )
    : undefined;
const DEBUGGERS = names(
  "gdb lldb strace ltrace dlv py-spy rbspy frida frida-trace reptyr gcore jmap jcmd criu node perf bpftrace kill uftrace rr radare2 r2 pyrasite austin memray",
);

/** What running programs hold in memory and environment. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("memory", [
  { program: "*", when: foreignEnvironment, rule: ENVIRONMENT, reason: ELSEWHERE, match: ["kubectl exec -n prod deploy/api -- env", "ssh prod env"],
    not_match: ["docker exec -it web env", "docker exec web printenv PATH", "kubectl exec web -- env FOO=1 ls"] },
  { program: "*", when: filtersSecrets, rule: ENVIRONMENT, reason: FILTERED, match: ["env | grep -iE 'token|secret'", "declare -xp | sed -n /TOKEN/p", "set | grep -i secret", "terraform output -json | jq 'map(select(.sensitive))'", "grep -i passw ~/.bash_history", "printenv GITHUB_TOKEN"],
    not_match: ["set -e; grep -n token a.txt", "env | grep NODE", "env | grep -c TOKEN", "grep -rn token src", "printenv PATH", "cat a.txt | grep token"] },
  { program: "*", when: printsSecrets, rule: ENVIRONMENT, reason: "prints a key or password of the environment",
    match: ["echo $GITHUB_TOKEN", "printf '%s' \"$DB_PASSWORD\" | base64"],
    not_match: ["echo $HOME", "echo \"$TOKEN\" | docker login --password-stdin", "echo \"KEY=$API_KEY\" > conf/app", "[ -n \"$API_KEY\" ] && echo set"] },
  { program: "*", when: codeFiltersSecrets, rule: ENVIRONMENT, reason: FILTERED, match: ["node -p 'Object.entries(process.env).filter(([k]) => /TOKEN/.test(k))'", "node -p process.env.GITHUB_TOKEN", "python3 -c 'import os;print(os.environ[\"DB_PASSWORD\"])'", "jq -nr env.API_TOKEN"],
    not_match: ["node -p process.env.NODE_ENV", "node -e 'console.log(Object.keys(process.env).length)'"] },
  { program: "*", when: debugsRuntime, rule: "agent.self", reason: "leads a debugger to the runtime that guards this agent", match: ["gdb -batch -p \"$(pgrep -f 'hermes serve')\" -ex bt"] },
  { program: CLIENTS, dry: "", when: readsPasswordTable, rule: "credentials.dump", reason: "reads the passwords that a database keeps", match: ["psql -c 'select usename, passwd from pg_shadow'", "redis-cli config get requirepass"], not_match: ["psql -c 'select * from users'"] },
  { program: "*", when: readsMemory, rule: "credentials.dump", reason: MEMORY, match: ["dd if=/dev/mem bs=1k count=1"], not_match: ["cat /dev/null"] },
  { rule: "credentials.dump", reason: MEMORY, dry: "", tools: [
    { program: "py-spy", path: "dump", options: "l locals", match: ["py-spy dump --locals --pid 9"], not_match: ["py-spy dump --pid 9", "py-spy top --pid 9"] },
    { program: "jmap", word: /^-dump|^-histo:file/, match: ["jmap -dump:file=h.bin 9"], not_match: ["jmap -histo 9"] },
    { program: "jcmd", word: /^GC\.heap_dump|^VM\.system_properties|^JFR\.dump/, match: ["jcmd 9 GC.heap_dump h.bin"], not_match: ["jcmd -l"] },
    { program: "jinfo", word: /^(?:-sysprops|\d+|-flags?)$/, match: ["jinfo -sysprops 9"], not_match: ["jinfo -h"] },
    { program: "procdump|avml|lime|volatility|vol|vol.py|memdump|fmem|dumpit|winpmem|osxpmem|memfetch|readmem|minidump|createdump|dotnet-dump|dotnet-gcdump|heapdump|pmdump|crash|drgn|makedumpfile|mem_dump|scanmem|gameconqueror|pince|rdump|coredumpctl",
      unless: /^(?:--?help|-h|--version|list|info|ps|collect-help)$/, word: /./, match: ["procdump -p 9", "avml out.lime", "coredumpctl dump 9"], not_match: ["coredumpctl list"] },
    { program: "kubectl|oc", path: "create token", rule: "credentials.token", reason: "makes an access token for a cluster and prints it", match: ["kubectl create token admin"], not_match: ["kubectl create ns x"] },
    { program: "criu", path: "dump|pre-dump", match: ["criu dump -t 9 -D d"], not_match: ["criu check"] },
    { program: "docker|podman", path: "checkpoint create", match: ["docker checkpoint create web c1"], not_match: ["docker ps"] },
    { program: "docker|podman|nerdctl", path: "container? inspect", word: /Config\.Env|\.Env\b/, rule: ENVIRONMENT, reason: ELSEWHERE, match: ["docker inspect -f '{{.Config.Env}}' web"], not_match: ["docker inspect web"] },
    { program: "systemctl", taking: "p property", path: "show", word: /^(?:-p|--property=)?Environment$/, rule: ENVIRONMENT, reason: "shows the environment, keys as well, of a service", match: ["systemctl show -p Environment web"], not_match: ["systemctl show web"] },
  ] },
  { rule: "credentials.sniffed", reason: "listens to what others send over the network, passwords as well", dry: "", tools: [
    { program: "tcpdump|tshark|wireshark|dumpcap|ngrep|tcpflow|termshark", when: listens, match: ["tshark -i any -Y http.authorization -T fields -e http.authorization", "tcpdump -i any -A", "ngrep -q password", "tcpdump -A port 21"],
      not_match: ["tshark -r a.pcap -Y http", "tcpdump -i lo -A port 8080", "tcpdump -i eth0 port 443 -c 10", "tcpdump -r a.pcap -A", "tshark -D"] },
    { program: "dsniff|sslsplit|ssldump|urlsnarf|mailsnarf|msgsnarf|net-creds|responder|sslstrip|sslsniff|driftnet|airodump-ng|kismet|sslsniff-bpfcc|ecapture|ttysnoop|ttyrpld", unless: /^(?:--?help|-h|--version)$/, match: ["dsniff -i eth0"], not_match: ["ssldump -h"] },
  ] },
  { rule: "starter.escape", reason: INSIDE, dry: "", tools: [
    { program: "gdb|lldb", word: /^(?:-p|--pid|--attach|-ex|--eval-command|-o|--one-line)/, when: (call) => call.has("p", "pid", "attach", "attach-pid") || call.find(/^-p\d*$|^--pid|^--attach/) !== undefined ? call.find(/^\s*(?:call|expr(?:ession)?|e|set\s+var|jump|return|kill|detach-kill|compile|inject|print|p)\s*(?:--\s*)?.*[(=]|^\s*(?:kill|return)\b/) : undefined,
      match: ["gdb -p 9 -batch -ex 'call (void)exit(0)'"], not_match: ["gdb -p 9 -batch -ex 'thread apply all bt'", "gdb -batch -ex run -ex bt --args ./a"] },
    { program: "frida|frida-trace|frida-inject|pyrasite|pyrasite-shell|hyperpyrasite|pyinjector|injector|linux-inject|reptyr|neercs|injcode|madbomber|dlinject.py|dlinject|process-hollow|ptrace-inject|xinject|jattach|byteman|bminstall.sh|arthas|arthas-boot|as.sh|objection|cycript",
      unless: /^(?:--?help|-h|--version)$/, word: /./, match: ["frida -p 9 -l x.js", "reptyr 9"], not_match: ["frida --version"] },
    { program: "dlv", path: "attach", match: ["dlv attach 9"], not_match: ["dlv debug ./cmd"] },
    { program: "node|nodejs", path: "inspect", options: "p", match: ["node inspect -p 9"], not_match: ["node inspect a.js"] },
    { program: "pdb|python|python3", word: /^(?:-p|--pid)$/, when: (call) => call.find(/^(?:pdb|debugpy)$/), match: ["python3 -m debugpy --pid 9 --listen 5678"], not_match: ["python3 -m pdb a.py"] },
  ] },
]);

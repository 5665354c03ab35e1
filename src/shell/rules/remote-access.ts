import { type Condition, subject } from "./row.js";

const SHARES = "gives a terminal or a screen of this machine to others";
const TUNNEL = "opens a way from outside into this machine";
const RUNNER = "lets whoever can push to a repository run code on this machine";
const DEBUG = "lets others on the network run code in a program";

/** An address that more than this machine can reach: every interface, or a name that is not its own. */
const OPEN_ADDRESS = /^(?:0\.0\.0\.0|\*|\[?::\]?)(?::\d+)?$|^:\d+$/;
const OWN = /^(?:(?:localhost|127\.[\d.]+|\[?::1\]?|unix)(?:[:/.]|$)|:\d|$)/;

/** The value of an option, as `--opt=VALUE` or in the next word. */
const givenAs =
  (option: RegExp, isOpen: (text: string) => boolean): Condition =>
  ({ args }) =>
    args.find(({ text }, index) => {
      const before = args[index - 1]?.text ?? "";
      if (option.exec(before)?.[0] === before && before !== "" && isOpen(text)) return true;
      const cut = option.exec(text)?.[0];
      return cut !== undefined && text[cut.length] === "=" && isOpen(text.slice(cut.length + 1));
    });
const opens = (option: RegExp): Condition => givenAs(option, (text) => OPEN_ADDRESS.test(text));

const NO_QUESTION =
  /^--?(?:no-?auth(?:entication)?|without-(?:connection-token|auth\w*)|disable-(?:auth\w*|token|password)|skip-auth\w*|allow-anonymous|anonymous|no-password|insecure-no-auth)$|^--?[\w.-]*(?:auth(?:entication)?|auth[-_]mode)=(?:none|off|disabled|false)$/i;
const EVERYWHERE = /(?:^|=)(?:0\.0\.0\.0|\*|\[?::\]?)(?::\d+)?$/;

/** `--auth none --bind-addr 0.0.0.0:8443`: open to all, whatever it is. */
const asksNobody: Condition = ({ args }) =>
  args.some(({ text }) => EVERYWHERE.test(text))
    ? args.find(
        ({ text }, index) =>
          NO_QUESTION.test(text) ||
          (/^(?:none|off|disabled)$/i.test(text) &&
            /^--?[\w.-]*auth(?:entication)?$/.test(args[index - 1]?.text ?? "")),
      )
    : undefined;

/** Ways into this machine that others can use. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("remote-access", [
  { program: "*", when: asksNobody, rule: "remote-access.shared", reason: "lets everybody in who can reach this machine",
    match: ["code-server --bind-addr 0.0.0.0:8443 --auth none ~", "openvscode-server --host 0.0.0.0 --without-connection-token", "x serve --host=0.0.0.0 --no-auth"],
    not_match: ["code-server --auth none", "vite --host 0.0.0.0"] },
  { program: "upnpc|natpmpc", dry: "", word: /^-[aAr]$/, rule: "remote-access.shared", reason: "opens a way into this machine from outside",
    match: ["upnpc -e dev -a 192.168.1.4 22 22022 TCP"], not_match: ["upnpc -l", "upnpc -s"] },
  { rule: "remote-access.shared", reason: SHARES, dry: "", unless: /^(?:--?help|-h|--?version|-v|-V)$/, tools: [
    { program: "tmate|upterm|teleconsole|tty-share|sshx|mosh-server|ttyd|gotty|wetty|shellinabox|shellinaboxd|butterfly.server.py|webssh|wssh|websocketd|gs-netcat|gsocket|sish",
      match: ["tmate -F", "ttyd bash", "upterm host"], not_match: ["tmate --version"] },
    { program: "x11vnc|x0vncserver|vncserver|wayvnc|xrdp|rustdesk|anydesk|teamviewer|krfb|vino-server|tigervncserver",
      match: ["x11vnc -display :0"], not_match: ["x11vnc --help"] },
    { program: "dropbear|telnetd|in.telnetd|rshd|rexecd", match: ["telnetd -l /bin/sh"], not_match: ["dropbear -V"] },
    { program: "xterm|urxvt|rxvt|konsole|gnome-terminal|xfce4-terminal|lxterminal|xeyes|x-terminal-emulator",
      when: givenAs(/^--?display/, (text) => !OWN.test(text)), match: ["xterm -display 203.0.113.5:0"],
      not_match: ["xterm -display :0"] },
  ] },
  // Its `-h` names a key and asks for no help.
  { program: "sshd", dry: "", unless: /^-[tTGV]$/, rule: "remote-access.shared", reason: SHARES,
    match: ["sshd -p 2222", "/usr/sbin/sshd -h ./key -p 2222"], not_match: ["sshd -t", "sshd -T"] },
  { rule: "remote-access.shared", reason: "offers files of this machine to others", dry: "", tools: [
    { program: "net", path: "usershare|share|rpc add", match: ["net usershare add all / x everyone:F guest_ok=y"], not_match: ["net usershare list"] },
    { program: "exportfs", word: /^-[a-z]*[oia]|:\//, unless: /^-[a-z]*[vsu]/, match: ["exportfs -o rw '*:/'"], not_match: ["exportfs -v", "exportfs"] },
    { program: "rsync", word: /^--daemon$/, match: ["rsync --daemon --config=./r.conf"], not_match: ["rsync -a src/ dst/"] },
    { program: "vsftpd|proftpd|pure-ftpd|in.ftpd|in.tftpd|smbd|uftpd|tinyftp|ftpserver", match: ["vsftpd ./v.conf"], not_match: ["vsftpd --help"] },
  ] },
  { rule: "remote-access.open", reason: "lets everybody on the network into a database without a password", dry: "", unless: /^(?:--?help|-h|--?version)$/, tools: [
    { program: "redis-server|valkey-server|keydb-server|dragonfly", when: ({ args }) => args.find(({ text }, index) => text === "no" && args[index - 1]?.text === "--protected-mode"), match: ["redis-server --bind 0.0.0.0 --protected-mode no"], not_match: ["redis-server --port 6380", "redis-server --bind 0.0.0.0"] },
    { program: "mongod|mongos", when: (call) => call.find(/^--noauth$/) !== undefined ? call.find(/^--bind_ip(?:_all|=(?:0\.0\.0\.0|\*))?$/) : undefined, match: ["mongod --bind_ip_all --noauth"], not_match: ["mongod --dbpath data --noauth", "mongod --bind_ip_all"] },
    { program: "mysqld|mariadbd|mysqld_safe|mariadbd-safe", word: /^--skip-grant-tables$/, match: ["mysqld --skip-grant-tables"], not_match: ["mysqld --datadir=data"] },
    { program: "postgres|pg_ctl|initdb|pg_ctlcluster", word: /\b(?:listen_addresses|-h)\s{0,5}=?\s{0,5}'?(?:\*|0\.0\.0\.0)/, when: (call) => call.find(/trust/), match: ["initdb -D d --auth=trust -c \"listen_addresses='*'\""], not_match: ["initdb -D d --auth=trust", "pg_ctl -D d start"] },
    { program: "memcached", word: /^-l(?:=?0\.0\.0\.0|$)/, when: ({ args }) => args.find(({ text }, index) => /^-l?0\.0\.0\.0$|^0\.0\.0\.0$/.test(text) && (text.startsWith("-l") || args[index - 1]?.text === "-l")), match: ["memcached -l 0.0.0.0"], not_match: ["memcached -l 127.0.0.1"] },
  ] },
  { rule: "remote-access.tunnel", reason: TUNNEL, dry: "", tools: [
    { program: "ssh|autossh|dbclient|plink", taking: "B b c D E e F I i J L l m O o p Q R S W w M",
      when: (call) => call.given("R")[0] ?? call.given("o").find(({ text }) => /^\s*remoteforward\b/i.test(text)),
      match: ["ssh -fNR 2222:localhost:22 me@x.example", "ssh -o RemoteForward='22 localhost:22' x"], not_match: ["ssh -L 5432:db:5432 host"] },
    { program: "cloudflared", path: "tunnel|access", unless: /^(?:list|info|login|--?help)$/, match: ["cloudflared tunnel --url http://localhost:80"],
      not_match: ["cloudflared tunnel list"] },
    { program: "ngrok|bore|zrok|loclx|localxpose|devtunnel|chisel|pagekite|inlets|inlets-pro|playit|telebit|expose",
      path: "http|https|tcp|tls|udp|start|start-all|local|share|host|tunnel|client|server|tcp-client|http-client|agent", match: ["ngrok tcp 22", "bore local 22", "chisel server"],
      not_match: ["ngrok version"] },
    { program: "frpc|frps|rathole|lt|localtunnel|ligolo-agent|nps|npc|gost|pwnat|iodine|iodined|dnscat|dnscat2|ptunnel|hans", unless: /^(?:--?help|--?version|-v|-h)$/,
      match: ["frpc -c f.ini", "lt --port 3000"], not_match: ["frpc --version"] },
    { program: "tailscale", path: "funnel|serve|ssh", unless: /^(?:status|--?help)$/, match: ["tailscale funnel 3000"], not_match: ["tailscale serve status"] },
    { program: "code|code-insiders|code-server|openvscode-server|cursor", path: "tunnel|serve-web", match: ["code tunnel"], not_match: ["code ."] },
    { program: "kubectl|oc|docker|minikube|kind|k3d|telepresence", when: opens(/^--(?:address|bind-address|listen-address|host)/), match: ["kubectl port-forward svc/db 5432 --address 0.0.0.0", "kubectl proxy --address=0.0.0.0"], not_match: ["kubectl port-forward svc/db 5432"] },
    { program: "config.sh|config.cmd", options: "url", when: (call) => call.has("token", "auth", "pat") ? { reason: RUNNER } : undefined, match: ["./config.sh --unattended --url https://github.com/a/b --token X"], not_match: ["./config.sh --url https://x.example", "./config.sh"] },
    { program: "gitlab-runner|act_runner|forgejo-runner|gitea-runner|actions-runner|circleci-runner|buildkite-agent|woodpecker-agent|drone-runner-exec|drone-runner-docker", path: "register|start|run|machine|install|daemon|create-runner-file", reason: RUNNER, match: ["gitlab-runner register --url https://x.example --token t", "act_runner daemon"], not_match: ["gitlab-runner list", "gitlab-runner verify"] },
    { program: "adb", path: "tcpip", match: ["adb tcpip 5555"], not_match: ["adb devices"] },
  ] },
  { rule: "remote-access.debugger", reason: DEBUG, dry: "", tools: [
    { program: "node|nodejs|tsx|ts-node|bun|electron|nodemon|deno", when: opens(/^--inspect(?:-brk|-wait|-port)?/),
      match: ["node --inspect=0.0.0.0:9229 a.js"], not_match: ["node --inspect a.js", "node --inspect=127.0.0.1:9229 a.js"] },
    { program: "python|python3|debugpy|debugpy-adapter", when: opens(/^--(?:listen|host)/), word: /debugpy|rpdb|web_pdb|pydevd/, match: ["python3 -m debugpy --listen 0.0.0.0:5678 a.py"],
      not_match: ["python3 -m debugpy --listen 127.0.0.1:5678 a.py"] },
    { program: "dlv|rdbg|rdebug-ide", when: opens(/^--?(?:listen|l|host)/), match: ["dlv debug --headless --listen=:2345"],
      not_match: ["dlv debug --headless --listen=127.0.0.1:2345"] },
    { program: "gdbserver|lldb-server", word: /^(?::\d+|0\.0\.0\.0:\d+|\*:\d+)$/, match: ["gdbserver :1234 ./a"], not_match: ["gdbserver localhost:1234 ./a"] },
    { program: "java|mvn|gradle|gradlew|sbt|kotlin|scala", word: /jdwp=\S*address=(?:\*|0\.0\.0\.0)[:,]|jmxremote\.authenticate=false/,
      match: ["java -agentlib:jdwp=transport=dt_socket,server=y,address=*:5005 A"], not_match: ["java -agentlib:jdwp=transport=dt_socket,server=y,address=5005 A"] },
    { program: "chromium|chromium-browser|google-chrome|chrome|google-chrome-stable|microsoft-edge|brave-browser|msedge", when: opens(/^--remote-debugging-address/),
      match: ["chromium --remote-debugging-port=9222 --remote-debugging-address=0.0.0.0"], not_match: ["chromium --headless --remote-debugging-port=9222"] },
    { program: "jupyter|jupyter-lab|jupyter-notebook|ipython", word: /\b(?:token|password)=(?:''|"")?$/, match: ["jupyter lab --ip=0.0.0.0 --NotebookApp.token=''"],
      not_match: ["jupyter lab --no-browser"] },
  ] },
]);

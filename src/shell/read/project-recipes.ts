/** Files of projects that hold command lines between other things, and the tools that run them. */
const ROWS: Readonly<Record<string, string>> = {
  cargo: "build.rs .cargo/config.toml .cargo/config Cargo.toml",
  "gradle gradlew":
    "build.gradle build.gradle.kts settings.gradle settings.gradle.kts init.gradle app/build.gradle",
  "mvn mvnw": "pom.xml .mvn/extensions.xml .mvn/jvm.config",
  sbt: "build.sbt project/plugins.sbt project/Build.scala",
  mill: "build.mill build.sc",
  lein: "project.clj",
  "clj clojure": "deps.edn build.clj",
  mix: "mix.exs config/config.exs config/runtime.exs",
  iex: ".iex.exs",
  rebar3: "rebar.config rebar.config.script",
  swift: "Package.swift",
  "cmake cmake3": "CMakeLists.txt CMakePresets.json CMakeUserPresets.json",
  ctest: "CTestTestfile.cmake CTestConfig.cmake CMakeLists.txt",
  meson: "meson.build",
  "autoreconf autoconf aclocal automake": "configure.ac configure.in aclocal.m4 Makefile.am",
  "ninja samu": "build.ninja build/build.ninja",
  tup: "Tupfile",
  just: "justfile Justfile .justfile",
  task: "Taskfile.yml Taskfile.yaml taskfile.yml Taskfile.dist.yml",
  tox: "tox.ini setup.cfg pyproject.toml",
  "pre-commit prek": ".pre-commit-config.yaml",
  lefthook: "lefthook.yml .lefthook.yml lefthook.yaml",
  "lint-staged": ".lintstagedrc .lintstagedrc.json",
  "gitlab-runner gitlab-ci-local": ".gitlab-ci.yml",
  act: ".github/workflows/* .github/workflows/ci.yml .github/workflows/main.yml .github/workflows/test.yml",
  "drone woodpecker-cli": ".drone.yml .woodpecker.yml .woodpecker.yaml",
  circleci: ".circleci/config.yml",
  "foreman honcho overmind goreman hivemind shoreman": "Procfile Procfile.dev",
  skaffold: "skaffold.yaml",
  tilt: "Tiltfile",
  earthly: "Earthfile",
  devcontainer: ".devcontainer/devcontainer.json .devcontainer.json",
  "terraform tofu": "*.tf main.tf providers.tf versions.tf",
  terragrunt: "terragrunt.hcl *.tf main.tf",
  packer: "*.pkr.hcl",
  "ansible-playbook ansible ansible-console": "ansible.cfg playbook.yml site.yml hosts inventory",
  "salt-call salt-ssh": "*.sls top.sls",
  puppet: "manifests/site.pp *.pp",
  pulumi: "Pulumi.yaml",
  cdk: "cdk.json",
  "serverless sls": "serverless.yml serverless.yaml",
  composer: "composer.json",
  deno: "deno.json deno.jsonc",
  nodemon: "nodemon.json",
  "turbo nx": "turbo.json nx.json project.json",
  ng: "angular.json",
  "bazel bazelisk": "BUILD BUILD.bazel WORKSPACE WORKSPACE.bazel MODULE.bazel .bazelrc",
  "buck buck2 pants please plz": "BUCK BUILD TARGETS .buckconfig pants.toml .plzconfig",
  nextflow: "main.nf nextflow.config",
  "dotnet msbuild xbuild":
    "Directory.Build.props Directory.Build.targets *.csproj *.fsproj *.vbproj *.proj *.targets",
  ant: "build.xml",
  mage: "magefile.go",
  go: "*.go",
  "nix-build nix-shell nix nixos-rebuild home-manager":
    "default.nix shell.nix flake.nix home.nix configuration.nix",
  guix: "guix.scm manifest.scm",
  "rpmbuild mock rpmspec": "*.spec",
  "dpkg-buildpackage debuild": "debian/rules debian/postinst debian/preinst",
  "makepkg yay paru": "PKGBUILD",
  abuild: "APKBUILD",
  snapcraft: "snapcraft.yaml snap/snapcraft.yaml",
  "flatpak-builder": "",
  "conda conda-build rattler-build": "meta.yaml build.sh recipe.yaml recipe/meta.yaml recipe/build.sh",
  dub: "dub.json dub.sdl",
  nimble: "*.nimble config.nims",
  nim: "config.nims",
  zig: "build.zig",
  shards: "shard.yml",
  "stack cabal": "Setup.hs package.yaml stack.yaml cabal.project *.cabal",
  dune: "dune dune-project src/dune bin/dune",
  opam: "opam *.opam",
  "poe poetry pdm hatch rye uv": "pyproject.toml",
  "pip pip3": "pyproject.toml",
  kustomize: "kustomization.yaml",
  helmfile: "helmfile.yaml helmfile.d/helmfile.yaml",
  mkdocs: "mkdocs.yml",
  air: ".air.toml",
  bacon: "bacon.toml",
  "mise rtx": "mise.toml .mise.toml",
  devbox: "devbox.json",
  "process-compose": "process-compose.yaml process-compose.yml",
  supervisord: "supervisord.conf",
  "tmuxinator tmuxp": ".tmuxinator.yml .tmuxp.yaml",
  rush: "rush.json common/config/rush/command-line.json",
  "gdb cgdb": ".gdbinit",
  lldb: ".lldbinit",
  "ghci runghc": ".ghci",
  psql: ".psqlrc",
  sqlite3: ".sqliterc",
  tmux: ".tmux.conf",
  screen: ".screenrc",
  "vim vi nvim": ".vimrc .exrc .nvimrc .lvimrc",
  "mutt neomutt": ".muttrc",
  direnv: ".envrc",
  dvc: "dvc.yaml",
  "kitchen test-kitchen": "kitchen.yml .kitchen.yml",
  molecule: "molecule/default/converge.yml molecule/default/molecule.yml",
  cog: "cog.toml",
  "cargo-make makers": "Makefile.toml",
  garden: "garden.yml",
  goreleaser: ".goreleaser.yml .goreleaser.yaml",
  "golangci-lint": ".golangci.yml",
  buf: "buf.gen.yaml",
  "swiftgen sourcery": "swiftgen.yml .sourcery.yml",
  "xcodebuild xcodegen tuist": "project.yml Project.swift",
  "jenkins-runner jenkinsfile-runner": "Jenkinsfile",
};

const BY_TOOL: ReadonlyMap<string, readonly string[]> = new Map(
  Object.entries(ROWS).flatMap(([tools, files]) =>
    tools.split(" ").map((tool): [string, readonly string[]] => [tool, files === "" ? [] : files.split(" ")]),
  ),
);

/** Names under which a tool looks for its recipes; undefined for programs that have none. */
export function recipeFiles(program: string): readonly string[] | undefined {
  return BY_TOOL.get(program);
}

const LONGEST = 40_000;
const MOST_LINES = 400;
const MOST = 96;
const LITERAL = /"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|`([^`\n]*)`/g;
const BETWEEN_TAGS = />([^<>\n]+)</g;
/** What a command line has and prose has not: an option, a path, a pipe. */
const LOOKS_RUN = /\s(?:-\w|--\w|[/~.*$|<>&"'])|\||\bsh\s+\S/;
/** Cleaning up inside the project is what recipes are for. */
const CLEANS =
  /^\s*@?-?(?:rm|rimraf|del-cli|shx rm)(?:\s+-[\w-]+)*(?:\s+["']?[A-Za-z_.][\w.*-]*(?:\/[\w.*-]+)*["']?)+\s*$/;

/** Every piece of a text that may be a command line: quoted, behind `key:` or `key =`, an item of a list, a line of its own. */
export function commandLinesIn(text: string): readonly string[] {
  const found = new Set<string>();
  const add = (piece: string): void => {
    const line = piece.trim();
    if (found.size < MOST && /\S\s+\S/.test(line) && LOOKS_RUN.test(line) && !CLEANS.test(line))
      found.add(line);
  };
  const blocks = text.slice(0, LONGEST).replaceAll("\\\n", " ").split("\n").slice(0, MOST_LINES);
  for (const line of blocks) {
    if (/^\s*(?:#(?!!)|\/\/(?!go:generate)|--\s|;)/.test(line)) continue;
    const literals = [...line.matchAll(LITERAL)].map((match) =>
      (match[1] ?? match[2] ?? match[3] ?? "")
        .replace(/\\(["'\\/])/g, "$1")
        .replace(/&(quot|amp|lt|gt|apos);/g, (_, name: string) => ENTITIES[name] ?? ""),
    );
    for (const literal of literals) add(literal);
    for (const [index, literal] of literals.entries())
      if (index < MOST_BEGINNINGS && /^[\w./-]+$/.test(literal))
        add(literals.slice(index).map(quoted).join(" "));
    const tagged = [...line.matchAll(BETWEEN_TAGS)].map((match) =>
      (match[1] ?? "").replace(/&(quot|amp|lt|gt|apos);/g, (_, name: string) => ENTITIES[name] ?? ""),
    );
    for (const each of tagged) add(each);
    if (tagged.length > 1) add(tagged.join(" "));
    add(line.replace(/^\s*(?:-\s+)?(?:["']?[\w.$ -]+["']?\s*(?:[:+?]?=|:)\s*)?(?:[@|>]-?\s*)?/, ""));
    add(line.replace(/^\s*-\s+/, ""));
    for (const [, item = ""] of line.matchAll(/[[|]>?\s*([^[\]|{}"',]+?)\s*(?=[\]|,])/g)) add(item);
    add(line.replace(/^\s*[\w-]+\s*\(\)\s*\{/, "").replace(/[;\s]*\}\s*$/, ""));
    const called =
      /(?:\bCOMMAND\s+|\/\/go:generate\s+|^\s*(?:run|RUN|exec|do|shell|local|sh|cmd|command)\s+)(.+?)\)?\s*$/.exec(
        line,
      )?.[1];
    if (called !== undefined) add(called);
  }
  return [...found];
}
/** Words of one line that may be the program in front of the words behind it. */
const MOST_BEGINNINGS = 6;
const quoted = (text: string): string => (/\s/.test(text) ? `'${text.replaceAll("'", "")}'` : text);
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: "&", lt: "<", gt: ">", apos: "'" };

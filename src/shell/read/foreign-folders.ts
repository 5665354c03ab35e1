import { isForeignRepository } from "../rules/addresses.js";
import { isDownload, producersOf } from "../rules/flows.js";
import { writesOf } from "../rules/writes.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { type Invocation, report } from "./context.js";
import { parseOptions } from "./options.js";
import type { ShellState } from "./state.js";
import { madeFile } from "./written-files.js";

const firstPart = (path: string): string => path.replace(/^(?:\.\/+)+/, "").split("/")[0] ?? "";

const folderOf = (path: string): string => (/^[/~]/.test(path) ? path.replace(/\/+$/, "") : firstPart(path));

function isFetched({ foreign: { names } }: ShellState, path: string): boolean {
  if (/^[/~]/.test(path))
    return [...names].some((name) => /^[/~]/.test(name) && `${path}/`.startsWith(`${name}/`));
  if (path.startsWith("-") || path === "" || path === ".") return false;
  return names.has(firstPart(path)) || (names.has("*") && path.includes("/"));
}

/** `git clone https://x.example/y.git`, `svn co …`, `tar xzf` of what was downloaded before. */
export function noteFetchedFolder(command: SimpleCommand, state: ShellState): void {
  const { program, args } = command;
  if (program === "git") noteRemote(args, state);
  if (/^(?:git|hg|svn|bzr|fossil|degit|gh|jj)$/.test(program)) {
    const { operands } = parseOptions(args, {
      taking: ["b", "branch", "depth", "o", "origin", "c", "config", "r", "u", "j"],
    });
    const at = operands.findIndex(({ text }) => /^(?:clone|co|checkout|export|branch)$/.test(text));
    const source = operands.slice(at + 1).find(({ text }) => isForeignRepository(text));
    if (at < 0 || source === undefined) return;
    const target = operands[operands.indexOf(source) + 1]?.text;
    const last =
      source.text
        .replace(/[/:]+$/, "")
        .split(/[/:]/)
        .at(-1) ?? "";
    state.foreign.names.add(target === undefined ? last.replace(/\.git$/, "") : folderOf(target));
    if (target === ".") state.foreign.entered = true;
    return;
  }
  if (!/^(?:tar|gtar|bsdtar|unzip|7z|7za|unrar|ar|cpio|dpkg-deb|unar|bsdcpio)$/.test(program)) return;
  const isFetchedArchive =
    args.some(({ text }) => madeFile(state, text)?.foreign === true) || producersOf(command).some(isDownload);
  if (!isFetchedArchive) return;
  const folders = writesOf(command).filter(({ how }) => how === "many");
  if (folders.length === 0) state.foreign.names.add("*");
  for (const { word } of folders) state.foreign.names.add(folderOf(word.text));
}

/** `git remote add x git@203.0.113.9:r.git`, `git remote set-url origin …`. */
function noteRemote(args: readonly ShellWord[], { foreign }: ShellState): void {
  const at = args.findIndex(({ text }) => text === "remote");
  const words = args.slice(at + 1).filter(({ text }) => !text.startsWith("-"));
  if (at < 0 || !/^(?:add|set-url)$/.test(words[0]?.text ?? "")) return;
  const name = words.find((_, index) => isForeignRepository(words[index + 1]?.text ?? ""));
  if (name !== undefined) foreign.remotes.add(name.text);
}

/** A push to one of them: by its name, or without a name to where everything goes. */
function pushesToNew(args: readonly ShellWord[], { foreign: { remotes } }: ShellState): boolean {
  const at = args.findIndex(({ text }) => text === "push");
  if (at < 0 || remotes.size === 0) return false;
  const rest = args.slice(at + 1).filter(({ text }) => !text.startsWith("-"));
  return rest.length === 0 ? remotes.has("origin") : rest.some(({ text }) => remotes.has(text));
}

/** `t` after `curl -o ~/bin/t …` or an archive that was unpacked there. */
function isFetchedProgram(program: string, { files, foreign: { names } }: ShellState): boolean {
  for (const [path, { foreign }] of files) if (foreign && path.endsWith(`bin/${program}`)) return true;
  return [...names].some((name) => /^[/~].*\/s?bin$/.test(name));
}

/** `cd` into what was fetched, and out of it again. */
export function enterFetched(target: ShellWord | undefined, state: ShellState): void {
  if (state.foreign.names.size === 0) return;
  const text = target?.text ?? "~";
  if (/^[/~]|^\.\.|^-$/.test(text)) state.foreign.entered = isFetched(state, text);
  else if (state.foreign.names.has("*") || state.foreign.names.has(firstPart(text)))
    state.foreign.entered = true;
}

/** Tools that do what the project in their folder says. */
const BUILDERS =
  /^(?:make|gmake|ninja|cmake|meson|autoreconf|npm|pnpm|yarn|bun|npx|pip3?|pipx|uv|poetry|pdm|hatch|tox|nox|pytest|cargo|go|bundle|gem|rake|composer|mvnw?|gradlew?|sbt|lein|mix|rebar3|just|task|dotnet|swift|stack|cabal|zig|nimble|dub|scons|waf|bazel|bazelisk|buck2?|vagrant|terraform|tofu|ansible-playbook|docker-compose|makepkg|nix-build|nix-shell|nix|rpmbuild|dpkg-buildpackage|debuild|snapcraft|flatpak-builder|direnv|act|pre-commit|tilt|skaffold|deno|xmake|premake5|luarocks|jekyll|hugo|rails|artisan|gulp|grunt|vite|webpack|jest|vitest|mocha|eslint)$/;
const RUNNERS =
  /^(?:sh|bash|zsh|dash|ksh|fish|source|\.|python[\d.]*|node|ruby|perl|php|lua|java|tclsh|rscript|osascript|wine|mono|bats)$/;
const LOOKS =
  /^(?:--?help|-h|--?version|-n|--dry-run|--just-print|log|show|ls|list|view|info|outdated|fmt|vet|lint)$/;
const INSTALLERS =
  /^(?:dpkg|rpm|apt|apt-get|aptitude|gdebi|dnf|yum|zypper|pacman|apk|snap|flatpak|installer|hdiutil|msiexec|pip3?|pipx|uv|npm|pnpm|yarn|gem|cargo|java|javaws|wine|mono|dotnet|code|vagrant|kubectl|helm|psql|mysql|sqlite3|mongosh|ansible-playbook|docker|podman|adb|fastboot|xattr|spctl|insmod|gnome-extensions)$/;

/** Editors that run the tasks and extensions of a folder they are opened in. */
const OPENS_PROJECT = /^(?:code|cursor|codium|windsurf|idea|pycharm)$/;
const FOLDER_OPTION = /^(?:-[CSpd]|--(?:prefix|directory|dir|cwd|project-dir|manifest-path|work-tree))$/;

/** What such a tool reads by itself, in the folder it is run in. */
const RECIPE =
  /^(?:(?:GNU)?[Mm]akefile|package\.json|setup\.(?:py|cfg)|pyproject\.toml|conftest\.py|tox\.ini|noxfile\.py|Cargo\.toml|build\.rs|CMakeLists\.txt|[Jj]ustfile|Taskfile\.ya?ml|Rakefile|Gemfile|pom\.xml|build\.gradle(?:\.kts)?|Vagrantfile|(?:docker-)?compose\.ya?ml|build\.zig|mix\.exs|\.pre-commit-config\.yaml|\.envrc|[\w.-]+\.config\.[cm]?[jt]s|[\w-]+\.tf)$/;

/** Running what was fetched from somebody in the same line. */
export function judgeFetchedRun(command: SimpleCommand, { context, span }: Invocation): void {
  const { state, run } = context;
  const { program, args, name } = command;
  if (run.isTrial) return;
  const place = { span: name.span ?? span, command };
  if (
    state.files.size > 0 &&
    INSTALLERS.test(program) &&
    args.some(({ text }) => text.length < 200 && madeFile(state, text.replace(/^@/, ""))?.foreign === true)
  ) {
    report(context, "opaque.downloaded-script", place);
    return;
  }
  if (program === "git" && pushesToNew(args, state)) report(context, "git.push-address", place);
  if (state.files.size > 0 && BUILDERS.test(program) && !args.some(({ text }) => LOOKS.test(text))) {
    for (const [path, { foreign }] of state.files)
      if (foreign && RECIPE.test(path)) report(context, "opaque.downloaded-script", place);
  }
  const { names, entered } = state.foreign;
  const isNamed = program !== "" && !name.text.includes("/") && !run.notablePrograms.has(program);
  if (isNamed && names.size + state.files.size > 0 && isFetchedProgram(program, state))
    report(context, "opaque.downloaded-script", place);
  if (names.size === 0) return;
  const runsFile =
    name.text.includes("/") &&
    (isFetched(state, name.text) || (entered && /^\.{1,2}\/|^[\w-]+\//.test(name.text)));
  const given = args.some(
    ({ text }, index) =>
      isFetched(state, text.replace(/^--?[\w-]+=/, "")) ||
      // What an archive brought has a name that only the archive knows.
      (names.has("*") && FOLDER_OPTION.test(args[index - 1]?.text ?? "")),
  );
  const isImage = /^(?:docker|podman|buildah|nerdctl)$/.test(program);
  const builds =
    (isImage
      ? args.some(({ text }) => /^(?:build|bud|compose)$/.test(text))
      : BUILDERS.test(program) || OPENS_PROJECT.test(program)) &&
    !args.some(({ text }) => LOOKS.test(text)) &&
    (entered || given);
  const interprets =
    RUNNERS.test(program) && (given || (entered && /^(?!-)[\w./-]+$/.test(args[0]?.text ?? "")));
  if (runsFile || builds || interprets) report(context, "opaque.downloaded-script", place);
}

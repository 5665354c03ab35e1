import { isForeignRepository } from "../rules/addresses.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { type Invocation, report } from "./context.js";
import { parseOptions } from "./options.js";
import type { ShellState } from "./state.js";
import { madeFile } from "./written-files.js";

const firstPart = (path: string): string => path.replace(/^(?:\.\/+)+/, "").split("/")[0] ?? "";

function isFetched({ foreign: { names } }: ShellState, path: string): boolean {
  if (/^[/~-]/.test(path) || path === "" || path === ".") return false;
  return names.has(firstPart(path)) || (names.has("*") && path.includes("/"));
}

/** `git clone https://x.example/y.git`, `svn co …`, `tar xzf` of what was downloaded before. */
export function noteFetchedFolder({ program, args }: SimpleCommand, state: ShellState): void {
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
    state.foreign.names.add(target === undefined ? last.replace(/\.git$/, "") : firstPart(target));
    if (target === ".") state.foreign.entered = true;
    return;
  }
  if (!/^(?:tar|gtar|bsdtar|unzip|7z|7za|unrar|ar|cpio|dpkg-deb|unar|bsdcpio)$/.test(program)) return;
  const archive = args.find(({ text }) => madeFile(state, text)?.foreign === true);
  if (archive !== undefined) state.foreign.names.add("*");
}

/** `cd` into what was fetched, and out of it again. */
export function enterFetched(target: ShellWord | undefined, state: ShellState): void {
  if (state.foreign.names.size === 0) return;
  const text = target?.text ?? "~";
  if (/^[/~]|^\.\.|^-$/.test(text)) state.foreign.entered = false;
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
  const { names, entered } = state.foreign;
  if (names.size === 0) return;
  const runsFile =
    name.text.includes("/") &&
    (isFetched(state, name.text) || (entered && /^\.{1,2}\/|^[\w-]+\//.test(name.text)));
  const given = args.some(({ text }) => isFetched(state, text.replace(/^--?[\w-]+=/, "")));
  const builds = BUILDERS.test(program) && !args.some(({ text }) => LOOKS.test(text)) && (entered || given);
  const interprets =
    RUNNERS.test(program) && (given || (entered && args.some(({ text }) => /^[\w./-]+\.\w+$/.test(text))));
  if (runsFile || builds || interprets) report(context, "opaque.downloaded-script", place);
}

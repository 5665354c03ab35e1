import type { Rule, RuleSet, ShellWord } from "../types.js";
import { isDownloadPlace } from "./places.js";
import { danger, forPrograms } from "./verb-table.js";

/** Where tools that fetch and build software get it from, and which program they start on the way. */

const PLAIN = "fetches software over an unprotected connection";
const CODE = "runs code from an address";
const HIDDEN = "runs a program named in an option";

/** An address without protection that is not this machine or a neighbour with a one-word name. */
function isPlainAddress(text: string): boolean {
  return /^(?:git\+|hg\+|svn\+|bzr\+)?http:\/\/(?!localhost|127\.|\[::1\]|0\.0\.0\.0|[\w-]+(?:[:/]|$))/i.test(
    text,
  );
}

const givenIn = (word: ShellWord): string =>
  word.text.slice(word.text.startsWith("-") ? word.text.indexOf("=") + 1 : 0);

/** Programs that install from an address given on the line. */
const installs =
  (verbs: RegExp): Rule =>
  ({ args }) => {
    if (!args.slice(0, 4).some(({ text }) => verbs.test(text))) return undefined;
    const address = args.find((word) => isPlainAddress(givenIn(word)));
    return address === undefined ? undefined : danger("package.source", PLAIN, address);
  };

/** `npx https://…/a.tgz`: the package is whatever lies there. */
const runsAddress =
  (verbs?: RegExp): Rule =>
  ({ args }) => {
    if (verbs !== undefined && !args.slice(0, 2).some(({ text }) => verbs.test(text))) return undefined;
    const address = args
      .slice(0, 6)
      .find(({ text }) => /^(?:--package=)?(?:https?|git\+\w+|git):\/\//i.test(text));
    return address === undefined ? undefined : danger("remote-code.package", CODE, address);
  };

/** Packages whose signature nobody checks. */
const unchecked: Rule = ({ args }) => {
  const word = args.find(({ text }) =>
    /^--(?:allow-unauthenticated|force-yes|allow-insecure-repositories|nogpgcheck|no-gpg-checks?|allow-unsigned-rpm|allow-untrusted|no-verify-signatures)$/.test(
      text,
    ),
  );
  if (word !== undefined)
    return danger("package.unchecked", "installs software that nobody has signed", word);
  const hook = args.find(
    ({ text }) =>
      /(?:pre|post)-(?:invoke|install-pkgs)/i.test(text) ||
      /^(?:-o)?(?:dir::bin|apt::.*::proxy-auto-detect)/i.test(text),
  );
  return hook === undefined ? undefined : danger("run.hidden", HIDDEN, hook);
};

const go: Rule = ({ args }) => {
  const [verb] = args;
  const tool = args.find(
    (word, index) =>
      /^--?toolexec(?:=|$)/.test(word.text) ||
      (/^--?exec$/.test(args[index - 1]?.text ?? "") && isDownloadPlace(word)),
  );
  if (tool !== undefined) return danger("run.hidden", HIDDEN, tool);
  if (verb?.text !== "env" || !args.some(({ text }) => text === "-w")) return undefined;
  const setting = args.find(
    ({ text }) =>
      /^(?:GOFLAGS=.*(?:toolexec|-exec)|(?:CC|CXX|GOAUTH|GOTOOLCHAIN)=[./])/.test(text) ||
      /^(?:GONOSUMDB|GONOSUMCHECK|GOINSECURE)=(?:\*|.+)/.test(text) ||
      /^GOSUMDB=off/.test(text) ||
      (text.startsWith("GOPROXY=") && isPlainAddress(text.slice(8))),
  );
  return setting === undefined
    ? undefined
    : danger("package.source", "changes where software comes from", setting);
};

export const RULES: RuleSet = {
  family: "toolchain",
  programs: {
    ...forPrograms(["npx", "bunx", "pnpx", "uvx", "pipx"], runsAddress()),
    ...forPrograms(["npm", "pnpm", "yarn", "bun"], runsAddress(/^(?:exec|x|dlx)$/)),
    ...forPrograms(
      [
        "pip",
        "pip3",
        "uv",
        "pipenv",
        "poetry",
        "gem",
        "cargo",
        "helm",
        "composer",
        "conda",
        "mamba",
        "bundle",
      ],
      installs(/^(?:install|add|source|sources|repo|config|download|wheel|i|pip|pull|upgrade|require)$/),
    ),
    ...forPrograms(["python", "python3"], (command) =>
      command.args[0]?.text === "-m" && command.args[1]?.text === "pip"
        ? installs(/^(?:install|download)$/)(command)
        : undefined,
    ),
    ...forPrograms(
      ["apt", "apt-get", "aptitude", "dnf", "yum", "zypper", "apk", "rpm", "microdnf"],
      unchecked,
    ),
    go,
  },
};

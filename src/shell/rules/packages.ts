import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet, ShellWord } from "../types.js";
import { danger, forPrograms, has, type VerbRule, valuesOf, verbRule } from "./verb-table.js";

const REMOVES = "removes installed software";
const PUBLISHES = "publishes or withdraws a package for everybody";
const SOURCES = "changes where software comes from";

const tool = (
  verbs: readonly VerbRule[],
  more: { readonly taking?: readonly string[]; readonly dry?: readonly string[] } = {},
): Rule =>
  verbRule({ family: "package", taking: more.taking ?? [], dry: ["dry-run", ...(more.dry ?? [])], verbs });

const removal = (path: string, taking: readonly string[] = []): Rule =>
  tool([{ path, reason: REMOVES }], { taking });

const apt = tool(
  [
    { path: "remove|purge|autoremove|autopurge|dselect-upgrade", reason: REMOVES },
    { path: "full-upgrade|dist-upgrade", reason: "replaces the whole system's software" },
  ],
  {
    taking: ["o", "c", "t", "a", "target-release", "option"],
    dry: ["s", "simulate", "just-print", "recon", "no-act", "assume-no", "download-only", "d", "print-uris"],
  },
);

/** Programs steered by letters in front: `pacman -Rns`, `rpm -e`, `dpkg -P`. */
const byLetter =
  (spec: { readonly letters: RegExp; readonly long: RegExp; readonly unless?: RegExp }): Rule =>
  (command) => {
    const texts = command.args.map(({ text }) => text);
    if (spec.unless !== undefined && texts.some((text) => spec.unless?.test(text))) return undefined;
    const word = command.args.find(({ text }) => spec.letters.test(text) || spec.long.test(text));
    return word === undefined ? undefined : danger("package.remove", REMOVES, word);
  };

const pip: Rule = (command) => {
  const options = parseOptions(command.args, {
    taking:
      "i index-url extra-index-url trusted-host r requirement f find-links t target proxy cert python prefix root".split(
        " ",
      ),
  });
  const [verb] = options.operands;
  if (verb === undefined || has(options, "help", "h", "dry-run")) return undefined;
  if (/^(?:uninstall|remove)$/.test(verb.text)) return danger("package.remove", REMOVES, verb);
  if (
    verb.text === "config" &&
    options.operands[1]?.text === "set" &&
    /index-url|trusted-host|find-links/.test(options.operands[2]?.text ?? "")
  )
    return danger("package.source", SOURCES, verb);
  if (verb.text === "cache") return undefined;
  const plain = [...valuesOf(options, "i", "index-url", "extra-index-url", "f", "find-links")].find(
    ({ text }) => /^http:\/\/(?!localhost|127\.)/i.test(text),
  );
  const source =
    plain ??
    valuesOf(options, "trusted-host").find(
      ({ text }) => !/^(?:localhost|127\.|pypi\.org|files\.pythonhosted\.org)/.test(text),
    );
  return source === undefined
    ? undefined
    : danger("package.source", "installs software over an unprotected connection", source);
};

/** `python -m pip …` is pip. */
const pythonModule: Rule = (command) => {
  const at = command.args.findIndex(({ text }) => text === "-m");
  const module = at < 0 ? undefined : command.args[at + 1]?.text;
  const rest = command.args.slice(at + 2);
  if (module === "pip" || module === "uv")
    return pip({ ...command, args: module === "uv" ? rest.slice(1) : rest });
  if (module === "twine") return publish("upload")({ ...command, args: rest });
  return undefined;
};

const publish = (path: string): Rule =>
  tool([{ path, reason: PUBLISHES }], { taking: ["r", "repository", "u", "p", "token"] });

const NPM_TAKING =
  "prefix C dir w workspace F filter registry cache userconfig tag otp access loglevel cwd script-shell".split(
    " ",
  );
const isGlobal = (call: { readonly flags: ReadonlySet<string> }): boolean =>
  call.flags.has("g") || call.flags.has("global") || call.flags.has("location");

const npmVerbs = tool(
  [
    { path: "uninstall|remove|rm|un|r", reason: REMOVES, when: ({ rest }) => rest.length > 0 },
    { path: "unlink|prune", reason: REMOVES, when: isGlobal },
    { path: "global remove", reason: REMOVES },
    { path: "publish|unpublish|deprecate", reason: PUBLISHES },
    { path: "npm publish|tag", reason: PUBLISHES, when: ({ operands }) => operands[1]?.text === "publish" },
    { path: "dist-tag|tag add|rm|remove", reason: PUBLISHES },
    {
      path: "owner|author|team|access|org add|rm|remove|set|grant|revoke|create|destroy|public|restricted",
      reason: "changes who may publish a package",
    },
    { path: "token create|revoke|delete", reason: "changes who may publish a package" },
    { path: "config|c set", reason: SOURCES, when: ({ rest }) => setsSource(rest) },
    { path: "set", reason: SOURCES, when: ({ rest }) => setsSource(rest) },
  ],
  { taking: NPM_TAKING },
);

/** The address software is fetched from, given for this one call. */
const npm: Rule = (command) => {
  const { values } = parseOptions(command.args, { taking: NPM_TAKING });
  const plain = [
    ...(values.get("registry") ?? []),
    ...(values.get("script-shell") ?? []),
    ...(values.get("node-options") ?? []),
  ].find(({ text }) =>
    /^http:\/\/(?!localhost|127\.|\[::1\]|0\.0\.0\.0|[\w-]+(?::\d+)?(?:\/|$))/i.test(text),
  );
  const program = (values.get("script-shell") ?? [])[0];
  if (
    program !== undefined &&
    !/^(?:\/(?:usr\/)?bin\/)?(?:ba|z|da)?sh$|^(?:pwsh|powershell|cmd)(?:\.exe)?$/.test(program.text)
  )
    return danger("run.hidden", "runs a program named in an option", program);
  return plain === undefined
    ? npmVerbs(command)
    : danger("package.source", "installs software over an unprotected connection", plain);
};

const SOURCE_SETTING =
  /^(?:@[\w-]+:)?(?:registry|script-shell|ignore-scripts|strict-ssl|proxy|https-proxy|node-options|git|npmRegistryServer|enableStrictSsl|yarnPath)$/i;

/** `set registry URL` or `set registry=URL`; going back to the usual address is no change. */
function setsSource(rest: readonly ShellWord[]): boolean {
  const [first = "", second = ""] = rest.map(({ text }) => text);
  const [name = "", value = second] = first.includes("=") ? first.split(/=(.*)/s) : [first];
  return SOURCE_SETTING.test(name) && !/^https:\/\/registry\.(?:npmjs\.org|yarnpkg\.com)\/?$/.test(value);
}

const conda = tool(
  [
    { path: "remove|uninstall", reason: REMOVES },
    { path: "env remove", reason: REMOVES },
  ],
  { taking: ["n", "name", "p", "prefix", "c"], dry: ["d"] },
);

const sourceTool: Rule = ({ args }) => {
  const [first] = args;
  const onlyLooks = args.some(({ text }) => /^(?:--help|-h|list|finger|export|--list|-L)$/.test(text));
  return first === undefined || onlyLooks ? undefined : danger("package.source", SOURCES, first);
};

const nixEnv: Rule = ({ args }) => {
  const word = args.find(({ text }) => /^(?:-e|--uninstall|--delete-generations|--rollback)$/.test(text));
  return word === undefined ? undefined : danger("package.remove", REMOVES, word);
};

const nixGarbage: Rule = ({ args }) => {
  const word = args.find(({ text }) => /^(?:-d|--delete-old|--delete-older-than)$/.test(text));
  return word === undefined ? undefined : danger("package.remove", REMOVES, word);
};

export const RULES: RuleSet = {
  family: "package",
  programs: {
    ...forPrograms(["apt", "apt-get", "aptitude", "nala", "apt-fast"], apt),
    dpkg: byLetter({
      letters: /^-[rP]$/,
      long: /^--(?:remove|purge|force-.*)$/,
      unless: /^--(?:no-act|dry-run|simulate)$/,
    }),
    ...forPrograms(
      ["dnf", "yum", "microdnf", "tdnf", "dnf5"],
      tool(
        [
          { path: "remove|erase|autoremove|swap|downgrade|rm", reason: REMOVES },
          { path: "group|module remove|reset", reason: REMOVES },
          { path: "history undo|rollback", reason: REMOVES },
          { path: "config-manager|copr *", reason: SOURCES },
        ],
        {
          taking: ["c", "x", "exclude", "enablerepo", "disablerepo", "setopt"],
          dry: ["assumeno", "downloadonly"],
        },
      ),
    ),
    rpm: byLetter({
      letters: /^-[a-z]*e[a-z]*$/,
      long: /^--erase$/,
      unless: /^(?:--test|-q.*|--query|-E|--eval)$/,
    }),
    ...forPrograms(
      ["pacman", "yay", "paru", "pamac", "pikaur"],
      byLetter({
        letters: /^-R[a-z]*$/,
        long: /^--remove$/,
        unless: /^(?:-p|--print|--help|-h)$/,
      }),
    ),
    apk: tool([{ path: "del|fix", reason: REMOVES, when: ({ operands }) => operands[0]?.text === "del" }], {
      taking: ["p", "root", "X", "repository"],
      dry: ["s", "simulate"],
    }),
    zypper: tool(
      [
        { path: "rm|remove|rr|removerepo|rl", reason: REMOVES },
        { path: "ar|addrepo|mr|modifyrepo", reason: SOURCES },
      ],
      { taking: ["R", "root"], dry: ["D"] },
    ),
    emerge: byLetter({
      letters: /^-[a-z]*[Cc][a-z]*$/,
      long: /^--(?:unmerge|depclean)$/,
      unless: /^(?:-p|--pretend|-[a-z]*p[a-z]*)$/,
    }),
    ...forPrograms(["xbps-remove", "pkg_delete", "swupd-remove"], (command) =>
      command.args.some(({ text }) => /^(?:-n|--dry-run|-V|--help)$/.test(text))
        ? undefined
        : danger("package.remove", REMOVES),
    ),
    ...forPrograms(
      ["pkg", "opkg", "eopkg", "tlmgr", "port", "fink", "guix", "slapt-get"],
      removal("delete|remove|rm|autoremove|uninstall"),
    ),
    brew: tool(
      [
        { path: "uninstall|remove|rm|autoremove|untap", reason: REMOVES },
        { path: "services stop|restart|kill", reason: "stops a service" },
      ],
      { dry: ["n"] },
    ),
    snap: removal("remove|disable|revert"),
    flatpak: tool([
      { path: "uninstall|remove", reason: REMOVES },
      { path: "remote-add|remote-delete|remote-modify", reason: SOURCES },
    ]),
    "nix-env": nixEnv,
    "nix-collect-garbage": nixGarbage,
    ...forPrograms(
      ["choco", "winget", "scoop", "chocolatey"],
      tool([
        { path: "uninstall|remove|rm", reason: REMOVES },
        { path: "source|bucket|sources add|remove|rm", reason: SOURCES },
      ]),
    ),
    ...forPrograms(["pip", "pip3", "pip2", "uv-pip"], pip),
    ...forPrograms(["python", "python3", "python2", "py"], pythonModule),
    uv: (command) =>
      command.args[0]?.text === "pip"
        ? pip({ ...command, args: command.args.slice(1) })
        : tool([
            { path: "tool|python uninstall", reason: REMOVES },
            { path: "remove", reason: REMOVES, when: ({ rest }) => rest.length > 0 },
            { path: "publish", reason: PUBLISHES },
          ])(command),
    pipx: removal("uninstall|uninstall-all"),
    ...forPrograms(
      ["poetry", "hatch", "flit", "pdm", "maturin", "rye", "pipenv"],
      tool(
        [
          { path: "publish", reason: PUBLISHES },
          {
            path: "remove|uninstall",
            reason: REMOVES,
            when: ({ rest, flags }) => rest.length > 0 || flags.has("all"),
          },
          { path: "env remove", reason: REMOVES },
        ],
        { taking: ["r", "repository", "u", "p", "token", "C", "G", "group"] },
      ),
    ),
    twine: publish("upload"),
    ...forPrograms(["npm", "pnpm", "yarn", "bun", "cnpm"], npm),
    lerna: publish("publish"),
    changeset: publish("publish"),
    ...forPrograms(["semantic-release", "np", "release-it"], (command) =>
      command.args.some(({ text }) => /^(?:--dry-run|-d|--help|--version)$/.test(text))
        ? undefined
        : danger("package.publish", PUBLISHES),
    ),
    gem: tool([
      { path: "uninstall|cleanup", reason: REMOVES },
      { path: "push|yank|owner", reason: PUBLISHES },
      { path: "sources", reason: SOURCES, when: (call) => has(call, "a", "add", "r", "remove") },
    ]),
    cargo: tool(
      [
        { path: "uninstall|remove|rm", reason: REMOVES },
        { path: "publish|yank|owner", reason: PUBLISHES },
      ],
      { dry: ["n"] },
    ),
    rustup: tool([
      { path: "self uninstall", reason: REMOVES },
      { path: "toolchain|target|component uninstall|remove", reason: REMOVES },
      { path: "uninstall", reason: REMOVES },
    ]),
    ...forPrograms(["conda", "mamba", "micromamba"], conda),
    ...forPrograms(
      ["composer"],
      tool(
        [
          { path: "global remove", reason: REMOVES },
          { path: "remove|rm|uninstall", reason: REMOVES, when: ({ rest }) => rest.length > 0 },
          {
            path: "config",
            reason: SOURCES,
            when: ({ rest }) =>
              rest.some(({ text }) => /^(?:repositories|secure-http|disable-tls)/.test(text)) &&
              rest.length > 1,
          },
        ],
        { taking: ["d", "working-dir"] },
      ),
    ),
    ...forPrograms(
      ["mvn", "gradle", "gradlew", "mvnw"],
      tool([{ path: "** deploy|publish|uploadArchives|publishToMavenCentral", reason: PUBLISHES }], {
        taking: ["f", "P", "p"],
        dry: ["m"],
      }),
    ),
    dotnet: tool([
      { path: "nuget push|delete", reason: PUBLISHES },
      {
        path: "tool|workload uninstall",
        reason: REMOVES,
        when: (call) => has(call, "g", "global") || call.operands[0]?.text === "workload",
      },
    ]),
    nuget: tool([{ path: "push|delete", reason: PUBLISHES }]),
    ...forPrograms(["vsce", "ovsx"], publish("publish|unpublish")),
    ...forPrograms(
      ["apt-key", "add-apt-repository", "apt-add-repository", "rpm-key", "yum-config-manager", "pacman-key"],
      sourceTool,
    ),
    ...forPrograms(["nvm", "pyenv", "rbenv", "asdf", "mise", "sdk", "volta", "fnm"], removal("uninstall")),
  },
};

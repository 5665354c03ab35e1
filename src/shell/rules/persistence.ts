import { parseOptions } from "../read/options.js";
import type { Rule, RuleSet, ShellWord } from "../types.js";
import {
  isAgentSettings,
  isBuildRecipe,
  isCredentialFile,
  isCredentialStore,
  isDownloadPlace,
  isGitHook,
  isHermesOwn,
  isKeyFile,
  isProjectSecret,
  isStartupFile,
} from "./places.js";
import { aliases, commonNames, poisons } from "./poison.js";
import { inHome, placeOf } from "./segments.js";
import { danger, explainsAnywhere, forPrograms, operandsOf } from "./words.js";
import { type Write, writesOf } from "./writes.js";

const SCHEDULES = "changes what the machine runs by itself later";

/** Writes to files that somebody trusted reads and runs later. */
const writesTrusted: Rule = (command) => {
  for (const write of writesOf(command)) {
    if (write.how === "touch") continue;
    const { word } = write;
    if (isStartupFile(word))
      return danger("persistence.startup", "changes a file that a shell or desktop starts with", word);
    if (isCredentialStore(word) || (isKeyFile(word) && !isCopyOfKey(write)))
      return danger("persistence.credentials", "writes among keys and tokens", word);
    if (isGitHook(word)) return danger("persistence.git-hook", "changes what git runs by itself", word);
    if (isHermesOwn(word))
      return danger("agent.own-files", "changes the settings or rules of this runtime", word);
    if (isAgentSettings(word))
      return danger("persistence.editor", "changes what an editor or agent runs by itself", word);
    if (isCommonProgram(word)) return danger("env.alias", "puts another command behind a common name", word);
    if (isBuildRecipe(word))
      return danger("persistence.build", "changes what a build server runs by itself", word);
    if (isProjectSettings({ ...write, word }))
      return danger("persistence.project-settings", "changes the settings or secrets of the project", word);
  }
  return undefined;
};

/** A second copy of a key changes who may enter nowhere. */
function isCopyOfKey({ from }: Write): boolean {
  return from !== undefined && isCredentialFile(from);
}

/** `~/.local/bin/ls`, `~/bin/git`: found before the real program. */
function isCommonProgram(word: ShellWord): boolean {
  const rest = inHome(word);
  if (rest === undefined || rest.length < 2 || rest.length > 3) return false;
  return (
    /^(?:\.local\/bin|bin|\.bin)$/.test(rest.slice(0, -1).join("/")) && commonNames.has(rest.at(-1) ?? "")
  );
}

/** A project's `.env` and `config.yaml`. Copies of them, and filling them from a template, are everyday. */
function isProjectSettings({ word, how, from }: Write): boolean {
  if (how === "inside") return false;
  const { anchor, segments } = placeOf(word);
  const name = segments.at(-1) ?? "";
  if (/[._-](?:bak|backup|old|orig|copy|save|test|ci|\d+|\uFFFC)$/.test(name)) return false;
  if (isProjectSecret(word))
    return !(from !== undefined && /\.(?:example|sample|template|dist|tmpl|defaults?)$/i.test(from.text));
  return anchor === "here" && segments.length === 1 && /^config\.ya?ml$/.test(name);
}

const crontab: Rule = ({ args }) => {
  const { flags, operands } = parseOptions(args, { taking: ["u", "x"] });
  if (explainsAnywhere(args) || flags.has("V")) return undefined;
  if (flags.has("l") && !flags.has("r")) return undefined;
  return danger("persistence.schedule", SCHEDULES, operands[0] ?? args[0]);
};

const at: Rule = ({ args }) => {
  const { flags } = parseOptions(args, { taking: ["f", "q", "t"] });
  const reads = ["l", "c", "V"].some((flag) => flags.has(flag)) && !flags.has("r") && !flags.has("d");
  return reads || explainsAnywhere(args) || args.length === 0
    ? undefined
    : danger("persistence.schedule", SCHEDULES, args[0]);
};

const systemdRun: Rule = ({ args }) => {
  const timer = args.find(({ text }) => /^--(?:on-|timer-property)/.test(text));
  return timer === undefined ? undefined : danger("persistence.schedule", SCHEDULES, timer);
};

/** Settings of `ssh` that start a program on this side. */
const SSH_PROGRAM =
  /^\s*(?:proxycommand|localcommand|knownhostscommand|permitlocalcommand|pkcs11provider|securitykeyprovider)\s*[= ]\s*(?!none\s*$|no\s*$)/i;
const ssh: Rule = ({ args }) => {
  for (const [index, word] of args.entries()) {
    const setting = word.text.startsWith("-o") && word.text.length > 2 ? word.text.slice(2) : word.text;
    const isSetting = word.text.startsWith("-o") || args[index - 1]?.text === "-o";
    const file =
      args[index - 1]?.text === "-F"
        ? word
        : word.text.startsWith("-F")
          ? { ...word, text: word.text.slice(2) }
          : undefined;
    if (file !== undefined && isDownloadPlace(file))
      return danger(
        "run.hidden",
        "takes settings, which can name programs, from a place anybody can write",
        word,
      );
    if (isSetting && SSH_PROGRAM.test(setting))
      return danger("run.hidden", "runs a program named in an option", word);
  }
  return undefined;
};

const gpg: Rule = ({ args }) => {
  const deletes = args.find(({ text }) =>
    /^--(?:delete-(?:secret-|secret-and-public-)?keys?|edit-key|clear-secret|quick-revoke)/.test(text),
  );
  return deletes === undefined ? undefined : danger("delete.credentials", "deletes or changes keys", deletes);
};

const securityTool: Rule = ({ args }) => {
  const verb = operandsOf(args)[0];
  return /^(?:delete-|remove-|add-trusted|set-key|authorizationdb)/.test(verb?.text ?? "")
    ? danger("delete.credentials", "deletes or changes keys", verb)
    : undefined;
};

/** Settings that name a program npm starts later. */
const npm: Rule = ({ args }) => {
  const operands = operandsOf(args);
  const at = operands[0]?.text === "config" || operands[0]?.text === "c" ? 1 : 0;
  if (operands[at]?.text !== "set") return undefined;
  const setting = operands
    .slice(at + 1)
    .find(({ text }) =>
      /^(?:script-shell|shell|node-options|onload-script|init-module|git|viewer|editor|browser)(?:=|$)/.test(
        text,
      ),
    );
  return setting === undefined
    ? undefined
    : danger("run.hidden", "runs a program named in a setting", setting);
};

/** Built-ins that put other code behind a name: `hash -p /tmp/x ls`, `enable -f /tmp/x.so x`. */
const rebinds =
  (option: RegExp): Rule =>
  ({ args }) => {
    const given = args.find(({ text }) => option.test(text));
    return given === undefined
      ? undefined
      : danger("env.alias", "puts another command behind a common name", given);
  };

export const RULES: RuleSet = {
  family: "persistence",
  programs: {
    ...forPrograms("crontab fcrontab", crontab),
    at,
    batch: ({ args }) => (explainsAnywhere(args) ? undefined : danger("persistence.schedule", SCHEDULES)),
    atrm: ({ args }) => danger("persistence.schedule", SCHEDULES, args[0]),
    "systemd-run": systemdRun,
    "ssh-copy-id": ({ args }) =>
      explainsAnywhere(args) || args.some(({ text }) => /^-(?:n|h|\?)$/.test(text))
        ? undefined
        : danger("persistence.access", "opens another machine to a key", args.at(-1)),
    ...forPrograms("ssh scp sftp autossh", ssh),
    ...forPrograms("gpg gpg2", gpg),
    ...forPrograms("security", securityTool),
    ...forPrograms("npm pnpm yarn", npm),
    hash: rebinds(/^-[a-z]*p/),
    enable: rebinds(/^-[a-z]*f/),
    alias: aliases,
  },
  any: [writesTrusted, poisons],
};

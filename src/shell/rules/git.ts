import { type ParsedOptions, parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord, SimpleCommand } from "../types.js";
import { FORGES } from "./forges.js";
import { isCommandAddress, isPlainProgram, riskOfSetting } from "./git-settings.js";
import { GIT_VERBS } from "./git-verbs.js";
import { danger, valuesOf } from "./verb-table.js";

const GLOBALS_TAKING = new Set([
  "-C",
  "-c",
  "--git-dir",
  "--work-tree",
  "--namespace",
  "--super-prefix",
  "--config-env",
  "--attr-source",
]);

interface GitCall {
  readonly settings: readonly ShellWord[];
  readonly verb: ShellWord | undefined;
  readonly rest: readonly ShellWord[];
}

const git: Rule = (command) => {
  const call = readCall(command.args);
  const early = judgeSettings(call.settings) ?? judgeEnvironment(command);
  if (early !== undefined) return early;
  const { verb } = call;
  if (verb === undefined || call.rest.some((word) => word.text === "--help")) return undefined;
  const address = call.rest.find((word) => isCommandAddress(word.text));
  if (address !== undefined)
    return danger("git.command-address", "uses a git address that runs a program", address);
  if (verb.text === "config") return judgeConfig(call.rest);
  const known = GIT_VERBS[verb.text];
  if (known === undefined) return undefined;
  const options = parseOptions(call.rest, { taking: known.taking ?? [], long: known.long ?? [] });
  const transport = judgeTransport(options, verb.text);
  if (transport !== undefined) return transport;
  const reason = known.judge?.({ options, args: call.rest });
  return reason === undefined ? undefined : danger(`git.${verb.text}`, reason, verb);
};

function readCall(args: readonly ShellWord[]): GitCall {
  const settings: ShellWord[] = [];
  let index = 0;
  for (; index < args.length; index++) {
    const word = args[index] as ShellWord;
    const { text } = word;
    if (!text.startsWith("-")) break;
    if (text.startsWith("--config-env=")) settings.push({ ...word, text: `${text.slice(13)}` });
    if (!GLOBALS_TAKING.has(text)) continue;
    const value = args[++index];
    if ((text === "-c" || text === "--config-env") && value !== undefined) settings.push(value);
  }
  return { settings, verb: args[index], rest: args.slice(index + 1) };
}

function judgeSettings(settings: readonly ShellWord[]): Finding | undefined {
  for (const setting of settings) {
    const cut = setting.text.indexOf("=");
    const name = cut < 0 ? setting.text : setting.text.slice(0, cut);
    const risk = riskOfSetting(name, cut < 0 ? "true" : setting.text.slice(cut + 1));
    if (risk !== undefined) return danger("git.setting", risk, setting);
  }
  return undefined;
}

const PROGRAM_VARIABLES = new Set(
  "GIT_SSH_COMMAND GIT_SSH GIT_EDITOR GIT_SEQUENCE_EDITOR GIT_PAGER GIT_EXTERNAL_DIFF GIT_ASKPASS SSH_ASKPASS GIT_PROXY_COMMAND".split(
    " ",
  ),
);

function judgeEnvironment(command: SimpleCommand): Finding | undefined {
  for (const { name, value } of command.assignments) {
    if (PROGRAM_VARIABLES.has(name) && !isPlainProgram(value.text))
      return danger("git.program-variable", `makes git run another program through ${name}`, value);
    if (/^GIT_CONFIG_(?:COUNT|KEY_\d+|PARAMETERS)$/.test(name))
      return danger("git.setting-variable", "changes git settings through the environment", value);
    if (name === "GIT_SSL_NO_VERIFY" && !/^(?:0|false|)$/i.test(value.text))
      return danger("git.setting-variable", "stops git checking certificates", value);
  }
  return undefined;
}

const READS_SETTING =
  "get get-all get-regexp get-urlmatch get-color get-colorbool list l unset unset-all e edit remove-section rename-section show-origin show-scope name-only help".split(
    " ",
  );

function judgeConfig(args: readonly ShellWord[]): Finding | undefined {
  const options = parseOptions(args, {
    taking: ["f", "file", "blob", "type", "default", "comment", "value", "url"],
  });
  const { operands } = options;
  if (READS_SETTING.some((name) => options.flags.has(name))) return undefined;
  const [first] = operands;
  if (
    operands.length > 0 &&
    /^(?:get|list|unset|edit|rename-section|remove-section)$/.test(first?.text ?? "")
  )
    return undefined;
  const [name, value] = first?.text === "set" ? operands.slice(1) : operands;
  if (name === undefined || value === undefined) return undefined;
  const risk = riskOfSetting(name.text, value.text);
  if (risk !== undefined) return danger("git.setting", risk, name);
  return options.flags.has("system")
    ? danger("git.system-setting", "changes git for every user of the machine", name)
    : undefined;
}

/** Options of clone, fetch and push that name a program, and settings given to `clone -c`. */
function judgeTransport(options: ParsedOptions, verb: string): Finding | undefined {
  const program = valuesOf(
    options,
    "upload-pack",
    "receive-pack",
    ...(verb === "push" || verb === "archive" ? ["exec"] : []),
  )[0];
  if (program !== undefined && !/^git[- ](?:upload|receive)-(?:pack|archive)$/.test(program.text))
    return danger("git.remote-program", "names a program that git starts", program);
  if (verb !== "clone") return undefined;
  const template = valuesOf(options, "template").find((word) => word.text !== "");
  if (template !== undefined)
    return danger("git.setting", "copies hooks from elsewhere into the clone", template);
  const short = valuesOf(options, "u")[0];
  if (short !== undefined) return danger("git.remote-program", "names a program that git starts", short);
  return judgeSettings(valuesOf(options, "c", "config"));
}

export const RULES: RuleSet = { family: "git", programs: { git, ...FORGES } };

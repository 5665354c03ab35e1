import { type ConfigNode, describeNode } from "../config/node.js";
import { namesSecret } from "../policy/secrets.js";
import { pathAt } from "./read-exchange.js";
import { Section } from "./section.js";
import { checkHoles, readText, type Template } from "./template.js";
import type { ArgumentGroup, CommandSpec, CommonSpec, PassedVariable } from "./tool-spec.js";
import { looksSecret, variableName } from "./written-secret.js";

const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,127}$/;
/** Programs that run a piece of text as code, with the option that hands it over. */
const RUNS_TEXT: readonly (readonly [program: RegExp, option: RegExp])[] = [
  [/^(?:ba|z|da|k|a|fi|c|tc)?sh$/, /^-[a-z]*c$/],
  [/^(?:python|pypy)[\d.]*$/, /^-[A-Za-z]*c$/],
  [/^(?:node|bun|deno|perl|ruby)$/, /^(?:-[a-z]*[eEp]|--(?:eval|print)=?|eval)$/],
  [/^php$/, /^-r$/],
  [/^(?:cmd(?:\.exe)?)$/i, /^\/[ck]$/i],
  [/^(?:powershell|pwsh)(?:\.exe)?$/i, /^-c(?:ommand)?$/i],
];

export function readCommand(tool: Section, common: CommonSpec): CommandSpec | undefined {
  const command = readArguments(tool);
  const env = readEnvironment(tool);
  const cwd = templateAt(tool, "cwd");
  const stdin = templateAt(tool, "stdin");
  const parse = tool.choice("parse", ["text", "json", "lines"]) ?? "text";
  const select = pathAt(tool, "select");
  const codes = tool.texts("success_exit_codes")?.map(Number) ?? [0];
  if (codes.some((code) => !Number.isInteger(code) || code < 0 || code > 255))
    tool.wrong(
      tool.get("success_exit_codes"),
      `"success_exit_codes" of ${tool.what} must be numbers from 0 to 255`,
    );
  tool.finish({ args: "the whole command line goes into command", argv: "it is called command here" });
  if (select !== undefined && parse !== "json")
    tool.wrong(tool.get("select"), `"select" of ${tool.what} needs parse: json`);
  if (command === undefined) return undefined;
  checkParameters(tool, common, [...command.flat(), ...(cwd ? [cwd] : []), ...(stdin ? [stdin] : [])]);
  checkCode(tool, command);
  return {
    ...common,
    type: "command",
    command,
    env,
    cwd,
    stdin,
    parse,
    select,
    successExitCodes: codes,
  };
}

function readArguments(tool: Section): readonly ArgumentGroup[] | undefined {
  const node = tool.get("command", { required: true });
  if (node === undefined) return undefined;
  if (node.kind !== "list") {
    tool.wrong(
      node,
      `"command" of ${tool.what} must be a list of arguments, not ${describeNode(node)}: a line of shell text would let a value become a command`,
      'for example: command: [git, log, "--max-count={{count}}", "--", "{{path}}"]',
    );
    return undefined;
  }
  const groups = node.items.map((item) =>
    item.kind === "list" ? item.items.map((inner) => argument(tool, inner)) : [argument(tool, item)],
  );
  const program = groups[0]?.[0];
  if (program?.kind === "literal" && String(program.value).trim() !== "" && groups[0]?.length === 1)
    return groups;
  tool.wrong(
    node.items[0] ?? node,
    `"command" of ${tool.what} must begin with the name of a program, which cannot be a template`,
  );
  return undefined;
}

function argument(tool: Section, node: ConfigNode): Template {
  if (node.kind === "scalar" && node.value !== null) {
    const text = String(node.value);
    if (looksSecret(text))
      tool.wrong(node, `an argument of ${tool.what} holds a credential`, "pass it with env");
    if (text.includes("\0")) tool.wrong(node, `an argument of ${tool.what} holds a NUL character`);
    return readText(text, node, tool.problems);
  }
  tool.wrong(node, `an argument of ${tool.what} must be text, not ${describeNode(node)}`);
  return { kind: "literal", value: "" };
}

function templateAt(tool: Section, name: string): Template | undefined {
  const text = tool.text(name);
  return text === undefined ? undefined : readText(text, tool.get(name) ?? {}, tool.problems);
}

/** A list of names that are passed on, or name → value, or name → { env: OTHER_NAME }. */
function readEnvironment(tool: Section): CommandSpec["env"] {
  const node = tool.get("env");
  if (node === undefined) return [];
  if (node.kind === "list")
    return (tool.texts("env") ?? []).flatMap((name) => {
      if (VARIABLE.test(name) && !looksSecret(name)) return [[name, { env: name }] as const];
      tool.wrong(node, `"env" of ${tool.what} must be a list of names of environment variables`);
      return [];
    });
  const section = tool.section("env", `env of ${tool.what}`);
  return (section?.node.entries ?? []).flatMap((entry): readonly PassedVariable[] => {
    const { name, node: value } = entry;
    if (!VARIABLE.test(name)) {
      tool.wrong(entry, `${JSON.stringify(name)} cannot be the name of an environment variable`);
      return [];
    }
    if (value.kind === "map") {
      const own = new Section({ node: value, what: `env ${name} of ${tool.what}`, problems: tool.problems });
      const env = variableName(own, "env");
      own.finish();
      return env === undefined ? [] : [[name, { env }] as const];
    }
    if (value.kind === "scalar" && value.value !== null) {
      const text = String(value.value);
      if (!namesSecret(name) && !looksSecret(text)) return [[name, { value: text }] as const];
      tool.wrong(
        value,
        `env ${name} of ${tool.what} holds a credential, which must not be in the file`,
        `write ${name}: { env: NAME_OF_A_VARIABLE }`,
      );
      return [];
    }
    tool.wrong(
      value,
      `env ${name} of ${tool.what} must be text or { env: NAME }, not ${describeNode(value)}`,
    );
    return [];
  });
}

function checkParameters(tool: Section, common: CommonSpec, templates: readonly Template[]): void {
  const known = common.parameters.map(({ name }) => name);
  const used = checkHoles(tool, { templates, known });
  for (const parameter of common.parameters)
    if (!used.has(parameter.name))
      tool.wrong(parameter, `parameter ${parameter.name} is not used by the command of ${tool.what}`);
}

/** Inside a piece of code a value could become more than a value, however it is quoted. */
function checkCode(tool: Section, command: readonly ArgumentGroup[]): void {
  const words = command.flat();
  const name = (words[0]?.kind === "literal" ? String(words[0].value) : "").replace(/^.*[/\\]/, "");
  const intoShell = name === "ssh" && words.some((word) => word.kind !== "literal");
  // The program may also stand behind another one: env, sudo, timeout 5, docker run image.
  const guilty = intoShell ? name : words.map((_, index) => programOf(words, index)).find(Boolean);
  if (guilty === undefined) return;
  tool.wrong(
    tool.get("command"),
    `${guilty} would run the text of a parameter of ${tool.what} as code`,
    intoShell
      ? "set the environment to ssh instead, and run the program itself"
      : 'pass the value beside the code: [bash, -c, \'echo "$1"\', bash, "{{name}}"]',
  );
}

/** The program at this place, if it would be given code with a hole in it. */
function programOf(words: readonly Template[], index: number): string | undefined {
  const name = beginningOf(words[index]).replace(/^.*[/\\]/, "");
  const option = RUNS_TEXT.find(([pattern]) => pattern.test(name))?.[1];
  if (option === undefined || words[index]?.kind !== "literal") return undefined;
  const at = words.findIndex((word, place) => place > index && option.test(beginningOf(word)));
  if (at === -1) return undefined;
  // Further options may stand between the option and the code.
  const code = words
    .slice(at + 1)
    .find((word) => !(word.kind === "literal" && /^-/.test(String(word.value))));
  return words[at]?.kind === "literal" && (code === undefined || code.kind === "literal") ? undefined : name;
}

/** What of a word stands in the file before anything else. */
function beginningOf(word: Template | undefined): string {
  if (word?.kind === "literal") return String(word.value);
  const first = word?.kind === "text" ? word.parts[0] : undefined;
  return typeof first === "string" ? first : "";
}

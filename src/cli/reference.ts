import type { CommandSpec } from "./command.js";
import { COMMANDS, GROUPS } from "./commands.js";
import { EXIT } from "./errors.js";
import { buildProgram } from "./program.js";

const EXIT_MEANINGS: Readonly<Record<keyof typeof EXIT, string>> = {
  ok: "it worked",
  unexpected: "something nobody expected; `doctor` and `config check`: a problem was found",
  usage: "the command, its words, a file or a name is wrong",
  toolError: "a tool failed, or the program it ran; a chat that met its limits; `replay`: something differs",
  unavailable: "not available here, or not set up",
  denied: "a rule or a person said no, or nobody was there to ask",
  authentication: "no key, or the key was refused",
  unreachable: "the server cannot be reached",
  timeout: "the time was over",
  interrupted: "Ctrl-C, or told to end",
};

/** docs/commands.md: every command with its words, options and exit codes, as the program itself declares them. */
export function commandReference(): string {
  const parts = [
    "# Commands",
    "",
    "Written from the declarations in `src/cli` by `test/cli/reference.test.ts`. `hermes COMMAND --help` says the same.",
    "",
    "## Options of every command",
    "",
    ...table(
      buildProgram({})
        .options.filter(({ hidden }) => !hidden)
        .map(({ flags, description }) => [code(flags), description]),
    ),
    "",
    "## Exit codes",
    "",
    ...table(
      Object.entries(EXIT).map(([name, number]) => [
        String(number),
        EXIT_MEANINGS[name as keyof typeof EXIT],
      ]),
    ),
  ];
  for (const [heading, { commands }] of Object.entries(GROUPS)) {
    parts.push("", `## ${heading.replace(/:$/, "")}`);
    for (const name of commands) {
      const spec = COMMANDS[name];
      if (spec !== undefined) parts.push(...commandText([name], spec));
    }
  }
  return `${parts.join("\n")}\n`;
}

function commandText(words: readonly string[], spec: CommandSpec): readonly string[] {
  const { args = {}, options = {}, commands = {}, otherwise, helpEnd } = spec;
  const usage = ["hermes", ...words, ...Object.keys(args)].join(" ");
  const alone = otherwise === undefined ? "" : ` Alone it means \`${otherwise}\`.`;
  const parts = ["", `${"#".repeat(words.length + 2)} \`${usage}\``, "", `${sentence(spec.about)}${alone}`];
  const rows = [
    ...Object.entries(args).map(([syntax, about]) => [code(syntax), about]),
    ...Object.entries(options).flatMap(([flags, given]) => {
      const option = typeof given === "string" ? { about: given } : given;
      return option.hidden === true ? [] : [[code(flags), optionText(option)]];
    }),
  ];
  if (rows.length > 0) parts.push("", ...table(rows));
  if (helpEnd !== undefined) parts.push("", "```text", helpEnd, "```");
  for (const [name, inner] of Object.entries(commands)) parts.push(...commandText([...words, name], inner));
  return parts;
}

function optionText(option: Exclude<NonNullable<CommandSpec["options"]>[string], string>): string {
  const remarks = [
    ...(option.choices === undefined ? [] : [`one of ${option.choices.map(code).join(", ")}`]),
    ...(option.default === undefined ? [] : [`${code(option.default)} unless said`]),
    ...(option.required === true ? ["required"] : []),
    ...(option.repeats === true ? ["may be repeated"] : []),
  ];
  return [option.about ?? "", ...(remarks.length === 0 ? [] : [`(${remarks.join("; ")})`])].join(" ").trim();
}

function sentence(text: string): string {
  return `${text.charAt(0).toUpperCase()}${text.slice(1)}.`;
}

function code(text: string): string {
  return `\`${text}\``;
}

function table(rows: readonly (readonly string[])[]): readonly string[] {
  return [
    "| | |",
    "|---|---|",
    ...rows.map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`),
  ];
}

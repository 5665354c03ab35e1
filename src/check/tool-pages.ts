import { quoteForShell } from "../base/quote.js";
import { isRecord } from "../base/record.js";
import { describeSignature } from "../tool/signature.js";
import type { AnyTool, Needs, ToolExample } from "../tool/tool.js";

const HEADER =
  "<!-- Written from the tools themselves: UPDATE_DOCS=1 npx vitest run test/tools/pages.test.ts -->";

/** docs/tools: one page per tool and a list of them, by file name. */
export function toolPages(tools: readonly AnyTool[]): ReadonlyMap<string, string> {
  const sorted = [...tools].sort((left, right) => (left.name < right.name ? -1 : 1));
  return new Map([
    ["README.md", listPage(sorted)],
    ...sorted.map((tool) => [`${tool.name}.md`, toolPage(tool)] as const),
  ]);
}

function listPage(tools: readonly AnyTool[]): string {
  const rows = tools.map(
    (tool) =>
      `| ${tool.emoji ?? ""} [${tool.name}](${tool.name}.md) | ${tool.toolset} | ${cell(firstSentence(tool.description))} |`,
  );
  return [
    HEADER,
    "# Built-in tools",
    "",
    "Every example on these pages is run by the tests. `hermes tools info NAME` shows them on a terminal.",
    "",
    "| tool | toolset | what it does |",
    "|---|---|---|",
    ...rows,
    "",
  ].join("\n");
}

function toolPage(tool: AnyTool): string {
  return [
    HEADER,
    `# ${tool.emoji === undefined ? "" : `${tool.emoji} `}${tool.name}`,
    "",
    tool.description,
    "",
    ...facts(tool),
    "",
    "## Parameters",
    "",
    ...parameterTable(tool.parameters),
    "",
    "```",
    describeSignature(tool.name, tool.parameters),
    "```",
    ...(tool.examples ?? []).flatMap((example) => exampleText(tool.name, example)),
    "",
  ].join("\n");
}

function facts(tool: AnyTool): readonly string[] {
  const facts = [
    ["toolset", `\`${tool.toolset}\``],
    ["other names", (tool.aliases ?? []).map((name) => `\`${name}\``).join(", ")],
    ["permissions", tool.permissions.map((name) => `\`${name}\``).join(", ")],
    ["needs", needsText(tool)],
  ];
  return facts.filter(([, value]) => value !== "").map(([name, value]) => `- ${name}: ${value}`);
}

function needsText({ needs, host }: AnyTool): string {
  const parts = [
    ...(needs === undefined ? [] : needsParts(needs)),
    ...(host === undefined ? [] : ["an agent loop"]),
  ];
  return parts.join(", ");
}

function needsParts(needs: Needs): readonly string[] {
  const oneOf = (names: readonly string[] = []) =>
    names.length === 0 ? [] : [names.map((name) => `\`${name}\``).join(" or ")];
  const ways = (needs.anyOf ?? []).map((way) => needsParts(way).join(" and "));
  return [
    ...(needs.programs ?? []).map((name) => `\`${name}\``),
    ...(needs.packages ?? []).map((name) => `the package \`${name}\``),
    ...(needs.browser === true ? ["Chromium, Chrome or Edge"] : []),
    ...(needs.models ?? []).map((name) => `the model ${name}`),
    ...oneOf(needs.anyEnv),
    ...oneOf(needs.anySetting),
    ...(ways.length === 0 ? [] : [`one of: ${ways.join("; ")}`]),
  ];
}

function parameterTable(parameters: unknown): readonly string[] {
  const properties = isRecord(parameters) && isRecord(parameters.properties) ? parameters.properties : {};
  const required: readonly unknown[] =
    isRecord(parameters) && Array.isArray(parameters.required) ? parameters.required : [];
  const rows = Object.entries(properties).map(([name, property]) => {
    const schema = isRecord(property) ? property : {};
    const fallback =
      schema.default === undefined
        ? required.includes(name)
          ? "required"
          : ""
        : `\`${JSON.stringify(schema.default)}\``;
    return `| \`${name}\` | ${cell(typeText(schema))} | ${cell(fallback)} | ${cell(String(schema.description ?? ""))} |`;
  });
  if (rows.length === 0) return ["None."];
  return ["| name | type | default | |", "|---|---|---|---|", ...rows];
}

function typeText(schema: Readonly<Record<string, unknown>>): string {
  if (Array.isArray(schema.enum)) return schema.enum.map((value) => `\`${String(value)}\``).join(", ");
  const type = Array.isArray(schema.type) ? schema.type.join(" or ") : String(schema.type ?? "any");
  if (type !== "array" || !isRecord(schema.items)) return type;
  return `list of ${typeText(schema.items)}`;
}

function exampleText(name: string, example: ToolExample): readonly string[] {
  const files = Object.entries(example.files ?? {}).flatMap(([path, text]) => [
    "",
    `\`${path}\`:`,
    "",
    ...fenced(text.replace(/\n$/, ""), ""),
  ]);
  const pages = Object.entries(example.pages ?? {}).map(
    ([path, body]) => `\n\`https://example.org${path}\` answers \`${body}\`.`,
  );
  const settings = Object.entries(example.settings ?? {}).map(
    ([key, value]) => `\n\`${key}\` is \`${shown(value)}\`.`,
  );
  const variables = Object.keys(example.env ?? {}).map((key) => `\n\`${key}\` is set.`);
  const calls = [...(example.before ?? []), { name, arguments: example.arguments }];
  return [
    "",
    `## Example: ${example.title}`,
    ...files,
    ...pages,
    ...settings,
    ...variables,
    "",
    ...fenced(calls.length === 1 ? oneCall(name, example.arguments) : oneSession(calls), "sh"),
    "",
    "The result holds",
    "",
    ...fenced(JSON.stringify(example.result, null, 2), "json"),
  ];
}

/** Longer than any fence inside. */
function fenced(text: string, language: string): readonly string[] {
  const longest = Math.max(2, ...[...text.matchAll(/`+/g)].map(([run]) => run.length));
  const fence = "`".repeat(longest + 1);
  return [`${fence}${language}`, text, fence];
}

function oneCall(name: string, given: Readonly<Record<string, unknown>>): string {
  return `hermes call ${name} ${shellWord(given)} --json`;
}

/** What one call leaves for the next lasts as long as the session, which is one message here. */
function oneSession(calls: NonNullable<ToolExample["before"]>): string {
  const tool_calls = calls.map((call, index) => ({ id: String(index + 1), ...call }));
  return `echo ${shellWord({ tool_calls })} | hermes run`;
}

function shellWord(value: unknown): string {
  return quoteForShell(shown(value));
}

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text
    .replaceAll("{server}", "https://example.org")
    .replaceAll("{folder}", "/home/ada")
    .replaceAll("{mail}", "smtp://mail.example.org:587");
}

function firstSentence(text: string): string {
  return /^.*?[.!?](?=\s|$)/s.exec(text)?.[0] ?? text;
}

function cell(text: string): string {
  return text.replaceAll("|", "\\|").replaceAll("\n", " ");
}

import type ts from "typescript6";
import { loadTypeScript } from "../../registry/user-module-typescript.js";

interface Place {
  /** The field that holds the servers. */
  readonly section: string;
  readonly name: string;
}

/** What the settings say of a server; undefined when they do not name it. */
export function entryIn(text: string, { section, name }: Place): unknown {
  const typescript = loadTypeScript();
  const { config } = typescript.parseConfigFileTextToJson("settings.json", text) as {
    readonly config?: Readonly<Record<string, Readonly<Record<string, unknown>> | undefined>>;
  };
  return config?.[section]?.[name];
}

/**
 * The settings with that server, everything else byte for byte as it was: people keep comments in these files.
 * Undefined when they are not JSON.
 */
export function withEntry(
  text: string,
  { section, name, entry }: Place & { readonly entry: unknown },
): string | undefined {
  if (text.trim() === "") return `${JSON.stringify({ [section]: { [name]: entry } }, null, 2)}\n`;
  const typescript = loadTypeScript();
  const source = typescript.parseJsonText("settings.json", text);
  const { parseDiagnostics = [] } = source as { readonly parseDiagnostics?: readonly unknown[] };
  const root = source.statements[0]?.expression;
  if (parseDiagnostics.length > 0 || root === undefined || !typescript.isObjectLiteralExpression(root))
    return undefined;
  const field = (object: ts.ObjectLiteralExpression, key: string) =>
    object.properties.find(
      (one): one is ts.PropertyAssignment =>
        typescript.isPropertyAssignment(one) && typescript.isStringLiteral(one.name) && one.name.text === key,
    );
  const servers = field(root, section);
  if (servers === undefined)
    return inserted(text, { object: root, key: section, value: { [name]: entry }, depth: 1 });
  if (!typescript.isObjectLiteralExpression(servers.initializer)) return undefined;
  const standing = field(servers.initializer, name);
  if (standing === undefined)
    return inserted(text, { object: servers.initializer, key: name, value: entry, depth: 2 });
  const { initializer } = standing;
  return text.slice(0, initializer.getStart(source)) + indented(entry, 2) + text.slice(initializer.getEnd());
}

/** A new field right behind the opening brace: no comma of what stands there needs to be touched. */
function inserted(
  text: string,
  at: {
    readonly object: ts.ObjectLiteralExpression;
    readonly key: string;
    readonly value: unknown;
    readonly depth: number;
  },
): string {
  const { object, key, value, depth } = at;
  const open = text.indexOf("{", object.pos) + 1;
  const line = `\n${"  ".repeat(depth)}${JSON.stringify(key)}: ${indented(value, depth)}`;
  const rest = text.slice(open);
  const end = object.properties.length > 0 ? "," : rest.startsWith("}") ? `\n${"  ".repeat(depth - 1)}` : "";
  return text.slice(0, open) + line + end + rest;
}

function indented(value: unknown, depth: number): string {
  return JSON.stringify(value, null, 2).replaceAll("\n", `\n${"  ".repeat(depth)}`);
}

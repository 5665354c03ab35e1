// Writes docs/api.md from the types that src/index.ts and src/testing/index.ts export.
//   node scripts/api-reference.mjs [--check]
import { readFile, writeFile } from "node:fs/promises";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript6";

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const target = join(root, "docs/api.md");
const ENTRIES = { "hermes-tools": "src/index.ts", "hermes-tools/testing": "src/testing/index.ts" };
const SECTIONS = { Functions: [], Classes: [], Values: [], Types: [] };

/** The whole page. */
export function apiReference() {
  const { config } = ts.readConfigFile(join(root, "tsconfig.json"), ts.sys.readFile);
  const { options } = ts.convertCompilerOptionsFromJson(config.compilerOptions, root);
  const program = ts.createProgram(
    Object.values(ENTRIES).map((file) => join(root, file)),
    { ...options, incremental: false, tsBuildInfoFile: undefined },
  );
  const checker = program.getTypeChecker();
  const parts = [
    "# API",
    "",
    "What the package exports, written from its types by `node scripts/api-reference.mjs`.",
    "",
  ];
  for (const [name, file] of Object.entries(ENTRIES)) {
    const source = program.getSourceFile(join(root, file));
    const module = source && checker.getSymbolAtLocation(source);
    if (module === undefined) continue;
    parts.push(`## \`${name}\``, "");
    const found = structuredClone(SECTIONS);
    for (const symbol of checker.getExportsOfModule(module)) {
      const entry = describe(symbol, checker);
      if (entry !== undefined) found[entry.section].push(entry);
    }
    for (const [section, entries] of Object.entries(found)) {
      if (entries.length === 0) continue;
      parts.push(`### ${section}`, "");
      entries.sort((a, b) => (a.name < b.name ? -1 : 1));
      for (const entry of entries) {
        parts.push(`#### \`${entry.name}\``, "");
        if (entry.about !== "") parts.push(entry.about, "");
        parts.push("```ts", entry.code, "```", "");
      }
    }
  }
  return `${parts.join("\n").trimEnd()}\n`;
}

function describe(exported, checker) {
  const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
  const [declaration] = symbol.declarations ?? [];
  if (declaration === undefined || declaration.getSourceFile().fileName.includes("node_modules"))
    return undefined;
  const name = exported.getName();
  const about = commentOf(declaration);
  if (ts.isClassDeclaration(declaration)) {
    return { section: "Classes", name, about, code: classText(declaration) };
  }
  if (ts.isFunctionDeclaration(declaration)) {
    const overloads = symbol.declarations.filter(
      (one) => symbol.declarations.length === 1 || one.body === undefined,
    );
    return { section: "Functions", name, about, code: overloads.map(headOf).join("\n") };
  }
  if (ts.isVariableDeclaration(declaration)) {
    const type = checker.typeToString(
      checker.getTypeOfSymbol(symbol),
      declaration,
      ts.TypeFormatFlags.NoTruncation,
    );
    return { section: "Values", name, about, code: `const ${name}: ${type}` };
  }
  return { section: "Types", name, about, code: undented(declaration.getText().replace(/^export /, "")) };
}

/** As it is written: TypeScript would end it at the first decorator in an example. */
function commentOf(declaration) {
  const of = ts.isVariableDeclaration(declaration) ? declaration.parent.parent : declaration;
  const comment = ts.getJSDocCommentsAndTags(of).find(ts.isJSDoc)?.getText() ?? "";
  return comment
    .replace(/^\/\*\*|\*\/$/g, "")
    .replace(/^[ \t]*\* ?/gm, "")
    .trim();
}

/** A function or method without its body. */
function headOf(node) {
  const source = node.getSourceFile();
  const end = node.body?.getStart(source) ?? node.getEnd();
  return undented(
    source.text
      .slice(node.getStart(source), end)
      .trim()
      .replace(/^export /, "")
      .replace(/;$/, ""),
  );
}

function classText(declaration) {
  const source = declaration.getSourceFile();
  const open = declaration.members.pos;
  const head = source.text
    .slice(declaration.getStart(source), open)
    .trim()
    .replace(/^export /, "");
  const members = declaration.members.filter(isPublic).map((member) => {
    const [doc] = ts.getJSDocCommentsAndTags(member);
    const text = ts.isPropertyDeclaration(member) ? propertyText(member) : headOf(member);
    return `${doc === undefined ? "" : `${undented(doc.getText())}\n`}${undented(text)};`;
  });
  const lines = members.flatMap((member) => member.split("\n").map((line) => `  ${line}`));
  return [head, ...lines, "}"].join("\n");
}

function propertyText(member) {
  const source = member.getSourceFile();
  const end = member.type?.getEnd() ?? member.name.getEnd();
  return source.text.slice(member.getStart(source), end);
}

function isPublic(member) {
  if (member.name !== undefined && ts.isPrivateIdentifier(member.name)) return false;
  const hidden = ts.SyntaxKind.PrivateKeyword;
  if (ts.canHaveModifiers(member) && ts.getModifiers(member)?.some(({ kind }) => kind === hidden))
    return false;
  return !ts.getJSDocTags(member).some(({ tagName }) => tagName.text === "internal");
}

/** Lines behind the first one as far left as they can go. */
function undented(text) {
  const [first = "", ...rest] = text.split("\n");
  const indents = rest.filter((line) => line.trim() !== "").map((line) => line.search(/\S/));
  const least = Math.min(...indents, Number.POSITIVE_INFINITY);
  return [
    first,
    ...rest.map((line) => line.slice(Number.isFinite(least) ? Math.max(0, least - shift(rest, least)) : 0)),
  ].join("\n");
}

/** A comment's stars stand one column further in than its beginning. */
function shift(rest, least) {
  return rest.some((line) => line.search(/\S/) === least && line.trimStart().startsWith("*")) ? 1 : 0;
}

if (process.argv[1] !== undefined && resolve(process.argv[1]) === fileURLToPath(import.meta.url)) {
  const text = apiReference();
  if (process.argv.includes("--check")) {
    if ((await readFile(target, "utf8").catch(() => "")) !== text) {
      console.error(`${relative(root, target)} is out of date: node scripts/api-reference.mjs`);
      process.exitCode = 1;
    }
  } else {
    await writeFile(target, text);
    console.log(`${relative(root, target)} written`);
  }
}

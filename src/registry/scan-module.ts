import { extname } from "node:path";
import type ts from "typescript6";
import { likelyMistake } from "./scan-mistakes.js";
import { loadTypeScript, type TypeScript } from "./user-module-typescript.js";

/** Grows when the rules below change, so that verdicts kept on disk are not trusted any more. */
export const SCAN_RULES_VERSION = 3;

/** `tool`: importing it registers something. `helper`: never imported by discovery. */
export type ModuleVerdict =
  | { readonly kind: "tool" }
  | { readonly kind: "helper" }
  | { readonly kind: "broken"; readonly message: string; readonly line: number };

/** Every rule below needs one of these words in the source, so a file without them needs no parser. */
const MENTIONS_REGISTRATION =
  /\bregistry\b|\bhermes-tools\b|\bdefineTools?\b|\bBaseTool\b|@tool\b|\bexport\s+default\s*\{/;

/** Decides on the syntax tree whether the top level of a module registers a tool. Nothing is executed. */
export function scanModule(module: {
  readonly file: string;
  readonly text: string;
  /** True looks for mistakes also where no word of the text speaks of tools. */
  readonly thoroughly?: boolean;
}): ModuleVerdict {
  if (module.thoroughly !== true && !MENTIONS_REGISTRATION.test(module.text)) return { kind: "helper" };
  const typescript = loadTypeScript();
  const isTypeScript = extname(module.file) === ".ts";
  const source = typescript.createSourceFile(
    module.file,
    module.text,
    typescript.ScriptTarget.Latest,
    true,
    isTypeScript ? typescript.ScriptKind.TS : typescript.ScriptKind.JS,
  );
  const broken = firstSyntaxError(source, typescript);
  if (broken !== undefined) return broken;
  if (new TopLevel(source, typescript).registersTool()) return { kind: "tool" };
  const mistake = likelyMistake(source, typescript);
  return mistake === undefined ? { kind: "helper" } : { kind: "broken", ...mistake };
}

function firstSyntaxError(source: ts.SourceFile, typescript: TypeScript): ModuleVerdict | undefined {
  // Not in the public typings; a program would give the same list but reads lib files from disk first.
  const { parseDiagnostics } = source as ts.SourceFile & {
    readonly parseDiagnostics?: readonly ts.DiagnosticWithLocation[];
  };
  const first = parseDiagnostics?.[0];
  if (first === undefined) return undefined;
  const message = typescript.flattenDiagnosticMessageText(first.messageText, " ");
  return {
    kind: "broken",
    message: `SyntaxError: ${message}`,
    line: source.getLineAndCharacterOfPosition(first.start).line + 1,
  };
}

/** The rules: what at the top level of a module counts as registering a tool. */
class TopLevel {
  readonly #ts: TypeScript;
  readonly #names: ModuleNames;
  readonly #statements: readonly ts.Statement[];

  constructor(source: ts.SourceFile, typescript: TypeScript) {
    this.#ts = typescript;
    this.#names = new ModuleNames(source, typescript);
    this.#statements = source.statements;
  }

  registersTool(): boolean {
    return this.#statements.some(
      (statement) =>
        this.#runsRegistration(statement) ||
        this.#exportsTool(statement) ||
        (this.#ts.isClassDeclaration(statement) && this.#hasToolMethod(statement)),
    );
  }

  /** Statements that run on import: blocks, branches and loops count, function bodies do not. */
  #runsRegistration(node: ts.Node): boolean {
    const ts = this.#ts;
    if (ts.isExpressionStatement(node)) return this.#isRegisterCall(node.expression);
    if (ts.isVariableStatement(node)) {
      return node.declarationList.declarations.some(
        ({ initializer }) => initializer !== undefined && this.#isRegisterCall(initializer),
      );
    }
    const runsItsParts =
      ts.isBlock(node) ||
      ts.isIfStatement(node) ||
      ts.isIterationStatement(node, false) ||
      ts.isTryStatement(node) ||
      ts.isCatchClause(node) ||
      ts.isSwitchStatement(node) ||
      ts.isCaseBlock(node) ||
      ts.isCaseOrDefaultClause(node) ||
      ts.isLabeledStatement(node);
    return (
      runsItsParts && (ts.forEachChild(node, (child) => this.#runsRegistration(child) || undefined) ?? false)
    );
  }

  #isRegisterCall(expression: ts.Expression): boolean {
    const ts = this.#ts;
    const call = this.#names.bare(expression);
    if (!ts.isCallExpression(call) || !ts.isPropertyAccessExpression(call.expression)) return false;
    const { name, expression: target } = call.expression;
    return (name.text === "register" || name.text === "add") && this.#names.means(target, "registry");
  }

  #exportsTool(statement: ts.Statement): boolean {
    const ts = this.#ts;
    if (ts.isExportAssignment(statement)) {
      return statement.isExportEquals !== true && this.#isTool(statement.expression);
    }
    if (ts.isExportDeclaration(statement)) return this.#listsTool(statement);
    if (!this.#hasModifier(statement, ts.SyntaxKind.ExportKeyword)) return false;
    if (ts.isClassDeclaration(statement)) return this.#isToolClass(statement);
    return (
      ts.isVariableStatement(statement) &&
      statement.declarationList.declarations.some(
        ({ initializer }) => initializer !== undefined && this.#isTool(initializer),
      )
    );
  }

  /** `export { a, b as c }` */
  #listsTool({ exportClause, moduleSpecifier, isTypeOnly }: ts.ExportDeclaration): boolean {
    const ts = this.#ts;
    if (isTypeOnly || moduleSpecifier !== undefined || exportClause === undefined) return false;
    return (
      ts.isNamedExports(exportClause) &&
      exportClause.elements.some((element) => {
        const local = element.propertyName ?? element.name;
        return !element.isTypeOnly && ts.isIdentifier(local) && this.#isTool(local);
      })
    );
  }

  #isTool(expression: ts.Expression, followed: ReadonlySet<string> = new Set()): boolean {
    const ts = this.#ts;
    const value = this.#names.bare(expression);
    if (ts.isCallExpression(value)) {
      const { expression: called } = value;
      return this.#names.means(called, "defineTool") || this.#names.means(called, "defineTools");
    }
    if (ts.isArrayLiteralExpression(value))
      return value.elements.some((item) => this.#isTool(item, followed));
    if (ts.isClassExpression(value)) return this.#isToolClass(value);
    if (ts.isNewExpression(value)) return this.#isTool(value.expression, followed);
    if (!ts.isIdentifier(value) || followed.has(value.text)) return false;
    const declared = this.#names.classNamed(value.text);
    if (declared !== undefined) return this.#isToolClass(declared);
    const initial = this.#names.valueNamed(value.text);
    return initial !== undefined && this.#isTool(initial, new Set([...followed, value.text]));
  }

  #isToolClass(declaration: ts.ClassLikeDeclaration): boolean {
    const abstract = this.#hasModifier(declaration, this.#ts.SyntaxKind.AbstractKeyword);
    return this.#hasToolMethod(declaration) || (!abstract && this.#descendsFromBaseTool(declaration));
  }

  #descendsFromBaseTool(declaration: ts.ClassLikeDeclaration): boolean {
    const ts = this.#ts;
    const followed = new Set<ts.ClassLikeDeclaration>();
    let current: ts.ClassLikeDeclaration | undefined = declaration;
    while (current !== undefined && !followed.has(current)) {
      followed.add(current);
      const clause: ts.HeritageClause | undefined = current.heritageClauses?.find(
        ({ token }) => token === ts.SyntaxKind.ExtendsKeyword,
      );
      const parent: ts.Expression | undefined = clause?.types[0]?.expression;
      if (parent === undefined) return false;
      if (this.#names.means(parent, "BaseTool")) return true;
      current = ts.isIdentifier(parent) ? this.#names.classNamed(parent.text) : undefined;
    }
    return false;
  }

  #hasToolMethod(declaration: ts.ClassLikeDeclaration): boolean {
    const ts = this.#ts;
    return declaration.members.some(
      (member) =>
        ts.canHaveDecorators(member) &&
        (ts.getDecorators(member) ?? []).some(
          ({ expression }) =>
            ts.isCallExpression(expression) && this.#names.means(expression.expression, "tool"),
        ),
    );
  }

  #hasModifier(node: ts.Node, kind: ts.SyntaxKind): boolean {
    const ts = this.#ts;
    return (
      ts.canHaveModifiers(node) && (ts.getModifiers(node) ?? []).some((modifier) => modifier.kind === kind)
    );
  }
}

const PACKAGE = "hermes-tools";

/** What the top-level names of one module stand for: exports of this package, classes, values. */
class ModuleNames {
  readonly #ts: TypeScript;
  readonly #classes = new Map<string, ts.ClassLikeDeclaration>();
  readonly #values = new Map<string, ts.Expression>();
  /** Local name → its name in the package; `*` for the whole namespace. */
  readonly #fromPackage = new Map<string, string>();
  readonly #fromOtherPackages = new Set<string>();

  constructor(source: ts.SourceFile, typescript: TypeScript) {
    this.#ts = typescript;
    for (const statement of source.statements) this.#collect(statement);
  }

  classNamed(name: string): ts.ClassLikeDeclaration | undefined {
    return this.#classes.get(name);
  }

  valueNamed(name: string): ts.Expression | undefined {
    return this.#values.get(name);
  }

  /** True when the expression is the export `exported` of this package, under whatever local name. */
  means(expression: ts.Expression, exported: string): boolean {
    const ts = this.#ts;
    if (ts.isPropertyAccessExpression(expression)) {
      const { expression: owner, name } = expression;
      return name.text === exported && ts.isIdentifier(owner) && this.#fromPackage.get(owner.text) === "*";
    }
    if (!ts.isIdentifier(expression)) return false;
    const imported = this.#fromPackage.get(expression.text);
    if (imported !== undefined) return imported === exported;
    // The name may have come through a helper or `await import(...)`, but not from another package.
    return expression.text === exported && !this.#fromOtherPackages.has(exported);
  }

  /** The expression without parentheses, casts, `await` and `void`. */
  bare(expression: ts.Expression): ts.Expression {
    const ts = this.#ts;
    let inner = expression;
    while (
      ts.isParenthesizedExpression(inner) ||
      ts.isAsExpression(inner) ||
      ts.isSatisfiesExpression(inner) ||
      ts.isNonNullExpression(inner) ||
      ts.isAwaitExpression(inner) ||
      ts.isVoidExpression(inner)
    ) {
      inner = inner.expression;
    }
    return inner;
  }

  #collect(statement: ts.Statement): void {
    const ts = this.#ts;
    if (ts.isImportDeclaration(statement)) {
      this.#collectImport(statement);
    } else if (ts.isClassDeclaration(statement) && statement.name !== undefined) {
      this.#classes.set(statement.name.text, statement);
    } else if (ts.isVariableStatement(statement)) {
      for (const { name, initializer } of statement.declarationList.declarations) {
        if (!ts.isIdentifier(name) || initializer === undefined) continue;
        const value = this.bare(initializer);
        if (ts.isClassExpression(value)) this.#classes.set(name.text, value);
        else this.#values.set(name.text, value);
      }
    }
  }

  #collectImport({ importClause, moduleSpecifier }: ts.ImportDeclaration): void {
    const ts = this.#ts;
    if (importClause === undefined || !ts.isStringLiteral(moduleSpecifier)) return;
    const specifier = moduleSpecifier.text;
    if (/^\.{0,2}\//.test(specifier)) return;
    const record = (local: string, imported: string): void => {
      if (specifier === PACKAGE) this.#fromPackage.set(local, imported);
      else this.#fromOtherPackages.add(local);
    };
    const { name, namedBindings } = importClause;
    if (name !== undefined) record(name.text, "default");
    if (namedBindings === undefined) return;
    if (ts.isNamespaceImport(namedBindings)) {
      record(namedBindings.name.text, "*");
      return;
    }
    for (const element of namedBindings.elements) {
      record(element.name.text, (element.propertyName ?? element.name).text);
    }
  }
}

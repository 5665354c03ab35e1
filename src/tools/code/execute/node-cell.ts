import type ts from "typescript6";
import { loadTypeScript, type TypeScript } from "../../../registry/user-module-typescript.js";
import type { KernelCell } from "./kernel.js";
import type { Language } from "./language.js";

type CellCode = Pick<KernelCell, "code" | "waits" | "shows">;

/** Types taken away, modules left as they are. */
export function withoutTypes(code: string): string {
  const typescript = loadTypeScript();
  return typescript.transpileModule(code, {
    compilerOptions: {
      target: typescript.ScriptTarget.ES2022,
      module: typescript.ModuleKind.ESNext,
      verbatimModuleSyntax: false,
      isolatedModules: true,
    },
  }).outputText;
}

/**
 * A module's code as a cell: what it declares at its top stays for the next cells and may be declared again,
 * imports and `await` work, and the value of a last expression can be shown.
 */
export function nodeCell(code: string, language: Exclude<Language, "python">): CellCode {
  const typescript = loadTypeScript();
  const plain = language === "typescript" ? withoutTypes(code) : code;
  const { ScriptTarget, ScriptKind } = typescript;
  const file = typescript.createSourceFile("cell.js", plain, ScriptTarget.ES2022, true, ScriptKind.JS);
  const { parseDiagnostics } = file as ts.SourceFile & { readonly parseDiagnostics?: readonly unknown[] };
  // Node says better what is wrong.
  if ((parseDiagnostics?.length ?? 0) > 0) return { code: plain };
  return new CellWriter(typescript, file).write();
}

interface Edit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

class CellWriter {
  readonly #ts: TypeScript;
  readonly #file: ts.SourceFile;
  readonly #waits: boolean;
  readonly #names = new Set<string>();
  readonly #hoisted: string[] = [];

  constructor(typescript: TypeScript, file: ts.SourceFile) {
    this.#ts = typescript;
    this.#file = file;
    this.#waits = file.statements.some((statement) => this.#isImport(statement) || this.#awaits(statement));
  }

  write(): CellCode {
    const { statements, text } = this.#file;
    const last = statements.at(-1);
    const shows = last !== undefined && this.#ts.isExpressionStatement(last);
    const edits = statements.flatMap((statement) => this.#edit(statement, shows && statement === last));
    let body = "";
    let at = 0;
    for (const { start, end, text: replacement } of edits) {
      body += text.slice(at, start) + replacement;
      at = end;
    }
    body += text.slice(at);
    if (!this.#waits) return { code: body, shows };
    const declared = this.#names.size === 0 ? "" : `var ${[...this.#names].join(", ")};`;
    return { code: `${declared}(async () => {${this.#hoisted.join("")}${body}\n})()`, waits: true, shows };
  }

  #edit(statement: ts.Statement, isResult: boolean): Edit[] {
    const typescript = this.#ts;
    if (typescript.isImportDeclaration(statement)) return [this.#replace(statement, this.#import(statement))];
    if (typescript.isExportDeclaration(statement)) return [this.#replace(statement, "")];
    if (typescript.isExportAssignment(statement))
      return [this.#replace(statement, `(${statement.expression.getText()});`)];
    if (typescript.isVariableStatement(statement)) return [this.#variables(statement)];
    if (typescript.isClassDeclaration(statement) || typescript.isFunctionDeclaration(statement))
      return this.#declaration(statement);
    if (isResult && this.#waits && typescript.isExpressionStatement(statement))
      return [this.#replace(statement, `return (${statement.expression.getText()});`)];
    return [];
  }

  #replace(node: ts.Node, text: string): Edit {
    return { start: node.getStart(), end: node.getEnd(), text };
  }

  #variables(statement: ts.VariableStatement): Edit {
    const { declarations } = statement.declarationList;
    for (const { name } of declarations) this.#remember(name);
    const [first] = declarations;
    if (!this.#waits)
      return { start: statement.getStart(), end: first?.getStart() ?? statement.getEnd(), text: "var " };
    const parts = declarations.map(
      ({ name, initializer }) => `${name.getText()} = ${initializer?.getText() ?? "undefined"}`,
    );
    return this.#replace(statement, `(${parts.join(", ")});`);
  }

  #declaration(statement: ts.ClassDeclaration | ts.FunctionDeclaration): Edit[] {
    const { name, modifiers = [] } = statement;
    const exported = modifiers.filter(({ kind }) => kind !== this.#ts.SyntaxKind.AsyncKeyword);
    const start = exported.at(-1)?.getEnd() ?? statement.getStart();
    if (name === undefined) return [];
    this.#names.add(name.text);
    if (this.#ts.isFunctionDeclaration(statement)) {
      this.#hoisted.push(`globalThis.${name.text} = ${name.text};`);
      return exported.length === 0 ? [] : [{ start: statement.getStart(), end: start, text: "" }];
    }
    const text = this.#waits ? `${name.text} = ` : `var ${name.text} = `;
    return [
      { start: statement.getStart(), end: start, text },
      { start: statement.getEnd(), end: statement.getEnd(), text: ";" },
    ];
  }

  #import({ importClause, moduleSpecifier }: ts.ImportDeclaration): string {
    const loaded =
      moduleSpecifier.getText() === '"hermes_tools"' || moduleSpecifier.getText() === "'hermes_tools'"
        ? "({ ...hermes, default: hermes })"
        : `await import(${moduleSpecifier.getText()})`;
    if (importClause === undefined) return `${loaded};`;
    const { name, namedBindings } = importClause;
    const parts: string[] = [];
    if (name !== undefined) parts.push(`default: ${this.#named(name)}`);
    if (namedBindings === undefined) return `({ ${parts.join(", ")} } = ${loaded});`;
    if (this.#ts.isNamespaceImport(namedBindings)) {
      const all = this.#named(namedBindings.name);
      return `${all} = ${loaded};${name === undefined ? "" : `${this.#named(name)} = ${all}.default;`}`;
    }
    for (const each of namedBindings.elements)
      parts.push(`${(each.propertyName ?? each.name).getText()}: ${this.#named(each.name)}`);
    return `({ ${parts.join(", ")} } = ${loaded});`;
  }

  #named(name: ts.Identifier): string {
    this.#names.add(name.text);
    return name.text;
  }

  #remember(name: ts.BindingName): void {
    if (this.#ts.isIdentifier(name)) this.#names.add(name.text);
    else
      for (const element of name.elements)
        if (!this.#ts.isOmittedExpression(element)) this.#remember(element.name);
  }

  #isImport(statement: ts.Statement): boolean {
    return this.#ts.isImportDeclaration(statement);
  }

  /** `await` that is not inside of a function. */
  #awaits(node: ts.Node): boolean {
    const typescript = this.#ts;
    if (typescript.isAwaitExpression(node)) return true;
    if (typescript.isForOfStatement(node) && node.awaitModifier !== undefined) return true;
    if (typescript.isFunctionLike(node) || typescript.isClassLike(node)) return false;
    return typescript.forEachChild(node, (child) => this.#awaits(child) || undefined) ?? false;
  }
}

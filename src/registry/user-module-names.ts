import type ts from "typescript6";
import type { TypeScript } from "./user-module-typescript.js";

const PACKAGE = "hermes-tools";

/** What the top-level names of one module stand for: exports of this package, classes, values. */
export class ModuleNames {
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

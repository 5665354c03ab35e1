import type ts from "typescript6";
import { nearest } from "../config/did-you-mean.js";
import type { TypeScript } from "./user-module-typescript.js";

export interface ModuleMistake {
  readonly message: string;
  readonly line: number;
}

const PACKAGE = "hermes-tools";
/** The exports of this package that make or register tools. */
const AUTHORING = ["defineTool", "defineTools", "BaseTool", "tool", "registry"];
/** Fields by which an object shows that it was meant as a tool; one of them alone may be anything. */
const TOOL_FIELDS = ["name", "description", "parameters", "handler", "permissions", "toolset"];
const ENOUGH_FIELDS = 2;

/** Why a module that registers nothing was most likely meant to: a slip that would otherwise go unnoticed. */
export function likelyMistake(source: ts.SourceFile, typescript: TypeScript): ModuleMistake | undefined {
  for (const statement of source.statements) {
    const message =
      wrongImport(statement, typescript) ??
      plainObject(statement, typescript) ??
      unexportedTool(statement, typescript);
    if (message === undefined) continue;
    return { message, line: source.getLineAndCharacterOfPosition(statement.getStart(source)).line + 1 };
  }
  return undefined;
}

function wrongImport(statement: ts.Statement, typescript: TypeScript): string | undefined {
  if (!typescript.isImportDeclaration(statement)) return undefined;
  const { importClause, moduleSpecifier } = statement;
  if (!typescript.isStringLiteral(moduleSpecifier) || importClause?.isTypeOnly === true) return undefined;
  const from = moduleSpecifier.text;
  const bindings = importClause?.namedBindings;
  const names =
    bindings !== undefined && typescript.isNamedImports(bindings)
      ? bindings.elements.flatMap((one) => (one.isTypeOnly ? [] : (one.propertyName ?? one.name).text))
      : [];
  if (from === PACKAGE) {
    const slip = names.find((name) => !AUTHORING.includes(name) && meantBy(name, AUTHORING) !== undefined);
    return slip === undefined
      ? undefined
      : `"${PACKAGE}" has no "${slip}"; did you mean "${meantBy(slip, AUTHORING)}"?`;
  }
  const taken = names.find((name) => AUTHORING.includes(name));
  if (taken === undefined || !/hermes/i.test(from) || /^\.{0,2}\//.test(from)) return undefined;
  return `${taken} comes from "${PACKAGE}", not from "${from}"`;
}

/** `defineTol` → `defineTool`; short names have too many neighbours to guess. */
function meantBy(name: string, known: readonly string[]): string | undefined {
  const [close] = nearest(name, known, 1);
  return close !== undefined && close.length > 4 && Math.abs(close.length - name.length) <= 2
    ? close
    : undefined;
}

function plainObject(statement: ts.Statement, typescript: TypeScript): string | undefined {
  if (!typescript.isExportAssignment(statement) || statement.isExportEquals === true) return undefined;
  const { expression } = statement;
  if (!typescript.isObjectLiteralExpression(expression)) return undefined;
  const fields = expression.properties.filter(
    ({ name }) =>
      name !== undefined &&
      typescript.isIdentifier(name) &&
      (TOOL_FIELDS.includes(name.text) || meantBy(name.text, TOOL_FIELDS) !== undefined),
  );
  return fields.length < ENOUGH_FIELDS
    ? undefined
    : `it exports a plain object, which is no tool: write export default defineTool({ … }), imported from "${PACKAGE}"`;
}

/** `defineTool({...})` whose value nobody can reach. */
function unexportedTool(statement: ts.Statement, typescript: TypeScript): string | undefined {
  const values = typescript.isExpressionStatement(statement)
    ? [statement.expression]
    : typescript.isVariableStatement(statement)
      ? statement.declarationList.declarations.flatMap(({ initializer }) => initializer ?? [])
      : [];
  const made = values.some(
    (value) =>
      typescript.isCallExpression(value) &&
      typescript.isIdentifier(value.expression) &&
      /^defineTools?$/.test(value.expression.text),
  );
  return made ? "the tool it defines is not exported: write export default defineTool({ … })" : undefined;
}

import type ts from "typescript6";
import { PlacedError } from "../../registry/user-module-errors.js";
import type { TypeScript } from "../../registry/user-module-typescript.js";
import type { JsonSchema } from "../../tool/json-schema.js";

/** Types nest, and may name themselves. */
const MAX_DEPTH = 16;
const WRITE_INSTEAD =
  "write string, number, boolean, literals, arrays, Record<string, …>, or an object type of this file; or give @tool({ parameters })";

export interface Property {
  readonly schema: JsonSchema;
  readonly optional: boolean;
}

/** The JSON Schema of types as they are written in one file. Nothing is checked beyond what is written there. */
export class TypeSchemas {
  readonly #ts: TypeScript;
  readonly #source: ts.SourceFile;
  readonly #declared = new Map<string, ts.InterfaceDeclaration | ts.TypeAliasDeclaration>();

  constructor(source: ts.SourceFile, typescript: TypeScript) {
    this.#ts = typescript;
    this.#source = source;
    for (const statement of source.statements) {
      if (typescript.isInterfaceDeclaration(statement) || typescript.isTypeAliasDeclaration(statement))
        this.#declared.set(statement.name.text, statement);
    }
  }

  /** The properties of an object type written here; undefined when it is none. */
  propertiesOf(type: ts.TypeNode, depth = 0): ReadonlyMap<string, Property> | undefined {
    const ts = this.#ts;
    if (depth > MAX_DEPTH) throw this.unreadable(type);
    if (ts.isParenthesizedTypeNode(type)) return this.propertiesOf(type.type, depth);
    if (ts.isTypeLiteralNode(type)) return this.#members(type.members, depth);
    if (ts.isIntersectionTypeNode(type)) {
      const parts = type.types.map((part) => this.propertiesOf(part, depth + 1));
      return parts.includes(undefined) ? undefined : new Map(parts.flatMap((part) => [...(part ?? [])]));
    }
    const declared = this.#named(type);
    if (declared === undefined) return undefined;
    if (ts.isTypeAliasDeclaration(declared)) return this.propertiesOf(declared.type, depth + 1);
    const inherited = (declared.heritageClauses ?? []).flatMap(({ types }) =>
      types.flatMap((parent) => {
        const properties = this.#ofParent(parent, depth + 1);
        if (properties === undefined) throw this.unreadable(parent);
        return [...properties];
      }),
    );
    return new Map([...inherited, ...this.#members(declared.members, depth)]);
  }

  schemaOf(type: ts.TypeNode, depth = 0): JsonSchema {
    const ts = this.#ts;
    if (depth > MAX_DEPTH) throw this.unreadable(type);
    switch (type.kind) {
      case ts.SyntaxKind.StringKeyword:
        return { type: "string" };
      case ts.SyntaxKind.NumberKeyword:
        return { type: "number" };
      case ts.SyntaxKind.BooleanKeyword:
        return { type: "boolean" };
      case ts.SyntaxKind.UnknownKeyword:
      case ts.SyntaxKind.AnyKeyword:
        return {};
      case ts.SyntaxKind.ObjectKeyword:
        return { type: "object" };
    }
    if (ts.isParenthesizedTypeNode(type)) return this.schemaOf(type.type, depth);
    if (ts.isTypeOperatorNode(type) && type.operator === ts.SyntaxKind.ReadonlyKeyword)
      return this.schemaOf(type.type, depth);
    if (ts.isArrayTypeNode(type)) return { type: "array", items: this.schemaOf(type.elementType, depth + 1) };
    if (ts.isLiteralTypeNode(type)) return this.#literals([type], type);
    if (ts.isUnionTypeNode(type)) return this.#union(type, depth);
    const generic = this.#generic(type, depth);
    if (generic !== undefined) return generic;
    const properties = this.propertiesOf(type, depth);
    if (properties !== undefined) return objectSchema(properties);
    const declared = this.#named(type);
    if (declared !== undefined && ts.isTypeAliasDeclaration(declared))
      return this.schemaOf(declared.type, depth + 1);
    throw this.unreadable(type);
  }

  /** True when `undefined` is among the types: the value may be left out. */
  mayBeMissing(type: ts.TypeNode | undefined): boolean {
    const ts = this.#ts;
    return (
      type !== undefined &&
      ts.isUnionTypeNode(type) &&
      type.types.some(({ kind }) => kind === ts.SyntaxKind.UndefinedKeyword)
    );
  }

  /** A string, number, boolean or a list of them, as it is written; undefined for anything that must be run. */
  literalOf(expression: ts.Expression): unknown {
    const ts = this.#ts;
    if (ts.isStringLiteralLike(expression)) return expression.text;
    if (ts.isNumericLiteral(expression)) return Number(expression.text);
    if (expression.kind === ts.SyntaxKind.TrueKeyword) return true;
    if (expression.kind === ts.SyntaxKind.FalseKeyword) return false;
    if (ts.isPrefixUnaryExpression(expression) && expression.operator === ts.SyntaxKind.MinusToken) {
      const positive = this.literalOf(expression.operand);
      return typeof positive === "number" ? -positive : undefined;
    }
    if (!ts.isArrayLiteralExpression(expression)) return undefined;
    const items = expression.elements.map((item) => this.literalOf(item));
    return items.includes(undefined) ? undefined : items;
  }

  unreadable(node: ts.Node, what = `the type ${node.getText(this.#source).slice(0, 80)}`): PlacedError {
    return new PlacedError(`${what} cannot be turned into a schema: ${WRITE_INSTEAD}`, this.lineOf(node));
  }

  lineOf(node: ts.Node): number {
    return this.#source.getLineAndCharacterOfPosition(node.getStart(this.#source)).line + 1;
  }

  #members(members: ts.NodeArray<ts.TypeElement>, depth: number): ReadonlyMap<string, Property> {
    const ts = this.#ts;
    const properties = new Map<string, Property>();
    for (const member of members) {
      const { name } = member;
      const isProperty = ts.isPropertySignature(member) && name !== undefined;
      if (!isProperty || !(ts.isIdentifier(name) || ts.isStringLiteral(name))) throw this.unreadable(member);
      const { type } = member;
      if (type === undefined) throw this.unreadable(member);
      const schema = this.schemaOf(type, depth + 1);
      const description = commentOf(member, ts);
      properties.set(name.text, {
        schema: description === undefined ? schema : { ...schema, description },
        optional: member.questionToken !== undefined || this.mayBeMissing(type),
      });
    }
    return properties;
  }

  #named(type: ts.TypeNode): ts.InterfaceDeclaration | ts.TypeAliasDeclaration | undefined {
    const ts = this.#ts;
    if (!ts.isTypeReferenceNode(type) || !ts.isIdentifier(type.typeName)) return undefined;
    const declared = this.#declared.get(type.typeName.text);
    if (declared?.typeParameters !== undefined) throw this.unreadable(type);
    return declared;
  }

  #ofParent(
    parent: ts.ExpressionWithTypeArguments,
    depth: number,
  ): ReadonlyMap<string, Property> | undefined {
    const ts = this.#ts;
    const declared = ts.isIdentifier(parent.expression)
      ? this.#declared.get(parent.expression.text)
      : undefined;
    if (declared === undefined || depth > MAX_DEPTH) return undefined;
    if (ts.isTypeAliasDeclaration(declared)) return this.propertiesOf(declared.type, depth);
    return this.propertiesOf(ts.factory.createTypeReferenceNode(declared.name), depth);
  }

  #generic(type: ts.TypeNode, depth: number): JsonSchema | undefined {
    const ts = this.#ts;
    if (!ts.isTypeReferenceNode(type) || !ts.isIdentifier(type.typeName)) return undefined;
    const [first, second] = type.typeArguments ?? [];
    const name = type.typeName.text;
    if (/^(?:Readonly)?Array$/.test(name) && first !== undefined)
      return { type: "array", items: this.schemaOf(first, depth + 1) };
    if (name === "Readonly" && first !== undefined) return this.schemaOf(first, depth + 1);
    if (name === "Record" && first?.kind === ts.SyntaxKind.StringKeyword && second !== undefined)
      return { type: "object", additionalProperties: this.schemaOf(second, depth + 1) };
    return undefined;
  }

  #union(type: ts.UnionTypeNode, depth: number): JsonSchema {
    const ts = this.#ts;
    const there = type.types.filter(({ kind }) => kind !== ts.SyntaxKind.UndefinedKeyword);
    if (there.every((each) => ts.isLiteralTypeNode(each))) return this.#literals(there, type);
    const [only, ...more] = there;
    if (only === undefined) throw this.unreadable(type);
    if (more.length === 0) return this.schemaOf(only, depth + 1);
    return { anyOf: there.map((each) => this.schemaOf(each, depth + 1)) };
  }

  #literals(types: readonly ts.LiteralTypeNode[], whole: ts.TypeNode): JsonSchema {
    const values = types.map(({ literal }) =>
      literal.kind === this.#ts.SyntaxKind.NullKeyword ? null : this.literalOf(literal as ts.Expression),
    );
    if (values.includes(undefined) || values.length === 0) throw this.unreadable(whole);
    const kinds = new Set(values.map((value) => (value === null ? "null" : typeof value)));
    const [kind] = kinds;
    return {
      ...(kinds.size === 1 &&
        kind !== undefined && { type: kind as "string" | "number" | "boolean" | "null" }),
      enum: values as (string | number | boolean | null)[],
    };
  }
}

export function objectSchema(properties: ReadonlyMap<string, Property>): JsonSchema {
  const required = [...properties].flatMap(([name, { optional }]) => (optional ? [] : name));
  return {
    type: "object",
    properties: Object.fromEntries([...properties].map(([name, { schema }]) => [name, schema])),
    ...(required.length > 0 && { required }),
  };
}

/** The text of the doc comment right before a node, without its tags. */
export function commentOf(node: ts.Node, typescript: TypeScript): string | undefined {
  const [comment] = typescript.getJSDocCommentsAndTags(node).filter(typescript.isJSDoc).slice(-1);
  const text = typescript.getTextOfJSDocComment(comment?.comment)?.trim();
  return text === undefined || text === "" ? undefined : text;
}

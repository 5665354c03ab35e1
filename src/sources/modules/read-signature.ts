import { readFileSync } from "node:fs";
import type ts from "typescript6";
import { PlacedError } from "../../registry/user-module-errors.js";
import { filesBehind } from "../../registry/user-module-hooks.js";
import { loadTypeScript, type TypeScript } from "../../registry/user-module-typescript.js";
import type { MethodSignature, UnreadTool } from "../../tool/decorator.js";
import type { JsonSchema } from "../../tool/json-schema.js";
import { commentOf, objectSchema, type Property, TypeSchemas } from "./type-schema.js";

/** The signature of a decorated method, from the module's source or that of a file it imports by path. */
export function readSignature(unread: UnreadTool, file: string): MethodSignature {
  const typescript = loadTypeScript();
  const candidates: Found[] = [];
  for (const path of filesBehind(file).keys()) {
    const text = readFileSync(path, "utf8");
    if (!text.includes(unread.method)) continue;
    const source = typescript.createSourceFile(path, text, typescript.ScriptTarget.Latest, true);
    candidates.push(...methodsNamed(unread.method, { source, typescript, path }));
  }
  // An inherited method stands in a class of another name.
  const found = candidates.find(({ className }) => className === unread.className) ?? candidates[0];
  if (found === undefined) {
    throw new PlacedError(
      `the source of the tool ${unread.method} was not found: give its parameters, @tool({ parameters })`,
    );
  }
  try {
    return new Signature(found).read();
  } catch (error) {
    if (!(error instanceof PlacedError) || found.path === file) throw error;
    throw new PlacedError(`${error.message} (in ${found.path}:${error.line ?? 1})`);
  }
}

interface Found {
  readonly method: ts.MethodDeclaration;
  readonly className: string;
  readonly source: ts.SourceFile;
  readonly typescript: TypeScript;
  readonly path: string;
}

function methodsNamed(name: string, place: Omit<Found, "method" | "className">): readonly Found[] {
  const { typescript } = place;
  const found: Found[] = [];
  const visit = (node: ts.Node): void => {
    if (typescript.isClassLike(node)) {
      for (const member of node.members) {
        const isIt =
          typescript.isMethodDeclaration(member) &&
          member.body !== undefined &&
          member.name.getText(place.source) === name &&
          typescript.getDecorators(member) !== undefined;
        if (isIt) found.push({ ...place, method: member, className: node.name?.text ?? "" });
      }
    }
    typescript.forEachChild(node, visit);
  };
  visit(place.source);
  return found;
}

class Signature {
  readonly #found: Found;
  readonly #types: TypeSchemas;
  /** By the last word of the name: `@param options.city` speaks of city. */
  readonly #comments = new Map<string, string>();

  constructor(found: Found) {
    const { method, source, typescript } = found;
    this.#found = found;
    this.#types = new TypeSchemas(source, typescript);
    for (const tag of typescript.getJSDocTags(method).filter(typescript.isJSDocParameterTag)) {
      const text = typescript
        .getTextOfJSDocComment(tag.comment)
        ?.replace(/^\s*-\s*/, "")
        .trim();
      const name = tag.name.getText(source).split(".").at(-1) ?? "";
      if (text !== undefined && text !== "") this.#comments.set(name, text);
    }
  }

  read(): MethodSignature {
    const { method, typescript } = this.#found;
    const own = method.parameters.filter((parameter) => !this.#isContext(parameter));
    const [first, ...more] = own;
    const together = first !== undefined && more.length === 0 ? this.#together(first) : undefined;
    const properties = together ?? new Map(own.map((parameter) => this.#single(parameter)));
    return {
      description: commentOf(method, typescript),
      parameters: objectSchema(
        new Map([...properties].map(([name, property]) => [name, this.#described(name, property)])),
      ),
      takes: method.parameters.map((parameter) =>
        this.#isContext(parameter)
          ? { kind: "context" }
          : together !== undefined
            ? { kind: "arguments" }
            : { kind: "one", name: parameter.name.getText(this.#found.source) },
      ),
    };
  }

  #isContext({ type }: ts.ParameterDeclaration): boolean {
    return type?.getText(this.#found.source) === "CallContext";
  }

  /** One object with all arguments: `({ city, days = 3 }: { city: string; days?: number })` */
  #together(parameter: ts.ParameterDeclaration): ReadonlyMap<string, Property> | undefined {
    const { typescript, source } = this.#found;
    const { name, type } = parameter;
    const destructured = typescript.isObjectBindingPattern(name);
    const properties = type && this.#types.propertiesOf(type);
    if (!destructured) return properties;
    if (properties === undefined) {
      const text = `the type of ${name.getText(source).slice(0, 60)}`;
      throw this.#types.unreadable(type ?? parameter, text);
    }
    const filled = new Map(properties);
    for (const element of name.elements) {
      const key = (element.propertyName ?? element.name).getText(source);
      const property = filled.get(key);
      if (property === undefined || element.initializer === undefined) continue;
      filled.set(key, { schema: this.#withDefault(property.schema, element.initializer), optional: true });
    }
    return filled;
  }

  /** One argument of its own: `city: string`, `days = 3`, `unit?: "c" | "f"` */
  #single(parameter: ts.ParameterDeclaration): [string, Property] {
    const { typescript, source } = this.#found;
    const { name, type, initializer } = parameter;
    const text = name.getText(source);
    if (!typescript.isIdentifier(name) || parameter.dotDotDotToken !== undefined)
      throw this.#types.unreadable(parameter, `the parameter ${text.slice(0, 60)}`);
    const written = type === undefined ? this.#guessed(initializer) : this.#types.schemaOf(type);
    if (written === undefined) throw this.#types.unreadable(parameter, `${text}, which has no type,`);
    return [
      text,
      {
        schema: initializer === undefined ? written : this.#withDefault(written, initializer),
        optional:
          parameter.questionToken !== undefined ||
          initializer !== undefined ||
          this.#types.mayBeMissing(type),
      },
    ];
  }

  #guessed(initializer: ts.Expression | undefined): JsonSchema | undefined {
    const kind = typeof (initializer && this.#types.literalOf(initializer));
    return kind === "string" || kind === "number" || kind === "boolean" ? { type: kind } : undefined;
  }

  /** What must be run to be known stays the method's own: then only the description may tell of it. */
  #withDefault(schema: JsonSchema, initializer: ts.Expression): JsonSchema {
    const value = this.#types.literalOf(initializer);
    return value === undefined ? schema : { ...schema, default: value as string };
  }

  #described(name: string, property: Property): Property {
    const description = this.#comments.get(name);
    return description === undefined
      ? property
      : { ...property, schema: { ...property.schema, description } };
  }
}

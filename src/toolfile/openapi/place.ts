import { type Fields, listOf, resolved, textOf } from "./references.js";

/** An operation where it stands in its document. */
export interface Place {
  readonly document: Fields;
  readonly path: string;
  readonly pathItem: Fields;
  readonly method: string;
  readonly operation: Fields;
}

export function isVersion2(document: Fields): boolean {
  return typeof document.swagger === "string";
}

/** Those of the path, replaced by those of the operation that have the same name and place. */
export function parametersOf({ document, pathItem, operation }: Place): readonly Fields[] {
  const found = new Map<string, Fields>();
  for (const given of [...listOf(pathItem.parameters), ...listOf(operation.parameters)]) {
    const parameter = resolved(document, given);
    if (parameter !== undefined) found.set(`${String(parameter.in)} ${String(parameter.name)}`, parameter);
  }
  return [...found.values()];
}

/** In version 2 the parameter itself is the schema; these fields are not part of it. */
export function withoutOwn(parameter: Fields): Fields {
  const { name: _, in: __, required: ___, description: ____, collectionFormat: _____, ...schema } = parameter;
  return schema;
}

/** How lists and objects are written; in the words of version 3. */
export interface Style {
  readonly style: string | undefined;
  readonly explode: boolean | undefined;
}

const COLLECTIONS: Readonly<Record<string, { readonly style: string; readonly explode: boolean }>> = {
  csv: { style: "form", explode: false },
  ssv: { style: "spaceDelimited", explode: false },
  pipes: { style: "pipeDelimited", explode: false },
  multi: { style: "form", explode: true },
};

export function styleOf(parameter: Fields): Style {
  if (parameter.type === "array" && (parameter.in === "query" || parameter.in === "formData"))
    return (
      COLLECTIONS[String(parameter.collectionFormat ?? "csv")] ?? { style: undefined, explode: undefined }
    );
  return {
    style: textOf(parameter.style),
    explode: typeof parameter.explode === "boolean" ? parameter.explode : undefined,
  };
}

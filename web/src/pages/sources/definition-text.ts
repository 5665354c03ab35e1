/** The definition of a tool as lines a person reads; whatever is not understood is written out as JSON. */
export function definitionText(definition: Readonly<Record<string, unknown>>): string {
  const { name, description, parameters, inputSchema, outputSchema, annotations, ...rest } = definition;
  const schema = parameters ?? inputSchema;
  return [
    ...(name === undefined ? [] : [`name: ${String(name)}`]),
    ...(description === undefined ? [] : ["description:", ...indented(wrapped(String(description)))]),
    ...(schema === undefined ? [] : ["parameters:", ...indented(schemaLines(schema))]),
    ...(outputSchema === undefined ? [] : ["result:", ...indented(schemaLines(outputSchema))]),
    ...(annotations === undefined ? [] : ["annotations:", ...indented(plainLines(annotations))]),
    ...Object.entries(rest).flatMap(([key, value]) =>
      value === undefined ? [] : [`${key}: ${JSON.stringify(value)}`],
    ),
  ].join("\n");
}

const WIDTH = 72;

function wrapped(text: string): readonly string[] {
  return text.split("\n").flatMap((line) => {
    const lines: string[] = [];
    let rest = line;
    while (rest.length > WIDTH) {
      const space = rest.lastIndexOf(" ", WIDTH);
      const end = space > WIDTH / 2 ? space : WIDTH;
      lines.push(rest.slice(0, end));
      rest = rest.slice(space > WIDTH / 2 ? end + 1 : end);
    }
    return [...lines, rest];
  });
}

function indented(lines: readonly string[]): readonly string[] {
  return lines.map((line) => `  ${line}`);
}

interface Schema {
  readonly type?: unknown;
  readonly description?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

const SAID = new Set(["type", "description", "properties", "required", "title"]);

function schemaLines(schema: unknown): readonly string[] {
  if (typeof schema !== "object" || schema === null) return [JSON.stringify(schema)];
  const { properties, required = [] } = schema as Schema;
  return [
    ...Object.entries(properties ?? {}).flatMap(([name, one]) => {
      const more = others(one);
      return [
        `${name}: ${typeof one.type === "string" ? one.type : JSON.stringify(one.type ?? "any")}${
          required.includes(name) ? ", required" : ""
        }${more === "" ? "" : ` ${more}`}`,
        ...(one.description === undefined ? [] : indented(wrapped(String(one.description)))),
        ...(one.properties === undefined ? [] : indented(schemaLines(one))),
      ];
    }),
    ...(others(schema as Schema) === "" ? [] : [others(schema as Schema)]),
  ];
}

function others(schema: Schema): string {
  const rest = Object.entries(schema).filter(([key]) => !SAID.has(key));
  return rest.length === 0 ? "" : JSON.stringify(Object.fromEntries(rest));
}

function plainLines(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null
    ? Object.entries(value).map(
        ([key, inner]) => `${key}: ${typeof inner === "string" ? inner : JSON.stringify(inner)}`,
      )
    : [JSON.stringify(value)];
}

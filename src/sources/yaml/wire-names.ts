import type { Section } from "./section.js";
import type { Auth, HttpSpec, PlacedParameter } from "./tool-spec.js";

/** What is sent under one name must come from one place; else one would silently replace the other. */
export function checkWireNames(
  tool: Section,
  { placed, headers, auth }: Pick<HttpSpec, "placed" | "headers" | "auth">,
): void {
  const taken = new Map<string, string>();
  const take = (at: Parameters<Section["wrong"]>[0], name: string, by: string) => {
    const before = taken.get(name);
    taken.set(name, by);
    if (before !== undefined)
      tool.wrong(at, `${by} and ${before} of ${tool.what} would both be sent as ${name}`);
  };
  for (const [name] of headers)
    take(tool.get("headers"), `header ${name.toLowerCase()}`, `"headers" ${name}`);
  for (const one of auth) {
    const name = sentAs(one);
    if (name !== undefined) take(tool.get("auth"), name, `auth ${one.type}`);
  }
  for (const parameter of placed) {
    const name = wireName(parameter);
    if (name !== undefined) take(parameter, name, `parameter ${parameter.name}`);
  }
}

function sentAs(auth: Auth): string | undefined {
  switch (auth.type) {
    case "query":
      return `query ${auth.name}`;
    case "header":
      return `header ${auth.name.toLowerCase()}`;
    default:
      return "header authorization";
  }
}

function wireName({ where, sendAs }: PlacedParameter): string | undefined {
  if (where === "path" || where === "template") return undefined;
  return `${where} ${where === "header" ? sendAs.toLowerCase() : sendAs}`;
}

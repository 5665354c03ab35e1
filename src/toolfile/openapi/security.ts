import { type Fields, fieldsOf, resolved, textOf, Unsupported } from "./references.js";

/** An `auth` section of a tool file. */
export type AuthSection = Readonly<Record<string, string>>;

/** How an operation proves who is asking: the first alternative that a tool file can express. */
export function authFor(options: {
  readonly document: Fields;
  readonly service: string;
  readonly security: readonly Fields[] | undefined;
}): readonly AuthSection[] {
  const { document, service, security } = options;
  if (security === undefined || security.length === 0) return [];
  const schemes = schemesOf(document);
  const reasons: string[] = [];
  for (const alternative of security) {
    try {
      return unique(Object.keys(alternative).map((name) => sectionFor({ name, schemes, document, service })));
    } catch (error) {
      if (!(error instanceof Unsupported)) throw error;
      reasons.push(error.message);
    }
  }
  throw new Unsupported(reasons.join("; "));
}

/** Together with headers that are credentials although the document describes them as parameters. */
export function withHeaders(
  auth: readonly AuthSection[],
  { headers, service }: { readonly headers: readonly string[]; readonly service: string },
): readonly AuthSection[] {
  const added = headers.map((name) => ({
    type: "header",
    name,
    value_env: `${variable(service)}_${variable(name)}`,
  }));
  return unique([...auth, ...added]);
}

/** One of each name: several schemes of a document often mean the same header. */
function unique(auth: readonly AuthSection[]): readonly AuthSection[] {
  const names = auth.map(wireName);
  return auth.filter((_, index) => names.indexOf(names[index] ?? "") === index);
}

function wireName({ type, name = "" }: AuthSection): string {
  if (type === "query") return `query ${name}`;
  return `header ${type === "header" ? name.toLowerCase() : "authorization"}`;
}

/** Whether a parameter is what `auth` sends anyway. */
export function isProvided(
  auth: readonly AuthSection[],
  input: { readonly in: string; readonly name: string },
): boolean {
  const wanted = `${input.in} ${input.in === "header" ? input.name.toLowerCase() : input.name}`;
  return auth.some((one) => wireName(one) === wanted);
}

function schemesOf(document: Fields): Fields {
  const components = fieldsOf(document.components);
  return fieldsOf(components.securitySchemes ?? document.securityDefinitions);
}

function sectionFor(at: {
  readonly name: string;
  readonly schemes: Fields;
  readonly document: Fields;
  readonly service: string;
}): AuthSection {
  const scheme = resolved(at.document, at.schemes[at.name]);
  if (scheme === undefined) throw new Unsupported(`its security scheme ${at.name} is not described`);
  const own = `${variable(at.service)}_`;
  const type = String(scheme.type);
  const kind = type === "http" ? String(scheme.scheme).toLowerCase() : type;
  switch (kind) {
    case "basic":
      return { type: "basic", username_env: `${own}USERNAME`, password_env: `${own}PASSWORD` };
    case "bearer":
    case "oauth2":
    case "openIdConnect":
      return { type: "bearer", token_env: `${own}TOKEN` };
    case "apiKey": {
      const value_env = own + (isOnlyKey(at.schemes) ? "API_KEY" : variable(at.name));
      const name = textOf(scheme.name) ?? "";
      if (scheme.in === "query") return { type: "query", name, value_env };
      if (scheme.in === "cookie") return { type: "header", name: "Cookie", value_env, prefix: `${name}=` };
      return { type: "header", name, value_env };
    }
    default:
      throw new Unsupported(`it wants ${kind} authentication`);
  }
}

function isOnlyKey(schemes: Fields): boolean {
  return Object.values(schemes).filter((scheme) => fieldsOf(scheme).type === "apiKey").length === 1;
}

export function variable(text: string): string {
  const name = text
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return /^\d/.test(name) ? `_${name}` : name;
}

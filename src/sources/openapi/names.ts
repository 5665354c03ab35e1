import { sha256 } from "../../base/hash.js";

const LONGEST = 64;

/** Letters, digits and `_`, not beginning with a digit. */
export function slug(text: string): string {
  const plain = text
    .normalize("NFKD")
    .replace(/[^A-Za-z0-9]+/g, "_")
    .replace(/^_+|_+$/g, "");
  return /^\d/.test(plain) ? `_${plain}` : plain;
}

/** What a service is called when nobody says: from its title, without words that every title has. */
export function serviceName(title: string): string {
  const words = slug(title)
    .toLowerCase()
    .split("_")
    .filter((word) => !/^(?:the|rest|api|apis|openapi|swagger|service|v\d+|\d+)$/.test(word));
  const name = words
    .filter((word) => word !== "")
    .slice(0, 3)
    .join("_")
    .slice(0, 24)
    .replace(/_+$/, "");
  if (name === "") return "service";
  return /^\d/.test(name) ? `api_${name}` : name;
}

export interface Named {
  readonly operationId: string | undefined;
  readonly method: string;
  readonly path: string;
}

/**
 * One name per operation: `<service>_<operationId>`, or made from method and path. It depends on the operation
 * alone, or, where two would be called the same, on its method and path too; never on the order of the document.
 */
export function toolNames<Operation extends Named>(
  service: string,
  operations: readonly Operation[],
): ReadonlyMap<Operation, string> {
  const wished = new Map(operations.map((operation) => [operation, wishFor(service, operation)]));
  const counts = new Map<string, number>();
  for (const name of wished.values())
    counts.set(name.toLowerCase(), (counts.get(name.toLowerCase()) ?? 0) + 1);
  return new Map(
    [...wished].map(([operation, name]) => {
      const isAlone = counts.get(name.toLowerCase()) === 1;
      return [operation, isAlone ? name : marked(name, `${operation.method} ${operation.path}`)];
    }),
  );
}

function wishFor(service: string, { operationId, method, path }: Named): string {
  const own = operationId?.replace(/[^A-Za-z0-9_-]+/g, "_").replace(/^_+|_+$/g, "");
  const rest = own || `${method.toLowerCase()}_${slug(path.replaceAll(/[{}]/g, "")) || "root"}`;
  const name = `${service}_${rest}`;
  return name.length <= LONGEST ? name : marked(name, name);
}

/** A name that was cut or is taken ends with a hash of what makes it different. */
function marked(name: string, of: string): string {
  const hash = sha256(of).slice(0, 8);
  return `${name.slice(0, LONGEST - 9).replace(/_+$/, "")}_${hash}`;
}

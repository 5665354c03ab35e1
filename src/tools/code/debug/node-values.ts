import type { Runtime } from "node:inspector";
import type { NodeRelay } from "./node-relay.js";
import { cut, LIMITS } from "./types.js";

const WHOLE_DESCRIPTION = new Set(["date", "regexp", "node"]);
const LISTS = new Set(["array", "typedarray"]);
const NESTED_CHARS = 100;

/** Values of the program as text, without running any of its code. */
export class NodeValues {
  readonly #relay: NodeRelay;

  constructor(relay: NodeRelay) {
    this.#relay = relay;
  }

  async properties(objectId: string | undefined): Promise<readonly Runtime.PropertyDescriptor[]> {
    if (objectId === undefined) return [];
    const { result } = await this.#relay.send<Runtime.GetPropertiesReturnType>("Runtime.getProperties", {
      objectId,
      ownProperties: true,
      generatePreview: true,
    });
    return result;
  }

  /** Two levels deep: the value, its members, and what these hold in short. */
  async described(value: Runtime.RemoteObject): Promise<string> {
    const { type, subtype = "", objectId, preview } = value;
    if (type !== "object" || objectId === undefined || subtype === "null") return simple(value);
    if (subtype === "error") return describeError(value);
    if (WHOLE_DESCRIPTION.has(subtype)) return value.description ?? subtype;
    if (preview?.entries !== undefined) return previewed(preview);
    const members = (await this.properties(objectId)).filter(
      ({ name, enumerable }) => enumerable && !(LISTS.has(subtype) && name === "length"),
    );
    const shown = members.slice(0, LIMITS.members).map((member) => {
      const text = member.value === undefined ? "[getter]" : brief(member.value);
      return LISTS.has(subtype) && /^\d+$/.test(member.name) ? text : `${member.name}: ${text}`;
    });
    if (members.length > shown.length) shown.push(`… ${members.length - shown.length} more`);
    return enclosed({ ...value, subtype }, shown);
  }
}

/** The first line of what an error says of itself; others may throw anything. */
export function describeError(value: Runtime.RemoteObject): string {
  if (value.subtype === "error") return (value.description ?? "Error").split("\n    at ")[0] ?? "Error";
  return brief(value);
}

function simple({ type, subtype, value, unserializableValue, description }: Runtime.RemoteObject): string {
  if (type === "string") return JSON.stringify(value);
  if (type === "function")
    return `[Function: ${/^(?:async )?(?:function\*? ?|class )?([\w$]+)/.exec(description ?? "")?.[1] ?? "anonymous"}]`;
  if (type === "undefined") return "undefined";
  if (subtype === "null") return "null";
  return unserializableValue ?? description ?? String(value);
}

function brief(value: Runtime.RemoteObject): string {
  if (value.type !== "object" || value.subtype === "null") return cut(simple(value), NESTED_CHARS);
  const text = value.preview === undefined ? (value.description ?? "object") : previewed(value.preview);
  return cut(text, NESTED_CHARS);
}

function previewed(preview: Runtime.ObjectPreview): string {
  const { subtype = "", properties, entries, overflow, description = "Object" } = preview;
  if (WHOLE_DESCRIPTION.has(subtype)) return description;
  if (subtype === "error") return description.split("\n")[0] ?? description;
  const shown =
    entries?.map(({ key, value }) =>
      key === undefined ? entry(value) : `${entry(key)} => ${entry(value)}`,
    ) ??
    properties
      .filter(({ name }) => !(LISTS.has(subtype) && name === "length"))
      .map(({ name, type, value = type }) => {
        const text = type === "string" ? JSON.stringify(value) : type === "accessor" ? "[getter]" : value;
        return LISTS.has(subtype) && /^\d+$/.test(name) ? text : `${name}: ${text}`;
      });
  return enclosed({ subtype, description }, overflow ? [...shown, "…"] : shown);
}

function entry(preview: Runtime.ObjectPreview): string {
  const { type, description = "" } = preview;
  if (type === "string") return JSON.stringify(description);
  return type === "object" ? previewed(preview) : description;
}

function enclosed(
  {
    subtype,
    className,
    description = "Object",
  }: { subtype: string; className?: string | undefined; description?: string | undefined },
  members: readonly string[],
): string {
  if (subtype === "array") return `[${members.join(", ")}]`;
  const name = className === undefined || LISTS.has(subtype) || subtype !== "" ? description : className;
  const lead = name === "Object" ? "" : `${name} `;
  return members.length === 0 ? `${lead}{}` : `${lead}{ ${members.join(", ")} }`;
}

import { CONFIG_KEYS, type ConfigKey, envName, type ProjectRule, type ValueType } from "./schema.js";

/** The table of keys in docs/configuration.md, in Markdown. */
export function configReference(): string {
  const head = ["key", "type", "default", "variable · flag", "project file", "meaning"];
  const rows = (CONFIG_KEYS as readonly ConfigKey[]).map((key) => [
    `\`${key.path}\``,
    typeText(key.type),
    key.secret ? "—" : `\`${JSON.stringify(key.default).replaceAll("|", "\\|")}\``,
    [envName(key), ...(key.envAliases ?? []), ...(key.flag ? [`--${key.flag}`] : [])]
      .map((name) => `\`${name}\``)
      .join(" · "),
    projectText(key.project),
    `${key.about}${key.secret ? " (secret: kept in `.env`)" : ""}`,
  ]);
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

function typeText(type: ValueType): string {
  switch (type.kind) {
    case "boolean":
      return "true, false";
    case "enum":
      return type.values.map((value) => `\`${value}\``).join(", ");
    case "integer":
      return `whole number ${type.min}–${type.max}`;
    case "number":
      return `number ${type.min}–${type.max}`;
    case "string":
      return "text";
    case "list":
      return "list of texts";
    case "grants":
      return "list of texts or grants";
    case "map":
      return type.of === "anything" ? "map" : `map of ${type.of === "integer" ? "number" : type.of}s`;
  }
}

function projectText(rule: ProjectRule): string {
  if (typeof rule === "object") return `only ${rule.looseToStrict.map((step) => `\`${step}\``).join(" → ")}`;
  const texts = {
    never: "no",
    free: "yes",
    unite: "adds to the list",
    lower: "only lower",
    subset: "only fewer",
    narrow: "only fewer; any when it is empty",
  } as const;
  return texts[rule];
}

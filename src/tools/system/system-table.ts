import { sizeText } from "../../base/human.js";
import { columns, mark } from "../../tool/marked-text.js";

/** A report of sections as tables: one line a fact, lists with a line for each entry. */
export function systemTable(report: Readonly<Record<string, unknown>>): string {
  const parts: string[] = [];
  const plain: string[][] = [];
  for (const [section, value] of Object.entries(report)) {
    if (typeof value === "object" && value !== null) {
      parts.push(`${mark.heading(section)}\n${sectionTable(value)}`);
    } else plain.push([mark.dim(labelOf(section)), shown(section, value)]);
  }
  return [...parts, columns(plain)].join("\n\n");
}

function sectionTable(section: object): string {
  if (Array.isArray(section)) return listTable(section);
  const facts: string[][] = [];
  const lists: string[] = [];
  for (const [name, value] of Object.entries(section)) {
    if (Array.isArray(value)) lists.push(listTable(value));
    else facts.push([mark.dim(labelOf(name)), shown(name, value)]);
  }
  return [columns(facts), ...lists].join("\n");
}

function listTable(entries: readonly object[]): string {
  const [first] = entries;
  if (first === undefined) return mark.dim("none");
  const names = Object.keys(first);
  const right = names.flatMap((name, at) => (/_(?:bytes|percent|mb)$|^pid$/.test(name) ? [at] : []));
  const rows = entries.map((entry) =>
    names.map((name) => shown(name, (entry as Readonly<Record<string, unknown>>)[name])),
  );
  return columns([names.map((name) => mark.dim(labelOf(name))), ...rows], { right });
}

function labelOf(name: string): string {
  return name.replace(/_(?:bytes|percent|ghz|s)$/, "").replaceAll("_", " ");
}

function shown(name: string, value: unknown): string {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value !== "number") return String(value);
  if (name.endsWith("_bytes")) return sizeText(value, "decimal");
  if (name.endsWith("_percent")) return percent(value);
  if (name === "speed_ghz") return `${value} GHz`;
  return name === "uptime_s" ? duration(value) : String(value);
}

function percent(value: number): string {
  const text = `${value} %`;
  return value >= 90 ? mark.bad(text) : value >= 75 ? mark.warning(text) : text;
}

function duration(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  const hours = Math.floor((seconds % 86_400) / 3_600);
  const minutes = Math.floor((seconds % 3_600) / 60);
  return days > 0 ? `${days} d ${hours} h` : hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min`;
}

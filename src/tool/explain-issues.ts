import { clip, count, preview, readablePath } from "./preview.js";
import { unescapePointer } from "./schema-walk.js";
import type { Issue } from "./validate.js";

const MAX_PLACES = 5;
const FORBIDDEN = "nothing there";

/** "max_results: expected integer, got "abc"; query: required, but missing". */
export function explainIssues(issues: readonly Issue[], value: unknown): string {
  const places = new Map<string, { readonly segments: readonly string[]; readonly expected: Set<string> }>();
  const complaints: string[] = [];
  const unknown: (readonly string[])[] = [];
  for (const issue of issues) {
    const segments = segmentsOf(issue.path);
    if (issue.keyword === "required") {
      for (const name of listOfText(issue.params.requiredProperties)) {
        complaints.push(`${readablePath([...segments, name])}: required, but missing`);
      }
    } else if (issue.keyword === "additionalProperties" || issue.keyword === "unevaluatedProperties") {
      for (const name of listOfText(issue.params[issue.keyword])) unknown.push([...segments, name]);
    } else {
      const expected = expectation(issue);
      if (expected === undefined) continue;
      const key = placeKey(segments);
      const place = places.get(key) ?? { segments, expected: new Set<string>() };
      place.expected.add(expected);
      places.set(key, place);
    }
  }
  for (const path of unknown) {
    const key = placeKey(path);
    const place = places.get(key);
    // A schema for further properties has said more about this one, here or deeper.
    const isExplained = [...places].some(
      ([other, { expected }]) =>
        other.startsWith(`${key}\u0000`) || (other === key && !expected.has(FORBIDDEN)),
    );
    if (isExplained) continue;
    if (place !== undefined) places.delete(key);
    complaints.push(`${readablePath(path)}: no such parameter`);
  }
  for (const place of places.values()) {
    const expected = clip([...place.expected].join(" or "), 300);
    const got = preview(valueAt(value, place.segments));
    complaints.push(`${readablePath(place.segments)}: expected ${expected}, got ${got}`);
  }
  const unique = [...new Set(complaints)];
  if (unique.length === 0) return "arguments: they do not fit the schema";
  const extra = unique.length - MAX_PLACES;
  return unique.slice(0, MAX_PLACES).join("; ") + (extra > 0 ? `; and ${count(extra, "more problem")}` : "");
}

function expectation(issue: Issue): string | undefined {
  const { keyword, params } = issue;
  const limit = Number(params.limit);
  switch (keyword) {
    case "type":
      return [params.type].flat().join(" or ");
    case "enum":
      return `one of ${[params.allowedValues].flat().slice(0, 12).map(shortJson).join(", ")}`;
    case "const":
      return shortJson(params.allowedValue);
    case "minimum":
    case "maximum":
    case "exclusiveMinimum":
    case "exclusiveMaximum":
      return `a number ${params.comparison} ${limit}`;
    case "multipleOf":
      return `a multiple of ${params.multipleOf}`;
    case "minLength":
      return `at least ${count(limit, "character")}`;
    case "maxLength":
      return `at most ${count(limit, "character")}`;
    case "minItems":
      return `at least ${count(limit, "item")}`;
    case "maxItems":
      return `at most ${count(limit, "item")}`;
    case "minProperties":
      return `at least ${count(limit, "entry")}`.replace("entrys", "entries");
    case "maxProperties":
      return `at most ${count(limit, "entry")}`.replace("entrys", "entries");
    case "uniqueItems":
      return "items that differ from each other";
    case "pattern":
      return `text that matches ${clip(String(params.pattern), 80)}`;
    case "format":
      return `the format "${clip(String(params.format), 40)}"`;
    case "dependencies":
    case "dependentRequired":
      return `${listOfText(params.dependencies).join(", ")} next to ${clip(String(params.property), 40)}`;
    case "contains":
      return "an item of the kind the schema asks for";
    case "propertyNames":
      return "other names for its entries";
    case "not":
      return "something the schema does not exclude";
    case "boolean":
      return FORBIDDEN;
    case "oneOf": {
      const passing = params.passingSchemas;
      return Array.isArray(passing) && passing.length > 1 ? "exactly one of the alternatives" : undefined;
    }
    // The alternatives and branches behind these have said what they expected.
    default:
      return undefined;
  }
}

function placeKey(segments: readonly string[]): string {
  return segments.join("\u0000");
}

function shortJson(value: unknown): string {
  return typeof value === "object" && value !== null ? preview(value) : clip(JSON.stringify(value) ?? "", 40);
}

function segmentsOf(path: string): readonly string[] {
  return path === "" ? [] : path.slice(1).split("/").map(unescapePointer);
}

function valueAt(root: unknown, segments: readonly string[]): unknown {
  let current = root;
  for (const segment of segments) {
    if (typeof current !== "object" || current === null || !Object.hasOwn(current, segment)) return undefined;
    current = (current as Record<string, unknown>)[segment];
  }
  return current;
}

function listOfText(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

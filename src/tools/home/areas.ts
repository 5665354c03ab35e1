import { isRecord } from "../../base/record.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import { askHomeJson } from "./home-assistant.js";

/** Areas are not among the states; only templates know them. Nothing of the call gets into its text. */
const AREAS = `{%- set found = namespace(areas=[]) -%}
{%- for id in areas() -%}
{%- set found.areas = found.areas + [{"id": id, "name": area_name(id), "entities": area_entities(id)}] -%}
{%- endfor -%}
{{ found.areas | to_json }}`;

const MOST_NAMED = 30;

/** The entities of an area, named as people or as Home Assistant call it. */
export async function entitiesInArea(area: string, ctx: CallContext): Promise<ReadonlySet<string>> {
  const answer = await askHomeJson(ctx, { path: "/api/template", body: { template: AREAS } });
  const areas = (Array.isArray(answer) ? answer : []).filter(isRecord);
  const wanted = plain(area);
  const found = areas.find(({ id, name }) => plain(id) === wanted || plain(name) === wanted);
  if (found !== undefined) return new Set(Array.isArray(found.entities) ? found.entities.map(String) : []);
  const names = areas.slice(0, MOST_NAMED).map(({ name, id }) => String(name ?? id));
  throw new ToolError(`There is no area ${JSON.stringify(area)}.`, {
    code: "not_found",
    hint: names.length === 0 ? "Home Assistant has no areas." : `Areas: ${names.join(", ")}.`,
  });
}

function plain(name: unknown): string {
  return String(name ?? "")
    .toLowerCase()
    .replace(/[\s_-]+/g, " ")
    .trim();
}

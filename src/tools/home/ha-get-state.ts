import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import { askHomeJson, ENTITY_ID, type EntityState, homeUrl, stateOf } from "./home-assistant.js";

interface StateAnswer extends EntityState {
  readonly url: string;
}

export default defineTool({
  name: "ha_get_state",
  toolset: "homeassistant",
  emoji: "🏠",
  description: "State and attributes of one entity of Home Assistant.",
  parameters: {
    type: "object",
    properties: { entity_id: { type: "string", pattern: ENTITY_ID, description: "light.kitchen" } },
    required: ["entity_id"],
    additionalProperties: false,
  },
  permissions: ["home:read"],
  effects: ({ entity_id }) => [{ action: "home:read", resource: entity_id, mode: "read" }],
  needs: { anyEnv: ["HASS_TOKEN"], fix: "HASS_TOKEN=..." },
  timeoutMs: 20_000,

  async handler({ entity_id }, ctx): Promise<StateAnswer> {
    const found = stateOf(await askHomeJson(ctx, { path: `/api/states/${entity_id}` }));
    if (found !== undefined) return { ...found, url: homeUrl(ctx.settings) };
    throw new ToolError(`Home Assistant has no entity ${entity_id}.`, {
      code: "not_found",
      hint: "ha_list_entities tells which there are.",
    });
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `${mark.strong(out.entity_id)} ${out.state}`,
      columns(
        Object.entries(out.attributes).map(([name, value]) => [
          mark.dim(name),
          typeof value === "string" ? value : JSON.stringify(value),
        ]),
      ),
    ].join("\n"),
  }),

  examples: [
    {
      title: "How warm is it?",
      settings: { "homeassistant.url": "{server}" },
      env: { HASS_TOKEN: "a-long-lived-token" },
      pages: {
        "/api/states/sensor.bedroom":
          '{"entity_id":"sensor.bedroom","state":"19.5","attributes":{"unit_of_measurement":"°C"},"last_changed":"2026-05-30T21:43:29+00:00"}',
      },
      arguments: { entity_id: "sensor.bedroom" },
      result: { state: "19.5", attributes: { unit_of_measurement: "°C" } },
    },
  ],
});

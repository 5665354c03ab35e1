import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { columns, mark } from "../../tool/marked-text.js";
import { askHomeJson, friendlyName, homeUrl, NAME, statesIn } from "./home-assistant.js";

const MOST = 500;

interface ListedEntity {
  readonly entity_id: string;
  readonly state: string;
  readonly friendly_name?: string | undefined;
}

interface EntityList {
  readonly count: number;
  readonly entities: readonly ListedEntity[];
  /** Set when there are more than are listed. */
  readonly note?: string | undefined;
  readonly url: string;
}

export default defineTool({
  name: "ha_list_entities",
  toolset: "homeassistant",
  emoji: "🏠",
  description: "List entities of Home Assistant with their states, of one domain or area.",
  parameters: {
    type: "object",
    properties: {
      domain: { type: "string", pattern: NAME, description: "light, switch, climate, sensor …" },
      area: { type: "string", minLength: 1, maxLength: 200, description: "Name of a room" },
    },
    additionalProperties: false,
  },
  permissions: ["home:read"],
  effects: ({ domain, area }) => [
    {
      action: "home:read",
      resource: `${domain ?? "*"}${area === undefined ? "" : ` in ${area}`}`,
      mode: "read",
    },
  ],
  needs: { anyEnv: ["HASS_TOKEN"], fix: "HASS_TOKEN=..." },
  timeoutMs: 35_000,

  async handler({ domain, area }, ctx): Promise<EntityList> {
    const inArea =
      area === undefined ? undefined : await (await import("./areas.js")).entitiesInArea(area, ctx);
    const states = statesIn(await askHomeJson(ctx, { path: "/api/states" }));
    const wanted = states.filter(
      ({ entity_id }) =>
        (domain === undefined || entity_id.startsWith(`${domain}.`)) &&
        (inArea === undefined || inArea.has(entity_id)),
    );
    const entities = wanted
      .map(
        (one): ListedEntity => ({
          entity_id: one.entity_id,
          state: one.state,
          friendly_name: friendlyName(one),
        }),
      )
      .sort((left, right) => (left.entity_id < right.entity_id ? -1 : 1));
    return {
      count: entities.length,
      entities: entities.slice(0, MOST),
      ...(entities.length > MOST && { note: `Only the first ${MOST}: name a domain or an area.` }),
      url: homeUrl(ctx.settings),
    };
  },

  // Names and states come from devices and from whoever named them.
  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [
      columns(
        out.entities.map(({ entity_id, state, friendly_name }) => [
          mark.strong(entity_id),
          state,
          mark.dim(friendly_name ?? ""),
        ]),
      ),
      mark.dim(`${out.count} ${out.count === 1 ? "entity" : "entities"}`),
      ...(out.note === undefined ? [] : [out.note]),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Which lights are there?",
      settings: { "homeassistant.url": "{server}" },
      env: { HASS_TOKEN: "a-long-lived-token" },
      pages: {
        "/api/states":
          '[{"entity_id":"light.kitchen","state":"on","attributes":{"friendly_name":"Kitchen"}},{"entity_id":"sun.sun","state":"below_horizon","attributes":{}}]',
      },
      arguments: { domain: "light" },
      result: {
        count: 1,
        entities: [{ entity_id: "light.kitchen", state: "on", friendly_name: "Kitchen" }],
      },
    },
  ],
});

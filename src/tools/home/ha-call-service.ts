import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import type { Effect } from "../../tool/effects.js";
import { ToolError } from "../../tool/errors.js";
import { mark } from "../../tool/marked-text.js";
import { BLOCKED_DOMAINS, isBlockedDomain } from "./blocked-domains.js";
import { askHomeJson, ENTITY_ID, friendlyName, homeUrl, NAME, statesIn } from "./home-assistant.js";

interface ServiceAnswer {
  readonly success: true;
  readonly service: string;
  /** What changed while the service ran. */
  readonly affected_entities: readonly {
    readonly entity_id: string;
    readonly state: string;
    readonly friendly_name?: string | undefined;
  }[];
  readonly note?: string | undefined;
  readonly url: string;
}

const MOST = 200;
const SHAPE = new RegExp(ENTITY_ID);
/** Who opens these lets somebody into the house. */
const GUARDING: ReadonlySet<string> = new Set(["lock", "alarm_control_panel"]);
/** Services that act on everything at once are named by their domain alone. */
const STOPPING: ReadonlySet<string> = new Set(["stop", "restart"]);

export default defineTool({
  name: "ha_call_service",
  toolset: "homeassistant",
  emoji: "🏠",
  description: "Do something in the house: call a service of Home Assistant, e.g. light turn_on.",
  parameters: {
    type: "object",
    properties: {
      domain: { type: "string", pattern: NAME },
      service: { type: "string", pattern: NAME },
      entity_id: { type: "string", pattern: ENTITY_ID },
      data: { type: "object", description: 'Other fields: {"brightness_pct": 40}' },
    },
    required: ["domain", "service"],
    additionalProperties: false,
  },
  permissions: ["home:act"],
  everyCallNeeds: ["home:act"],
  effects: (args) => [effectOf(args)],
  needs: { anyEnv: ["HASS_TOKEN"], fix: "HASS_TOKEN=..." },
  timeoutMs: 20_000,

  async handler({ domain, service, entity_id, data }, ctx): Promise<ServiceAnswer> {
    if (isBlockedDomain(domain)) {
      throw new ToolError(
        `Services of ${domain} are not called: they run programs on Home Assistant's machine.`,
        {
          code: "denied",
          hint: `Never called: ${BLOCKED_DOMAINS.join(", ")}. Use a service of a device instead.`,
        },
      );
    }
    const wrong = entitiesOf(entity_id, data).find((id) => !SHAPE.test(id) && id !== "all" && id !== "none");
    if (wrong !== undefined) {
      throw new ToolError(`${JSON.stringify(wrong)} is no entity.`, {
        code: "invalid_arguments",
        hint: "An entity is called domain.name, as ha_list_entities shows it.",
      });
    }
    const body = { ...data, ...(entity_id !== undefined && { entity_id }) };
    const answer = await askHomeJson(ctx, { path: `/api/services/${domain}/${service}`, body });
    if (answer === undefined) {
      throw new ToolError(`Home Assistant has no service ${domain}.${service}.`, {
        code: "not_found",
        hint: `ha_list_services domain=${domain} tells which there are.`,
      });
    }
    const changed = statesIn(answer);
    return {
      success: true,
      service: `${domain}.${service}`,
      affected_entities: changed
        .slice(0, MOST)
        .map((one) => ({ entity_id: one.entity_id, state: one.state, friendly_name: friendlyName(one) })),
      ...(changed.length === 0 && { note: "No state has changed yet; ha_get_state tells how it ended." }),
      ...(changed.length > MOST && { note: `${changed.length} states changed; the first ${MOST} are here.` }),
      url: homeUrl(ctx.settings),
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [
      `${mark.good(out.service)}${out.note === undefined ? "" : ` ${mark.dim(out.note)}`}`,
      ...out.affected_entities.map(({ entity_id, state }) => `  ${entity_id} ${state}`),
    ].join("\n"),
  }),

  examples: [
    {
      title: "Switch a light on",
      settings: { "homeassistant.url": "{server}" },
      env: { HASS_TOKEN: "a-long-lived-token" },
      pages: {
        "/api/services/light/turn_on": '[{"entity_id":"light.kitchen","state":"on","attributes":{}}]',
      },
      arguments: {
        domain: "light",
        service: "turn_on",
        entity_id: "light.kitchen",
        data: { brightness_pct: 40 },
      },
      result: {
        success: true,
        service: "light.turn_on",
        affected_entities: [{ entity_id: "light.kitchen", state: "on" }],
      },
    },
  ],
});

function effectOf(call: {
  readonly domain: string;
  readonly service: string;
  readonly entity_id?: string | undefined;
  readonly data?: unknown;
}): Effect {
  const { domain, service } = call;
  const entities = entitiesOf(call.entity_id, call.data);
  const name = `${domain}.${service}`;
  const guarding = [domain, ...entities.map((id) => id.split(".", 1)[0] ?? "")].find((one) =>
    GUARDING.has(one),
  );
  const stops = domain === "homeassistant" && STOPPING.has(service);
  const reason =
    guarding !== undefined
      ? `${name} changes a ${guarding === "lock" ? "lock" : "burglar alarm"} of the house`
      : stops
        ? `${name} stops the automations of the house`
        : undefined;
  return {
    action: "home:act",
    resource: [name, ...entities].join(" "),
    mode: "write",
    reversible: false,
    ...(reason !== undefined && { ask: { reason } }),
  };
}

/** Entities come as a text, a list or a text with commas, in their own argument and in `data`. */
function entitiesOf(entityId: string | undefined, data: unknown): readonly string[] {
  const inData = isRecord(data) ? data.entity_id : undefined;
  return [entityId, ...(Array.isArray(inData) ? inData : [inData])]
    .filter((one) => typeof one === "string")
    .flatMap((one) => one.split(","))
    .map((one) => one.trim())
    .filter((one) => one !== "");
}

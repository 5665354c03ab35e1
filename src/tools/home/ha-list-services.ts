import { isRecord } from "../../base/record.js";
import { text } from "../../tool/content.js";
import { defineTool } from "../../tool/define.js";
import { ToolError } from "../../tool/errors.js";
import { columns, mark } from "../../tool/marked-text.js";
import { isBlockedDomain } from "./blocked-domains.js";
import { askHomeJson, homeUrl, NAME } from "./home-assistant.js";

interface ListedService {
  readonly service: string;
  readonly description?: string | undefined;
  /** Name → what it means; only when one domain was asked for. */
  readonly fields?: Readonly<Record<string, string>> | undefined;
}

interface ServiceList {
  readonly count: number;
  readonly domains: readonly { readonly domain: string; readonly services: readonly ListedService[] }[];
  readonly url: string;
}

const MAX_WORDS = 200;

export default defineTool({
  name: "ha_list_services",
  toolset: "homeassistant",
  emoji: "🏠",
  description:
    "What ha_call_service can do in Home Assistant; with a domain, also the fields of each service.",
  parameters: {
    type: "object",
    properties: { domain: { type: "string", pattern: NAME } },
    additionalProperties: false,
  },
  permissions: ["home:read"],
  effects: ({ domain }) => [{ action: "home:read", resource: `services of ${domain ?? "*"}`, mode: "read" }],
  needs: { anyEnv: ["HASS_TOKEN"], fix: "HASS_TOKEN=..." },
  timeoutMs: 20_000,

  async handler({ domain }, ctx): Promise<ServiceList> {
    const answer = await askHomeJson(ctx, { path: "/api/services" });
    const all = (Array.isArray(answer) ? answer : [])
      .filter(isRecord)
      .map((row) => ({ domain: String(row.domain ?? ""), services: row.services }))
      .filter((row) => !isBlockedDomain(row.domain));
    const wanted = all.filter((row) => domain === undefined || row.domain === domain);
    if (domain !== undefined && wanted.length === 0) {
      throw new ToolError(`Home Assistant has no services in the domain ${domain} that can be called.`, {
        code: "not_found",
        hint: `Domains: ${all.map((row) => row.domain).join(", ")}.`,
      });
    }
    const domains = wanted.map((row) => ({
      domain: row.domain,
      services: servicesIn(row.services, { withFields: domain !== undefined }),
    }));
    return {
      count: domains.reduce((sum, { services }) => sum + services.length, 0),
      domains,
      url: homeUrl(ctx.settings),
    };
  },

  untrustedSource: (_args, { url }) => url,

  present: ({ url: _url, ...out }) => ({
    model: [text(JSON.stringify(out))],
    human: [
      columns(
        out.domains.flatMap(({ domain, services }) =>
          services.map(({ service, description }) => [
            mark.strong(`${domain}.${service}`),
            mark.dim(description ?? ""),
          ]),
        ),
      ),
      mark.dim(`${out.count} services`),
    ].join("\n"),
  }),

  examples: [
    {
      title: "What can be done with lights?",
      settings: { "homeassistant.url": "{server}" },
      env: { HASS_TOKEN: "a-long-lived-token" },
      pages: {
        "/api/services":
          '[{"domain":"light","services":{"turn_on":{"name":"Turn on","description":"Turns on a light.","fields":{"brightness_pct":{"description":"Brightness in percent."}}}}}]',
      },
      arguments: { domain: "light" },
      result: {
        domains: [
          {
            domain: "light",
            services: [{ service: "turn_on", fields: { brightness_pct: "Brightness in percent." } }],
          },
        ],
      },
    },
  ],
});

/** The documentation shows a list of names, servers of today send name → description. */
function servicesIn(
  services: unknown,
  { withFields }: { readonly withFields: boolean },
): readonly ListedService[] {
  if (Array.isArray(services)) return services.map((service) => ({ service: String(service) }));
  if (!isRecord(services)) return [];
  return Object.entries(services).map(([service, about]) => {
    const description = wordsOf(about);
    const fields =
      withFields && isRecord(about) && isRecord(about.fields) ? fieldsIn(about.fields) : undefined;
    return {
      service,
      ...(description !== "" && { description }),
      ...(fields !== undefined && { fields }),
    };
  });
}

/** Advanced fields are grouped one level deeper. */
function fieldsIn(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, string>> {
  const rows = Object.entries(fields).flatMap(([name, field]) =>
    isRecord(field) && isRecord(field.fields)
      ? Object.entries(fieldsIn(field.fields))
      : [
          [
            name,
            `${wordsOf(field)}${isRecord(field) && field.required === true ? " (required)" : ""}`.trim(),
          ] as const,
        ],
  );
  return Object.fromEntries(rows);
}

function wordsOf(about: unknown): string {
  if (!isRecord(about)) return "";
  const words =
    typeof about.description === "string" && about.description !== "" ? about.description : about.name;
  return typeof words === "string" ? words.slice(0, MAX_WORDS) : "";
}

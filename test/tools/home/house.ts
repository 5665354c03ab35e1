import { once } from "node:events";
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestEnd } from "../../support/runtime.js";

export const TOKEN = "eyJ-long-lived-access-token";

interface Thing {
  state: string;
  readonly attributes: Record<string, unknown>;
}

export interface House {
  readonly url: string;
  readonly things: Map<string, Thing>;
  /** `METHOD /path body` of each request that carried the token. */
  readonly seen: string[];
  /** What the next requests are answered with, in place of an answer. */
  failure: { status: number; body: string; headers?: Record<string, string> } | undefined;
  /** Requests stay without an answer; tells when one of them was given up. */
  silent: boolean;
  givenUp: number;
}

const AREAS = [
  { id: "kitchen", name: "Kitchen", entities: ["light.kitchen", "sensor.oven"] },
  { id: "living_room", name: "Living Room", entities: ["light.sofa"] },
];

const SERVICES = [
  {
    domain: "light",
    services: {
      turn_on: {
        name: "Turn on",
        description: "Turns on one or more lights.",
        fields: {
          brightness_pct: { name: "Brightness", description: "In percent.", required: true },
          advanced_fields: { collapsed: true, fields: { flash: { description: "Short or long." } } },
        },
      },
      turn_off: { name: "Turn off", description: "", fields: {} },
    },
  },
  { domain: "lock", services: { unlock: { name: "Unlock", fields: {} } } },
  { domain: "shell_command", services: { wipe: {} } },
  // As the documentation prints it.
  { domain: "browser", services: ["browse_url"] },
];

/**
 * Answers as Home Assistant does: developers.home-assistant.io/docs/api/rest. Templates are not evaluated, only the
 * functions that they may call are known (home-assistant.io/docs/configuration/templating, "Areas").
 */
export async function startHouse(): Promise<House> {
  const things = new Map<string, Thing>([
    ["light.kitchen", { state: "off", attributes: { friendly_name: "Kitchen light" } }],
    ["light.sofa", { state: "on", attributes: { friendly_name: "Sofa" } }],
    ["sensor.oven", { state: "21.5", attributes: { unit_of_measurement: "°C" } }],
    ["lock.door", { state: "locked", attributes: {} }],
  ]);
  const house: House = { url: "", things, seen: [], failure: undefined, silent: false, givenUp: 0 };
  const stateOf = (id: string) => ({
    entity_id: id,
    ...things.get(id),
    last_changed: "2026-05-30T21:43:29.204838+00:00",
    last_updated: "2026-05-30T21:47:30.533530+00:00",
    context: { id: "01F", parent_id: null, user_id: null },
  });
  const answer = (request: IncomingMessage, body: string): readonly [status: number, value: unknown] => {
    const path = request.url ?? "";
    if (request.headers.authorization !== `Bearer ${TOKEN}`) return [401, "401: Unauthorized"];
    house.seen.push(`${request.method} ${path} ${body}`.trim());
    if (path === "/api/states") return [200, [...things.keys()].map(stateOf)];
    if (path === "/api/services") return [200, SERVICES];
    if (path === "/api/template") {
      const { template } = JSON.parse(body) as { template: string };
      const known = ["areas()", "area_name(id)", "area_entities(id)", "| to_json"];
      return known.every((word) => template.includes(word))
        ? [200, AREAS]
        : [400, { message: "Error rendering template: UndefinedError" }];
    }
    const asked = /^\/api\/states\/([^/]+)$/.exec(path)?.[1];
    if (asked !== undefined)
      return things.has(asked) ? [200, stateOf(asked)] : [404, { message: "Entity not found." }];
    const [, domain = "", service = ""] = /^\/api\/services\/([^/]+)\/([^/]+)$/.exec(path) ?? [];
    const offered = SERVICES.find((one) => one.domain === domain)?.services;
    if (request.method !== "POST" || offered === undefined || !(service in offered))
      return [404, "404: Not Found"];
    const { entity_id: id } = JSON.parse(body) as { entity_id?: string };
    const thing = things.get(id ?? "");
    if (thing === undefined) return [200, []];
    const state = service === "turn_on" ? "on" : service === "turn_off" ? "off" : `${service}ed`;
    if (thing.state === state) return [200, []];
    thing.state = state;
    return [200, [stateOf(id ?? "")]];
  };
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request) body += chunk;
    if (house.silent) {
      response.on("close", () => {
        house.givenUp += 1;
      });
      return;
    }
    if (house.failure !== undefined)
      return void response.writeHead(house.failure.status, house.failure.headers).end(house.failure.body);
    const [status, value] = answer(request, body);
    response.setHeader("content-type", "application/json");
    response.writeHead(status).end(typeof value === "string" ? value : JSON.stringify(value));
  });
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return Object.assign(house, { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

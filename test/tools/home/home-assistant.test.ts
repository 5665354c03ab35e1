import { describe, expect, it } from "vitest";
import type { ApprovalRequest } from "../../../src/call/scope.js";
import { testRuntime } from "../../support/runtime.js";
import { startHouse, TOKEN } from "./house.js";

async function atHome(options: { readonly token?: string } = {}) {
  const house = await startHouse();
  const { runtime } = await testRuntime([], {
    builtins: true,
    env: { PATH: process.env.PATH, HASS_URL: `${house.url}/`, HASS_TOKEN: options.token ?? TOKEN },
  });
  const asked: ApprovalRequest[] = [];
  let answer: "once" | "deny" = "once";
  const session = await runtime.openSession({
    approver: {
      ask: async (request) => {
        asked.push(request);
        return answer;
      },
    },
  });
  return {
    house,
    asked,
    runtime,
    say: (next: "once" | "deny") => {
      answer = next;
    },
    call: (name: string, args: Record<string, unknown> = {}, signal?: AbortSignal) =>
      session.call({ name, arguments: args }, signal === undefined ? {} : { signal }),
  };
}

describe("looking around the house", () => {
  it("lists entities, of a domain, of a room by the name people use, of both", async () => {
    const { call } = await atHome();
    expect((await call("ha_list_entities")).structured).toMatchObject({ count: 4 });
    expect((await call("ha_list_entities", { domain: "light" })).structured).toMatchObject({
      count: 2,
      entities: [
        { entity_id: "light.kitchen", state: "off", friendly_name: "Kitchen light" },
        { entity_id: "light.sofa", state: "on", friendly_name: "Sofa" },
      ],
    });
    expect((await call("ha_list_entities", { area: "living room" })).structured).toMatchObject({
      entities: [{ entity_id: "light.sofa" }],
    });
    expect((await call("ha_list_entities", { area: "Kitchen", domain: "sensor" })).structured).toMatchObject({
      count: 1,
      entities: [{ entity_id: "sensor.oven", state: "21.5" }],
    });
  });

  it("a room that is not there is an error that names those that are", async () => {
    const { call, house } = await atHome();
    const result = await call("ha_list_entities", { area: 'x") }}{{ states' });
    expect(result.error).toMatchObject({ code: "not_found", hint: "Areas: Kitchen, Living Room." });
    expect(house.seen.join()).not.toContain("states'");
  });

  it("tells state and attributes of one", async () => {
    const { call } = await atHome();
    const result = await call("ha_get_state", { entity_id: "sensor.oven" });
    expect(result.structured).toMatchObject({
      entity_id: "sensor.oven",
      state: "21.5",
      attributes: { unit_of_measurement: "°C" },
      last_changed: "2026-05-30T21:43:29.204838+00:00",
    });
    expect(result.content[0]).toMatchObject({ text: expect.stringContaining("<untrusted_tool_result") });
    expect((await call("ha_get_state", { entity_id: "sensor.attic" })).error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("ha_list_entities"),
    });
  });

  it.each(["../../auth/token", "light.kitchen/../..", "Light Kitchen", "light", "light.x?y=1", ""])(
    "%j is no entity, and nothing is asked",
    async (entity_id) => {
      const { call, house } = await atHome();
      expect((await call("ha_get_state", { entity_id })).error?.code).toBe("invalid_arguments");
      expect(house.seen).toEqual([]);
    },
  );

  it("lists services with their fields, and none that are never called", async () => {
    const { call } = await atHome();
    expect((await call("ha_list_services")).structured).toMatchObject({
      count: 4,
      domains: [
        { domain: "light" },
        { domain: "lock" },
        { domain: "browser", services: [{ service: "browse_url" }] },
      ],
    });
    expect((await call("ha_list_services", { domain: "light" })).structured).toMatchObject({
      domains: [
        {
          services: [
            {
              service: "turn_on",
              description: "Turns on one or more lights.",
              fields: { brightness_pct: "In percent. (required)", flash: "Short or long." },
            },
            { service: "turn_off", description: "Turn off" },
          ],
        },
      ],
    });
    expect((await call("ha_list_services", { domain: "shell_command" })).error?.code).toBe("not_found");
  });
});

describe("acting in the house", () => {
  it("really switches, and says what changed", async () => {
    const { call, house, asked } = await atHome();
    const on = { domain: "light", service: "turn_on", entity_id: "light.kitchen" };
    const result = await call("ha_call_service", { ...on, data: { brightness_pct: 40 } });
    expect(result.structured).toMatchObject({
      success: true,
      service: "light.turn_on",
      affected_entities: [{ entity_id: "light.kitchen", state: "on" }],
    });
    expect(house.things.get("light.kitchen")?.state).toBe("on");
    expect(house.seen).toEqual([
      'POST /api/services/light/turn_on {"brightness_pct":40,"entity_id":"light.kitchen"}',
    ]);
    expect((await call("ha_call_service", on)).structured).toMatchObject({
      affected_entities: [],
      note: expect.stringContaining("ha_get_state"),
    });
    expect(asked).toEqual([]);
  });

  it.each(["shell_command", "command_line", "python_script", "pyscript", "hassio", "rest_command"])(
    "services of %s are never called",
    async (domain) => {
      const { call, house } = await atHome();
      const result = await call("ha_call_service", { domain, service: "wipe" });
      expect(result.error).toMatchObject({ code: "denied", hint: expect.stringContaining("shell_command") });
      expect(house.seen).toEqual([]);
    },
  );

  it("a lock is opened only when a person says so, wherever it is named", async () => {
    const { call, house, asked, say } = await atHome();
    const unlock = { domain: "lock", service: "unlock", entity_id: "lock.door" };
    say("deny");
    expect((await call("ha_call_service", unlock)).error?.code).toBe("denied");
    const hidden = {
      domain: "homeassistant",
      service: "turn_off",
      data: { entity_id: ["light.sofa", "lock.door"] },
    };
    expect((await call("ha_call_service", hidden)).error?.code).toBe("denied");
    expect(asked.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("lock of the house"),
      expect.stringContaining("lock of the house"),
    ]);
    expect(house.seen).toEqual([]);
    say("once");
    expect((await call("ha_call_service", unlock)).structured).toMatchObject({
      affected_entities: [{ entity_id: "lock.door", state: "unlocked" }],
    });
  });

  it("a service that is not there, and entities of another shape in the data", async () => {
    const { call, house } = await atHome();
    expect((await call("ha_call_service", { domain: "light", service: "dance" })).error).toMatchObject({
      code: "not_found",
      hint: expect.stringContaining("ha_list_services"),
    });
    house.seen.length = 0;
    const odd = { domain: "light", service: "turn_on", data: { entity_id: ["light.kitchen", "../x"] } };
    expect((await call("ha_call_service", odd)).error?.code).toBe("invalid_arguments");
    expect(house.seen).toEqual([]);
  });
});

describe("when it does not work", () => {
  it("without a token the tools are not available and say what is missing", async () => {
    const { runtime } = await testRuntime([], { builtins: true });
    const tools = (await runtime.listTools()).filter(({ name }) => name.startsWith("ha_"));
    expect(tools).toHaveLength(4);
    for (const tool of tools)
      expect(tool).toMatchObject({
        available: false,
        reason: "HASS_TOKEN is not set",
        fix: "HASS_TOKEN=...",
      });
  });

  it("a refused token is never shown", async () => {
    const { call } = await atHome({ token: "eyJ-another-secret-token" });
    const result = await call("ha_list_entities");
    expect(result.error).toMatchObject({ code: "denied", hint: expect.stringContaining("HASS_TOKEN") });
    expect(JSON.stringify(result)).not.toContain("another-secret");
  });

  it("a redirect gets no token, an odd answer is told with its reason", async () => {
    const { call, house } = await atHome();
    house.failure = { status: 302, body: "", headers: { location: "http://127.0.0.1:9/" } };
    expect((await call("ha_list_entities")).error?.hint).toContain("homeassistant.url");
    house.failure = { status: 400, body: '{"message":"extra keys not allowed @ data[\'x\']"}' };
    const bad = await call("ha_call_service", { domain: "light", service: "turn_on" });
    expect(bad.error?.message).toContain("extra keys not allowed");
    house.failure = { status: 200, body: "<html>a router</html>" };
    expect((await call("ha_list_entities")).error?.message).toContain("did not answer as Home Assistant");
  });

  it("a call that is cancelled ends the request", async () => {
    const { call, house } = await atHome();
    house.silent = true;
    const result = await call("ha_list_entities", {}, AbortSignal.timeout(150));
    expect(result.error?.code).toBe("cancelled");
    await expect.poll(() => house.givenUp).toBe(1);
  });
});

import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { Authenticator } from "../../src/server/auth.js";
import type { ServerServices } from "../../src/server/route.js";
import { type HermesApp, mountRoutes } from "../../src/server/routes.js";
import { startServer, TOKEN } from "./support.js";

interface Operation {
  readonly operationId: string;
  readonly security?: readonly unknown[];
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
  readonly responses: Readonly<Record<string, unknown>>;
}

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
}

async function described(): Promise<Description> {
  const { ask } = await startServer();
  return (await (await ask("/openapi.json")).json()) as Description;
}

function operations(description: Description): [string, Operation][] {
  return Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]): [string, Operation] => [
      `${method.toUpperCase()} ${path}`,
      operation,
    ]),
  );
}

describe("/openapi.json", () => {
  it("describes exactly what is mounted", async () => {
    const app: HermesApp = new Hono();
    mountRoutes(app, { services: {} as ServerServices, auth: new Authenticator({ token: TOKEN, port: 1 }) });
    const mounted = new Set(
      app.routes.map(({ method, path }) => `${method} ${path.replace(/:(\w+)/g, "{$1}")}`),
    );
    expect(
      operations(await described())
        .map(([name]) => name)
        .sort(),
    ).toEqual([...mounted].sort());
  });

  it("is right about which addresses need the token and answer", async () => {
    const { server, ask } = await startServer();
    for (const [name, operation] of operations(await described())) {
      const [method = "", path = ""] = name.split(" ");
      const body = method === "POST" ? { body: "{}" } : {};
      const leave = new AbortController();
      const without = await fetch(new URL(path, server.url), { method, ...body });
      // What is signed needs no token, and is refused without its signature.
      const isSigned = operation.parameters?.some((each) => each.name === "X-Hermes-Signature") === true;
      const isRefused = operation.security === undefined || isSigned;
      expect([name, without.status]).toEqual([name, isRefused ? 401 : 200]);
      const withToken = await ask(path, { method, ...body, signal: leave.signal });
      expect(Object.keys(operation.responses), name).toContain(String(withToken.status));
      leave.abort();
    }
  });

  it("is a sound document: ids are unique and every reference leads somewhere", async () => {
    const description = await described();
    expect(description.openapi).toBe("3.1.0");
    const ids = operations(description).map(([, operation]) => operation.operationId);
    expect(new Set(ids).size).toBe(ids.length);
    for (const [, reference = ""] of JSON.stringify(description).matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = reference
        .split("/")
        .reduce<unknown>((at, key) => (at as Record<string, unknown>)?.[key], description);
      expect(found, reference).toBeDefined();
    }
  });
});

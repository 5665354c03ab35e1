import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { create } from "tar";
import { describe, expect, it } from "vitest";
import { defineTool } from "../../src/index.js";
import { loadPackage } from "../../src/runtime/packages/find.js";
import { checkPackages, installPackages } from "../../src/runtime/packages/install.js";
import { OPTIONAL_PACKAGES } from "../../src/runtime/packages/wanted.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { onTestEnd, tempDir, testRuntime } from "../support/runtime.js";

const NAME = "hermes-test-greeting";
const WANTED = [{ name: NAME, version: "1.2.3", about: "greets", megabytes: 1 }];

const greeter = defineTool({
  name: "greeter",
  toolset: "mine",
  description: "Greets by means of a library",
  parameters: { type: "object", properties: {} },
  needs: { packages: [NAME] },
  handler: async (_args, ctx) => ({ said: (await ctx.load<{ hello: string }>(NAME)).hello }),
}) as AnyTool;

describe("libraries that not everybody has", () => {
  it("a checkout has each of them, in the version that is set up elsewhere", () => {
    const { devDependencies } = JSON.parse(readFileSync("package.json", "utf8")) as {
      devDependencies: Record<string, string>;
    };
    const wanted = Object.fromEntries(OPTIONAL_PACKAGES.map(({ name, version }) => [name, version]));
    expect(devDependencies).toMatchObject(wanted);
    expect(checkPackages(tempDir()).filter(({ state }) => state !== "present")).toEqual([]);
  });

  it("a tool without its library is unavailable and says what to run", async () => {
    const { runtime } = await testRuntime([greeter]);
    const [listing] = (await runtime.listTools()).filter(({ name }) => name === "greeter");
    expect(listing).toMatchObject({ available: false, reason: `not installed: ${NAME}` });
    await expect(loadPackage("sharpest", tempDir())).rejects.toMatchObject({
      code: "unavailable",
      hint: expect.stringContaining("hermes setup tools"),
    });
  });

  it("are installed into the Hermes home, once, and loaded from there", { timeout: 60_000 }, async () => {
    const home = tempDir();
    const registry = await startRegistry();
    const before = process.env.npm_config_registry;
    process.env.npm_config_registry = registry.url;
    onTestEnd(() => {
      if (before === undefined) delete process.env.npm_config_registry;
      else process.env.npm_config_registry = before;
    });
    expect(checkPackages(home, WANTED)).toMatchObject([{ state: "missing", fix: "hermes setup tools" }]);
    expect(await installPackages({ home, packages: WANTED })).toMatchObject([
      { what: NAME, state: "installed" },
    ]);
    const asked = registry.requests();
    expect(await installPackages({ home, packages: WANTED })).toMatchObject([{ state: "present" }]);
    expect(registry.requests()).toBe(asked);
    const { runtime } = await testRuntime([greeter], { home });
    const result = await (await runtime.openSession()).call({ name: "greeter" });
    expect(result.structured).toEqual({ said: "good morning" });
  });

  it("a registry that does not have them is told about", { timeout: 60_000 }, async () => {
    const registry = await startRegistry();
    const before = process.env.npm_config_registry;
    process.env.npm_config_registry = registry.url;
    onTestEnd(() => {
      if (before === undefined) delete process.env.npm_config_registry;
      else process.env.npm_config_registry = before;
    });
    const packages = [{ name: "hermes-test-nobody", version: "1.0.0", about: "is nowhere", megabytes: 1 }];
    expect(await installPackages({ home: tempDir(), packages })).toMatchObject([
      { state: "failed", detail: expect.stringContaining("404"), fix: "hermes setup tools" },
    ]);
  });
});

/** A registry of npm with one package. */
async function startRegistry(): Promise<{ readonly url: string; requests(): number }> {
  const folder = tempDir();
  mkdirSync(join(folder, "package"));
  const manifest = { name: NAME, version: "1.2.3", type: "module", exports: "./index.js" };
  writeFileSync(join(folder, "package", "package.json"), JSON.stringify(manifest));
  writeFileSync(join(folder, "package", "index.js"), 'export const hello = "good morning";\n');
  await create({ gzip: true, cwd: folder, file: join(folder, "packed.tgz") }, ["package"]);
  const packed = readFileSync(join(folder, "packed.tgz"));
  let url = "";
  let count = 0;
  const server = createServer((request, response) => {
    count += 1;
    if (request.url?.endsWith(".tgz") === true) return void response.end(packed);
    if (request.url !== `/${NAME}`) return void response.writeHead(404).end("{}");
    const dist = {
      tarball: `${url}/${NAME}-1.2.3.tgz`,
      integrity: `sha512-${createHash("sha512").update(packed).digest("base64")}`,
    };
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        name: NAME,
        "dist-tags": { latest: "1.2.3" },
        versions: { "1.2.3": { ...manifest, dist } },
      }),
    );
  });
  onTestEnd(() => {
    server.closeAllConnections();
    server.close();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, requests: () => count };
}

// @needs openssl

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { findModel } from "../../src/search/semantic/model-files.js";
import { eventually } from "../gateway/support.js";
import { selfSigned } from "../support/certificate.js";
import { TelegramServer, TOKEN } from "../support/platforms/telegram-server.js";
import { type ScriptedModel, startScriptedModel } from "../support/scripted-model/server.js";
import { hermes, start, tempFolder } from "./hermes.js";

/** Nobody is there: these are reached through the proxy or not at all. */
const PAGE = "10.255.255.1";
const MODEL = "10.255.255.2";
const MCP = "10.255.255.3";
const TELEGRAM = "10.255.255.4";
const REGISTRY = "10.255.255.5";
const TOKEN_OF_MCP = "a-long-secret-of-the-operator-0123456789";

/** A proxy that opens what passes through it and signs with a certificate of its own, as those of companies do. */
class CompanyProxy {
  readonly asked: string[] = [];
  readonly behind = new Map<string, number>();
  readonly #certificate = selfSigned([PAGE, MODEL, MCP, TELEGRAM]);
  readonly #server: Server;
  readonly authority: string;

  constructor() {
    this.authority = join(tempFolder(), "company.pem");
    writeFileSync(this.authority, this.#certificate.cert);
    this.#server = createServer((_request, response) => response.writeHead(405).end());
    this.#server.on("connect", (request, socket) => {
      const host = (request.url ?? "").split(":")[0] ?? "";
      this.asked.push(host);
      const port = this.behind.get(host);
      if (port === undefined) return socket.end("HTTP/1.1 403 Forbidden\r\n\r\n");
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      const opened = new TLSSocket(socket, { isServer: true, ...this.#certificate });
      const onward = connect(port, "127.0.0.1");
      onward.pipe(opened).pipe(onward);
      for (const side of [opened, onward, socket]) side.on("error", () => undefined);
    });
  }

  async listen(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

const portOf = (url: string) => Number(new URL(url).port);
const home = tempFolder();
const homeWithServer = tempFolder();
const proxy = new CompanyProxy();
const page = createServer((_request, response) => response.end("from the outside"));
let model: ScriptedModel;

const OTHER = `
mcp_servers:
  other: { url: "https://${MCP}/mcp", headers: { authorization: "Bearer ${TOKEN_OF_MCP}" } }
`;
const SETTINGS = `
security: { allow_private_urls: true }
model: { provider: compatible, name: scripted, base_url: "https://${MODEL}" }
`;

beforeAll(async () => {
  await proxy.listen();
  await new Promise<void>((resolve) => page.listen(0, "127.0.0.1", resolve));
  model = await startScriptedModel({ steps: [{ text: "Hello." }, { text: "Hello again." }] });
  proxy.behind.set(PAGE, (page.address() as AddressInfo).port);
  proxy.behind.set(MODEL, portOf(model.url));
  writeFileSync(join(home, "config.yaml"), SETTINGS);
  writeFileSync(join(homeWithServer, "config.yaml"), OTHER);
});
afterAll(async () => {
  proxy.close();
  page.closeAllConnections();
  page.close();
  await model.close();
});

const trusted = () => ({ HTTPS_PROXY: proxy.url, NODE_EXTRA_CA_CERTS: proxy.authority });
const fetchPage = ["call", "http_request", `url=https://${PAGE}/`];

describe("lesson 121: one proxy and one certificate, set once, hold for", () => {
  it("tools", async () => {
    const done = await hermes(fetchPage, { home, env: trusted() });
    expect(done.stdout, done.stderr).toContain("from the outside");
    expect(proxy.asked.splice(0)).toEqual([PAGE]);
  });

  it("models", async () => {
    const said = await hermes(["chat", "-q", "hello"], { home, env: trusted() });
    expect(said.stdout.trim(), said.stderr).toBe("Hello.");
    expect(new Set(proxy.asked.splice(0))).toEqual(new Set([MODEL]));
  });

  it("MCP servers", async () => {
    const env = { HERMES_TOKEN: TOKEN_OF_MCP, HERMES_SERVER_ALLOWED_HOSTS: MCP };
    const server = start(["serve", "--port", "0", "--json"], { home: tempFolder(), env });
    const { url } = JSON.parse(String((await once(server.stdout ?? server, "data"))[0])) as { url: string };
    proxy.behind.set(MCP, portOf(url));
    const tested = await hermes(["mcp", "test", "other"], { home: homeWithServer, env: trusted() });
    expect(tested.stdout, tested.stderr).toContain("read_file");
    expect(new Set(proxy.asked.splice(0))).toEqual(new Set([MCP]));
  });

  it("gateways", async () => {
    const telegram = await new TelegramServer().listen();
    proxy.behind.set(TELEGRAM, portOf(telegram.url));
    const chat = {
      TELEGRAM_BOT_TOKEN: TOKEN,
      TELEGRAM_API_ROOT: `https://${TELEGRAM}`,
      TELEGRAM_ALLOWED_USERS: "42",
    };
    start(["gateway", "run", "telegram"], { home, env: { ...trusted(), ...chat } });
    telegram.say({ text: "hello" });
    await eventually(() => expect(telegram.shown.at(-1)?.text).toBe("Hello again."));
    expect(new Set(proxy.asked.splice(0))).toEqual(new Set([MODEL, TELEGRAM]));
  }, 60_000);
});

describe("what is downloaded goes that way too, also where the proxy stands in the settings alone", () => {
  const registry = { npm_config_registry: `https://${REGISTRY}/`, npm_config_fetch_retries: "0" };
  const home = tempFolder();
  beforeAll(() =>
    writeFileSync(
      join(home, "config.yaml"),
      `network: { proxy: "${proxy.url}", no_proxy: [intern.example] }\n`,
    ),
  );

  /** The gateway above goes on asking. */
  const asked = () => proxy.asked.splice(0).filter((host) => host === REGISTRY).length;

  it("by npm", async () => {
    const done = await hermes(["plugins", "install", "some-plugin"], { home, env: registry });
    expect(done.code).not.toBe(0);
    expect(asked(), done.stderr).toBeGreaterThan(0);
  }, 60_000);

  it("by ourselves", async ({ skip }) => {
    if (findModel({ home: "/nonexistent" }) !== undefined)
      skip("[ci-cannot] the model lies beside this checkout");
    const done = await hermes(["setup", "search"], { home, env: registry });
    expect(done.code).not.toBe(0);
    // Three times by ourselves, then by npm.
    expect(asked(), done.stderr).toBeGreaterThan(3);
  }, 60_000);
});

describe("what fails names the setting", () => {
  const everyClient = async (env: Readonly<Record<string, string>>) => {
    const tool = await hermes([...fetchPage, "--json"], { home, env });
    const chat = await hermes(["chat", "-q", "hello"], { home, env });
    const mcp = await hermes(["mcp", "test", "other"], { home: homeWithServer, env });
    const said = [tool, chat, mcp].map(({ stdout, stderr }) => `${stdout}${stderr}`);
    return [...said, await gatewaySays(env)];
  };
  const gatewaySays = async (env: Readonly<Record<string, string>>) => {
    const chat = { TELEGRAM_BOT_TOKEN: TOKEN, TELEGRAM_API_ROOT: `https://${TELEGRAM}` };
    const own = { home: tempFolder(), env: { ...env, ...chat } };
    const gateway = start(["gateway", "run", "telegram"], own);
    let said = "";
    gateway.stderr?.on("data", (chunk: Buffer) => {
      said += chunk;
    });
    await eventually(() => expect(said).toContain("started again"));
    gateway.kill();
    return said;
  };

  it("of a certificate that is not trusted", async () => {
    for (const said of await everyClient({ HTTPS_PROXY: proxy.url }))
      expect(said).toContain("NODE_EXTRA_CA_CERTS");
  }, 60_000);

  it("of a proxy that is not there, and never its password", async () => {
    for (const said of await everyClient({ HTTPS_PROXY: "http://me:hidden@127.0.0.1:9" })) {
      expect(said).toMatch(/http:\/\/127\.0\.0\.1:9\/? \(network\.proxy or HTTPS_PROXY\)/);
      expect(said).not.toContain("hidden");
    }
  }, 60_000);
});

import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { request } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { root, start, tempFolder, until } from "../cli/hermes.js";
import { needs } from "../support/needs.js";

interface Service {
  readonly image: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
}
interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, null>>;
  readonly networks: Readonly<Record<string, { readonly internal: boolean }>>;
  readonly secrets: Readonly<Record<string, { readonly environment: string }>>;
}
interface Scrape {
  readonly metrics_path: string;
  readonly authorization: { readonly credentials_file: string };
  readonly static_configs: readonly { readonly targets: readonly string[] }[];
}

const folder = join(root, "packaging");
const read = (name: string) => readFileSync(join(folder, name), "utf8");
const compose = parse(read("compose.yaml"), { merge: true }) as Compose;
const services = Object.entries(compose.services);

describe("the compose file", () => {
  it("has an image for every service, and mounts what is there", () => {
    for (const [name, { image, volumes = [], secrets = [] }] of services) {
      expect(image, name).toMatch(/^(?:hermes-tools|docker\.io\/[\w./-]+:[\w.-]+)$/);
      for (const [source = ""] of volumes.map((volume) => volume.split(":")))
        expect(
          source.startsWith(".") ? existsSync(join(folder, source)) : source in compose.volumes,
          source,
        ).toBe(true);
      for (const secret of secrets) expect(Object.keys(compose.secrets)).toContain(secret);
    }
  });

  it("has the NATS server that the faults of a cluster were tried with", () => {
    const page = readFileSync(join(root, "docs/reliability.md"), "utf8");
    const [, tried = "no version"] = /The server was nats-server (\d+\.\d+\.\d+)\./.exec(page) ?? [];
    expect(compose.services.nats?.image).toBe(`docker.io/library/nats:${tried}-alpine`);
  });

  it("lets only the server and its workers reach NATS", () => {
    const inside = services.filter(([, { networks }]) => networks?.includes("bus")).map(([name]) => name);
    expect(inside.sort()).toEqual(["nats", "server", "worker"]);
    expect(compose.services.nats?.networks).toEqual(["bus"]);
    expect(compose.networks.bus).toEqual({ internal: true });
  });

  it("opens ports to this machine alone", () => {
    for (const port of services.flatMap(([, { ports = [] }]) => ports))
      expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it("asks for every secret it needs, and the example has them all", () => {
    const text = read("compose.yaml");
    const asked = new Set([...text.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
    const secrets = Object.values(compose.secrets).map(({ environment }) => environment);
    expect(asked).toEqual(
      new Set([...read("compose.env.example").matchAll(/^(\w+)=$/gm)].map(([, name]) => name)),
    );
    expect([...asked]).toEqual(expect.arrayContaining(secrets));
    expect(text).not.toMatch(/\$\{\w+\}/);
  });

  it("the server answers what Prometheus asks, under the name it asks for", async () => {
    const [{ metrics_path, authorization, static_configs } = missing()] = (
      parse(read("prometheus.yml")) as { readonly scrape_configs: readonly Scrape[] }
    ).scrape_configs;
    const [target = ""] = static_configs[0]?.targets ?? [];
    const { environment = {}, command = [] } = compose.services[target.split(":")[0] ?? ""] ?? missing();
    expect(command[0]).toBe("serve");
    expect(authorization.credentials_file).toBe("/run/secrets/hermes_token");
    const token = "a-long-secret-of-the-operator-0123456789";
    const env = {
      HERMES_SERVER_ALLOWED_HOSTS: environment.HERMES_SERVER_ALLOWED_HOSTS ?? "",
      HERMES_TOKEN: token,
    };
    const server = start(["serve", "--port", "0", "--json"], { home: tempFolder(), env });
    const { port } = JSON.parse(String((await once(server.stdout ?? server, "data"))[0])) as { port: number };
    const headers = { host: target, authorization: `Bearer ${token}` };
    const [answer] = await once(
      request({ port, host: "127.0.0.1", path: metrics_path, headers }).end(),
      "response",
    );
    expect(answer.statusCode).toBe(200);
    answer.resume();
  });

  it("promtool understands the settings of Prometheus", (context) => {
    needs(context, "promtool");
    const words = ["check", "config", "--syntax-only", join(folder, "prometheus.yml")];
    const checked = spawnSync("promtool", words, { encoding: "utf8" });
    expect(checked.status, checked.stderr).toBe(0);
  });

  it("NATS starts with what it is told, and says that it is well where it is asked", async (context) => {
    needs(context, "nats-server");
    const { command = [] } = compose.services.nats ?? missing();
    const [client, monitor] = [await freePort(), await freePort()];
    const words = command.map((word) =>
      word === "/data" ? tempFolder() : word === "8222" ? String(monitor) : word,
    );
    const nats = spawn("nats-server", [...words, "--addr", "127.0.0.1", "--port", String(client)], {
      stdio: "ignore",
    });
    try {
      const healthy = () =>
        fetch(`http://127.0.0.1:${monitor}/healthz`).then(
          ({ ok }) => ok,
          () => false,
        );
      await until(healthy, "NATS is healthy");
    } finally {
      nats.kill();
      await once(nats, "exit");
    }
  });
});

describe("Grafana", () => {
  it("finds its data at the service of that name, and the dashboard where it is mounted", () => {
    const { datasources } = parse(read("grafana/datasources.yaml")) as {
      datasources: readonly { url: string }[];
    };
    expect(Object.keys(compose.services)).toContain(new URL(datasources[0]?.url ?? "").hostname);
    const { providers } = parse(read("grafana/dashboards.yaml")) as {
      providers: readonly { options: { path: string } }[];
    };
    const mounts = compose.services.grafana?.volumes ?? [];
    const mount = mounts.find((volume) => volume.split(":")[1] === providers[0]?.options.path) ?? "";
    expect(existsSync(join(folder, mount.split(":")[0] ?? "", "hermes-tools.json"))).toBe(true);
  });
});

function missing(): never {
  throw new Error("the compose file has no such service");
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  return typeof address === "object" && address !== null ? address.port : 0;
}

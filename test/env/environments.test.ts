import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { loadConfig } from "../../src/config/load.js";
import { ENVIRONMENTS } from "../../src/env/environments.gen.js";
import { environmentSettings, environmentStatus, openEnvironment } from "../../src/env/environments.js";

const home = mkdtempSync(join(tmpdir(), "hermes-environments-"));
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** A machine without any program or token, with the keys of `terminal` that are looked at written down. */
async function configThatTells() {
  const config = await loadConfig({
    home: join(home, ".hermes"),
    cwd: home,
    systemDir: join(home, "etc"),
    env: {
      HOME: home,
      PATH: "",
      // An engine that this machine may have is left alone.
      DOCKER_HOST: `unix://${home}/none.sock`,
      TERMINAL_SSH_HOST: "host.invalid",
      TERMINAL_SINGULARITY_IMAGE: "/none.sif",
    },
  });
  const read = new Set<string>();
  const terminal = new Proxy(config.values.terminal, {
    get(target, key) {
      read.add(`terminal.${String(key)}`);
      return Reflect.get(target, key);
    },
  });
  return { read, config: { ...config, values: { ...config.values, terminal } } };
}

describe.each(ENVIRONMENTS)("the descriptor of $kind", (entry) => {
  it("agrees with its row", async () => {
    const { default: descriptor } = await entry.load();
    expect(descriptor).toMatchObject({ kind: entry.kind, about: entry.about });
    const { own, shared } = descriptor.settings;
    expect(entry.settings).toEqual([...own.map(({ path }) => path), ...shared]);
  });

  it("reads no setting that it does not declare", async () => {
    const { read, config } = await configThatTells();
    await environmentStatus(entry.kind, config);
    const opened = await openEnvironment({ name: entry.kind, task: "t", config }).catch(() => undefined);
    await opened?.close();
    const declared = environmentSettings(entry.kind);
    expect(read.size).toBeGreaterThan(0);
    expect([...read].filter((path) => !declared.has(path))).toEqual([]);
  });
});

it("what cannot be used is said with a reason and a fix, and nothing of that name is an error", async () => {
  const { config } = await configThatTells();
  for (const { kind } of ENVIRONMENTS.filter((entry) => entry.kind !== "docker")) {
    const status = await environmentStatus(kind, config);
    expect(status).toMatchObject({ ready: false, reason: expect.any(String), fix: expect.any(String) });
  }
  await expect(openEnvironment({ name: "moon", task: "t", config })).rejects.toMatchObject({
    code: "not_found",
    message: expect.stringContaining("Environments: local, daytona, docker"),
  });
});

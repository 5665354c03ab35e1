import { describe, expect, it } from "vitest";
import { createLocalEnvironment } from "../../../src/env/local/local.js";
import { hostMounts, registryOf } from "../../../src/tools/platform/docker/arguments.js";
import { containerRow, imageRow, readRows } from "../../../src/tools/platform/docker/rows.js";
import tool from "../../../src/tools/platform/docker-manage.js";
import { needs } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";
import { makeContext } from "../context.js";

type Args = Parameters<NonNullable<typeof tool.effects>>[0];
const effects = (args: Partial<Args> & Pick<Args, "action">) =>
  tool.effects?.(
    { engine: "auto", tail: 200, timeout_seconds: 60, ...args },
    { cwd: "/work", environment: "local", home: "/home/me" },
  ) ?? [];
const asks = (args: Partial<Args> & Pick<Args, "action">) =>
  effects(args).flatMap(({ ask }) => ask?.reason ?? []);

describe("what is asked about", () => {
  it.each<Partial<Args> & Pick<Args, "action">>([
    { action: "run", image: "alpine", privileged: true },
    { action: "run", image: "alpine", volumes: ["./data:/data"] },
    { action: "run", image: "alpine", volumes: ["/var/run/docker.sock:/var/run/docker.sock"] },
    { action: "stop", container: "web" },
    { action: "rm", container: "web" },
    { action: "rm", image: "alpine" },
    { action: "compose_up" },
    { action: "compose_down", file: "compose.prod.yml" },
  ])("%o", (args) => expect(asks(args)).toHaveLength(1));

  it.each<Partial<Args> & Pick<Args, "action">>([
    { action: "ps" },
    { action: "logs", container: "web" },
    { action: "run", image: "alpine", command: ["true"], volumes: ["cache:/data"], ports: ["8080:80"] },
    { action: "start", container: "web" },
    { action: "pull", image: "alpine" },
    { action: "compose_down" },
  ])("not: %o", (args) => expect(asks(args)).toEqual([]));
});

describe("availability and rendering", () => {
  it("needs one of two programs, and says which command brings it", async () => {
    const { runtime } = await testRuntime([tool], { env: { PATH: "/nowhere" } });
    const session = await runtime.openSession();
    expect((await session.call({ name: "docker_manage", arguments: { action: "ps" } })).error).toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("not found on PATH: docker; not found on PATH: podman"),
      hint: expect.stringContaining("apt-get install podman"),
    });
  });

  it("rows have a heading; none are told as none", () => {
    const human = (out: object) => tool.present?.({ action: "ps", engine: "docker", ...out }).human ?? "";
    expect(human({ containers: [] })).toContain("no containers");
    const row = containerRow({ ID: "0123456789abcdef", Names: "web", Image: "alpine", State: "running" });
    expect(human({ containers: [row] })).toMatch(/id.*name.*image[\s\S]*0123456789ab.*web/);
    expect(human({ containers: [row] })).not.toContain("0123456789abc");
  });
});

describe("whose words an answer holds", () => {
  const source = (args: Partial<Args> & Pick<Args, "action">) =>
    tool.untrustedSource?.(
      { engine: "auto", tail: 200, timeout_seconds: 60, ...args },
      { action: args.action, engine: "docker" },
    );
  it.each<Partial<Args> & Pick<Args, "action">>([
    { action: "logs", container: "web" },
    { action: "exec", container: "web" },
    { action: "inspect", container: "web" },
    { action: "run", image: "web" },
    { action: "pull", image: "web" },
    { action: "build", tag: "web" },
    { action: "compose_up", name: "web" },
    { action: "compose_down", name: "web" },
  ])("others': %o", (args) => expect(source(args)).toBe("container:web"));
  it.each(["ps", "images", "stats", "start", "stop", "rm"] as const)("the engine's: %s", (action) =>
    expect(source({ action, container: "web" })).toBeUndefined(),
  );
});

describe("effects", () => {
  it("a mounted folder is a file that is read or written", () => {
    expect(
      effects({ action: "run", image: "x", volumes: ["./a:/a:ro", "~/b:/b", "named:/c"] }),
    ).toMatchObject([
      { action: "docker:run" },
      { action: "file:read", resource: "/work/a" },
      { action: "file:write", resource: "/home/me/b" },
    ]);
    expect(hostMounts(["named:/c", "/d"])).toEqual([]);
  });

  it("an image is fetched from its registry", () => {
    expect(effects({ action: "pull", image: "quay.io/a/b:1" })).toMatchObject([
      { action: "docker:run" },
      { action: "network:fetch", resource: "https://quay.io/" },
    ]);
    expect(registryOf("alpine")).toBe("https://docker.io/");
    expect(registryOf("library/alpine:3")).toBe("https://docker.io/");
    expect(registryOf("localhost:5000/x")).toBe("https://localhost:5000/");
  });
});

describe("without an engine", () => {
  it.each<Partial<Args> & Pick<Args, "action">>([
    { action: "run", image: "--privileged" },
    { action: "exec", container: "-it", command: ["sh"] },
    { action: "run", image: "x", volumes: ["--mount=type=bind"] },
    { action: "run", image: "x", env: { "A=B --privileged": "1" } },
    { action: "logs" },
  ])("what the engine would take for an option is refused: %o", async (args) => {
    const ctx = makeContext();
    const failed = tool.handler({ engine: "auto", tail: 200, timeout_seconds: 60, ...args }, ctx);
    await expect(failed).rejects.toMatchObject({ code: "invalid_arguments" });
    await ctx.cleanUp();
  });

  it("says which were tried and how to get one", async () => {
    const ctx = makeContext({ environment: createLocalEnvironment({ env: { PATH: "/nowhere" } }) });
    const failed = tool.handler({ action: "ps", engine: "auto", tail: 200, timeout_seconds: 60 }, ctx);
    await expect(failed).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringMatching(/docker: .*podman: /),
      hint: expect.stringContaining("apt-get install podman"),
    });
    await ctx.cleanUp();
  });
});

describe("in the strict boundary", () => {
  it("nothing is started that it does not hold, unless a person has opened it", async (context) => {
    needs(context, "bwrap");
    const { runtime } = await testRuntime([tool], { flags: { "terminal.sandbox": "strict" } });
    const session = await runtime.openSession({ approver: { ask: async () => "once" } });
    const { error } = await session.call({
      name: "docker_manage",
      arguments: { action: "run", image: "alpine" },
    });
    expect(error).toMatchObject({ code: "denied", message: expect.stringContaining("strict boundary") });
  });
});

describe("rows", () => {
  it("are the same whichever engine wrote them", () => {
    const docker =
      '{"ID":"abc","Names":"web","Image":"nginx","Command":"\\"nginx -g\\"","State":"running","Status":"Up 2 minutes","Ports":"0.0.0.0:80->80/tcp, :::80->80/tcp","CreatedAt":"now"}\n';
    const podman =
      '[{"Id":"abc","Names":["web"],"Image":"nginx","Command":["nginx","-g"],"State":"running","Status":"Up 2 minutes","Ports":[{"host_ip":"","container_port":80,"host_port":80,"protocol":"tcp"}],"CreatedAt":"now"}]';
    const [first] = readRows(docker).map(containerRow);
    const [second] = readRows(podman).map(containerRow);
    expect(first).toMatchObject({ id: "abc", name: "web", command: "nginx -g", state: "running" });
    expect({ ...second, ports: [] }).toEqual({ ...first, ports: [] });
    expect(second?.ports).toEqual(["0.0.0.0:80->80/tcp"]);
    expect(imageRow({ Id: "sha256:1", Names: ["localhost:5000/app:2"], Size: 5 })).toMatchObject({
      id: "1",
      repository: "localhost:5000/app",
      tag: "2",
    });
  });
});

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalEnvironment } from "../../../src/env/local/local.js";
import type { DockerOutput } from "../../../src/tools/platform/docker-manage.js";
import tool from "../../../src/tools/platform/docker-manage.js";
import type { TestEngine } from "../../support/docker-engine.js";
import { makeContext, type TestContext } from "../context.js";

const PASSED = ["DOCKER_HOST", "DOCKER_BUILDKIT", "CONTAINERS_CONF", "CONTAINERS_STORAGE_CONF", "TMPDIR"];

/** What both engines must do, with a real one. */
export function describeManage(
  name: "docker" | "podman",
  engine: () => { readonly test: TestEngine; readonly env: NodeJS.ProcessEnv },
): void {
  let ctx: TestContext;
  beforeEach(() => {
    ctx = makeContext({ environment: createLocalEnvironment({ env: engine().env, passthrough: PASSED }) });
  });
  afterEach(() => ctx.cleanUp());

  type Args = Parameters<typeof tool.handler>[0];
  const call = async (args: Partial<Args> & Pick<Args, "action">): Promise<DockerOutput> =>
    (await tool.handler({ engine: name, tail: 200, timeout_seconds: 60, ...args }, ctx)) as DockerOutput;
  const failure = async (args: Partial<Args> & Pick<Args, "action">) =>
    call(args).then(
      () => {
        throw new Error("it did not fail");
      },
      (error: unknown) => error,
    );

  describe(name, () => {
    it("runs a program to its end and tells its output and exit code", async () => {
      const image = engine().test.shImage;
      expect(
        await call({
          action: "run",
          image,
          env: { WHO: "Ada" },
          command: ["sh", "-c", 'echo "hi $WHO"; exit 3'],
        }),
      ).toMatchObject({ engine: name, exit_code: 3, output: expect.stringContaining("hi Ada") });
      expect((await call({ action: "ps", all: true })).containers).toEqual([]);
    });

    it("starts one in the background, looks at it, and removes it", async () => {
      const image = engine().test.shImage;
      const env = { DB_PASSWORD: "hidden-word", MODE: "test" };
      const started = await call({
        action: "run",
        image,
        name: "web",
        detach: true,
        env,
        command: ["sh", "-c", "echo begun; exec sleep 300"],
      });
      expect(started).toMatchObject({ container: "web", id: expect.stringMatching(/^[0-9a-f]{64}$/) });
      expect((await call({ action: "ps" })).containers).toMatchObject([
        { id: started.id, name: "web", state: "running", image: expect.stringContaining("hermes-test-sh") },
      ]);
      await expect
        .poll(async () => (await call({ action: "logs", container: "web" })).output)
        .toContain("begun");
      expect(await call({ action: "exec", container: "web", command: ["cat", "/nowhere"] })).toMatchObject({
        exit_code: 1,
      });
      const { details } = await call({ action: "inspect", container: "web" });
      expect(JSON.stringify(details)).toContain("MODE=test");
      expect(JSON.stringify(details)).not.toContain("hidden-word");
      expect((await call({ action: "stats", container: "web" })).containers).toMatchObject([{ name: "web" }]);
      expect(await call({ action: "rm", container: "web", force: true })).toMatchObject({ removed: "web" });
      expect((await call({ action: "ps", all: true })).containers).toEqual([]);
    });

    it("lists images and builds one", async () => {
      const folder = join(ctx.folder, "app");
      mkdirSync(folder);
      writeFileSync(join(folder, "Dockerfile"), `FROM ${engine().test.shImage}\nCOPY hello.txt /hello.txt\n`);
      writeFileSync(join(folder, "hello.txt"), "built\n");
      await call({ action: "build", path: folder, tag: "hermes-test-built" });
      expect((await call({ action: "images" })).images).toEqual(
        expect.arrayContaining([
          expect.objectContaining({
            repository: expect.stringContaining("hermes-test-built"),
            tag: "latest",
          }),
        ]),
      );
      expect(
        await call({ action: "run", image: "hermes-test-built", command: ["cat", "/hello.txt"] }),
      ).toMatchObject({
        exit_code: 0,
        // The engine may warn of its host before.
        output: expect.stringMatching(/(?:^|\n)built\n$/),
      });
      expect(await call({ action: "rm", image: "hermes-test-built" })).toMatchObject({
        removed: "hermes-test-built",
      });
    });

    it("a run that is cancelled or takes too long leaves no container", { timeout: 60_000 }, async () => {
      const names = async () =>
        ((await call({ action: "ps", all: true })).containers as { name: string }[]).map((one) => one.name);
      const sleep = { image: engine().test.shImage, command: ["sh", "-c", "trap '' TERM; sleep 300 & wait"] };
      expect(await failure({ action: "run", ...sleep, timeout_seconds: 3 })).toMatchObject({
        code: "timeout",
      });
      expect(await names()).toEqual([]);
      const stop = new AbortController();
      const environment = createLocalEnvironment({ env: engine().env, passthrough: PASSED });
      const stopped = makeContext({ environment, signal: stop.signal });
      const running = Promise.resolve(
        tool.handler({ engine: name, tail: 200, timeout_seconds: 60, action: "run", ...sleep }, stopped),
      ).then(
        () => "ended by itself",
        () => "stopped",
      );
      await expect.poll(names, { timeout: 20_000 }).toHaveLength(1);
      stop.abort();
      expect(await running).toBe("stopped");
      expect(await names()).toEqual([]);
      await stopped.cleanUp();
    });

    it("what is missing is told with what to do", async () => {
      expect(await failure({ action: "run", image: "hermes-test-none" })).toMatchObject({
        hint: expect.stringContaining("pull"),
      });
      expect(await failure({ action: "logs", container: "none" })).toMatchObject({ code: "not_found" });
    });
  });
}

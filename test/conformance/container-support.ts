import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createDockerEnvironment } from "../../src/env/docker/docker.js";
import { runningWith } from "../sandbox/support.js";
import type { TestEngine } from "../support/docker-engine.js";
import type { ConformanceSubject } from "./environment.js";

/** Containers of one engine that the test starts itself. */
export function containerSubject(subject: {
  readonly engine: "docker" | "podman";
  readonly image: "image" | "shImage";
  start(): Promise<TestEngine>;
}): ConformanceSubject {
  return {
    traits: {
      place: "/root",
      startMs: 2_500,
      largeOutputBytes: 60_000_000,
      canCut: true,
      ...(subject.image === "shImage" && { lacks: { bash: "the image has no bash" } }),
    },
    async start() {
      const engine = await subject.start();
      const home = mkdtempSync(join(tmpdir(), "hermes-conformance-"));
      let opened = 0;
      const containers = () =>
        engine.api.json<readonly { readonly Id: string; readonly State: string }[]>({
          path: "/containers/json",
          query: { all: true },
        });
      return {
        async open({ passthrough = [] } = {}) {
          opened += 1;
          return createDockerEnvironment({
            engine: subject.engine,
            host: `unix://${engine.socket}`,
            image: engine[subject.image],
            task: `conformance-${opened}`,
            home,
            network: false,
            passthrough,
            sandboxDir: join(home, "sandboxes"),
          });
        },
        async leftovers() {
          const ids = (await containers()).map(({ Id }) => `container ${Id.slice(0, 12)}`);
          return [...ids, ...readdirSync(home)].sort();
        },
        // A container's processes are this machine's, seen from here.
        running: async (variable, value) => runningWith(variable, value),
        async cut(environment) {
          const { facts } = await environment.describe();
          const all = await containers();
          const own = all.find(({ Id }) => Id.startsWith(facts.container ?? "?"));
          if (own === undefined) throw new Error(`no container for ${JSON.stringify(facts)}`);
          await engine.api.send({ method: "POST", path: `/containers/${own.Id}/kill` });
        },
        async stop() {
          rmSync(home, { recursive: true, force: true });
          await engine.stop();
        },
      };
    },
  };
}

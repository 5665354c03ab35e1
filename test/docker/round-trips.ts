import { createServer, connect as dial } from "node:net";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { runCall } from "../../src/call/run-call.js";
import type { CallScope } from "../../src/call/scope.js";
import type { TestEngine } from "../support/docker-engine.js";
import { testRuntime } from "../support/runtime.js";
import { open, run, tempFolder } from "./support.js";

const STARTED = /POST \S*\/exec\/\w+\/start HTTP/g;

/** A door to the engine that counts how often a program is started in a container. */
async function countingDoor(engine: TestEngine): Promise<{ readonly host: string; starts(): number }> {
  const path = join(tempFolder(), "engine.sock");
  const requests: string[] = [];
  // The end of a program's input is told by closing one direction.
  const server = createServer({ allowHalfOpen: true }, (client) => {
    const at = requests.push("") - 1;
    const behind = dial({ path: engine.socket, allowHalfOpen: true });
    client.on("data", (bytes: Buffer) => {
      requests[at] += bytes.toString("latin1");
    });
    client.pipe(behind).pipe(client);
    for (const one of [client, behind])
      one.on("error", () => {
        client.destroy();
        behind.destroy();
      });
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  onTestFinished(() => void server.close());
  return {
    host: `unix://${path}`,
    starts: () => requests.reduce((sum, text) => sum + (text.match(STARTED)?.length ?? 0), 0),
  };
}

export function describeRoundTrips(engine: () => TestEngine): void {
  describe("file tools", () => {
    it.each(["image", "shImage"] as const)(
      "read in two round trips, write and patch in three (%s)",
      async (image) => {
        const door = await countingDoor(engine());
        const environment = await open(engine(), { image: engine()[image], host: door.host });
        const { runtime } = await testRuntime([], { builtins: true, yolo: true });
        const session = await runtime.openSession();
        const scope: CallScope = { ...session.scope, environment, home: "/root" };
        await run(environment, "printf 'one\\ntwo\\n' >/root/note.txt");
        const trips = async (name: string, args: unknown) => {
          const before = door.starts();
          const result = await runCall({ id: "c", name, arguments: args }, scope, {});
          expect(result.ok, result.human).toBe(true);
          const made = door.starts() - before;
          expect(made).toBeGreaterThan(0);
          return made;
        };
        const path = "/root/note.txt";
        expect(await trips("read_file", { path })).toBeLessThanOrEqual(2);
        expect(await trips("write_file", { path, content: "one\ntwo\nthree\n" })).toBeLessThanOrEqual(3);
        expect(await trips("patch", { path, old_string: "two", new_string: "2" })).toBeLessThanOrEqual(3);
        expect(await trips("write_file", { path: "/root/a/b/new", content: "x" })).toBeLessThanOrEqual(3);
        expect((await run(environment, "cat /root/note.txt /root/a/b/new")).output).toBe("one\n2\nthree\nx");
      },
    );
  });
}

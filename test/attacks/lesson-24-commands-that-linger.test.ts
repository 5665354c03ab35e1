import { createServer } from "node:net";
import { describe, expect, it } from "vitest";
import { living, oddSeconds } from "../processes/support.js";
import { outOf, shell } from "./shell.js";

function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, "127.0.0.1", () => {
      const { port } = server.address() as { port: number };
      server.close(() => resolve(port));
    });
  });
}

describe.runIf(process.platform === "linux")(
  "lesson 24: a command that leaves something behind does not hang the call",
  () => {
    it.each([
      ["&", (s: string) => `sleep ${s} &`],
      ["nohup", (s: string) => `nohup sleep ${s}`],
      ["setsid", (s: string) => `setsid sleep ${s}`],
      ["& in a subshell", (s: string) => `(sleep ${s} &)`],
      ["& before another command", (s: string) => `sleep ${s} & echo started`],
    ])("%s is refused before anything starts", async (_what, command) => {
      const { run } = await shell();
      const seconds = oddSeconds();
      const result = await run(command(seconds));
      expect(result.error?.code).toBe("invalid_arguments");
      expect(living(seconds)).toEqual([]);
    });

    it.each([
      ["hidden in a string", (s: string) => `bash -c 'sleep ${s} &'; echo done`],
      ["hidden in eval", (s: string) => `eval "sleep ${s} &"; echo done`],
      ["a coprocess", (s: string) => `coproc sleep ${s}; echo done`],
      ["given up", (s: string) => `bash -c 'sleep ${s} >/dev/null 2>&1 & disown'; echo done`],
    ])("%s: the answer comes when the shell ends, and names what still runs", async (_what, command) => {
      const { run } = await shell();
      const seconds = oddSeconds();
      const started = performance.now();
      const result = await run(command(seconds), { timeout: 20 });
      expect(performance.now() - started).toBeLessThan(8_000);
      expect(outOf(result).output).toContain("done");
      const left = living(seconds);
      expect(left).toHaveLength(1);
      expect(outOf(result).still_running?.join()).toContain(String(left[0]));
    });

    it("standard input is empty: what waits for it ends at once", async () => {
      const { run } = await shell();
      const result = await run("cat; read line; echo read:$?", { timeout: 10 });
      expect(outOf(result).output).toContain("read:1");
    });

    it.each([
      ["at once", "exit 3"],
      ["after 100 ms", "sleep 0.1; echo no such database; exit 3"],
    ])("a server that dies %s is not reported as started", async (_what, command) => {
      const { call } = await shell();
      const started = outOf(await call("terminal", { command, background: true }));
      expect(started).toMatchObject({ status: "exited", exit_code: 3, error: expect.any(String) });
      const waited = outOf(
        await call("terminal", { command, background: true, ready: { pattern: "listening" } }),
      );
      expect(waited).toMatchObject({ status: "exited", exit_code: 3, ready: false });
    });

    it("a server that is up is ready to be used when the answer comes", async () => {
      const { call } = await shell();
      const port = await freePort();
      const serve = `require("http").createServer((q,a)=>a.end("ok")).listen(${port},"127.0.0.1")`;
      const command = `sleep 0.4; exec node -e '${serve}'`;
      const started = outOf(await call("terminal", { command, background: true, ready: { port } }));
      expect(started).toMatchObject({ status: "running", ready: true });
      expect(await (await fetch(`http://127.0.0.1:${port}/`)).text()).toBe("ok");
    });

    it("a command that dies says so", async () => {
      const { run } = await shell();
      const result = await run("kill -SEGV $$");
      expect(outOf(result).exit_code).toBe(139);
    });
  },
);

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { ToolError } from "../../src/tool/errors.js";
import { installed, openPlace, processesWith, until } from "./there.js";

async function errorOf(work: Promise<unknown>): Promise<ToolError> {
  const error: unknown = await work.catch((thrown: unknown) => thrown);
  if (!ToolError.isInstance(error)) throw new Error(`no ToolError but ${String(error)}`);
  return error;
}

describe.each(installed)("a connection to $flavour that is cut", ({ flavour, missing }) => {
  test.skipIf(missing)("is an error, and what was left is ended before the next command", async () => {
    const { run, transport, lost } = openPlace(flavour);
    let mark = "";
    const running = run("echo $HERMES_EXEC_ID; (setsid sleep 71 >/dev/null 2>&1 &); sleep 72", {
      onChunk: (text) => {
        mark += text;
      },
    });
    await until(() => mark.includes("\n"));
    transport.cut();
    const error = await errorOf(running);
    expect(error.code).toBe("unavailable");
    expect(error.message).toBe(
      "The connection to there was lost while the command ran (the line was cut); whether it finished is unknown.",
    );
    expect(lost).toEqual(["the line was cut"]);
    expect(processesWith(mark.trim()).length).toBeGreaterThan(0);
    const [next, other] = await Promise.all([run("echo works"), run("echo too")]);
    expect([next.output, other.output]).toEqual(["works\n", "too\n"]);
    await until(() => processesWith(mark.trim()).length === 0, 100);
  });
});

describe("losing the connection", () => {
  test("while a tree is being ended is an error", async () => {
    const { run, transport } = openPlace("dash");
    await run("true");
    const { start } = transport;
    let starts = 0;
    transport.start = async (request) => {
      starts += 1;
      const process = await start.call(transport, request);
      if (starts === 2) transport.cut("gone while ending");
      return process;
    };
    const error = await errorOf(run("sleep 73", { timeoutMs: 200 }));
    expect(error.code).toBe("unavailable");
    transport.start = start;
    expect((await run("echo again")).output).toBe("again\n");
  });

  test("when the command is already over does not matter", async () => {
    const { run, transport } = openPlace("dash");
    await run("true");
    const { start } = transport;
    transport.start = (request) =>
      start.call(transport, {
        ...request,
        onStderr: (bytes) => {
          request.onStderr(bytes);
          // The report is here; only a grandchild keeps the streams.
          if (Buffer.from(bytes).includes(":x:8")) transport.cut();
        },
      });
    const running = run("sleep 2 & exit 8");
    expect((await running).exitCode).toBe(8);
  });

  test("ends what runs in the background as lost", async () => {
    const { environment, transport, root } = openPlace("dash");
    const process = await environment.spawn({ command: "sleep 74", cwd: root, onOutput: () => {} });
    transport.cut();
    expect(await process.ended).toEqual({ exitCode: 137, lost: "the line was cut" });
    expect(await process.waitsForInput()).toBe(false);
    await environment.connect();
    expect(processesWith(process.mark)).toEqual([]);
  });

  test("in the middle of a file operation is an error, and the next one works", async () => {
    const { environment, transport, root } = openPlace("dash");
    const path = join(root, "large");
    writeFileSync(path, Buffer.alloc(30_000_000));
    const reading = (async () => {
      for await (const chunk of environment.files.stream(path)) if (chunk.byteLength > 0) transport.cut();
    })();
    expect((await errorOf(reading)).code).toBe("unavailable");
    expect((await environment.files.read(path, { end: 3 })).byteLength).toBe(3);
  });

  test("for good is told by every call", async () => {
    const { run, environment, transport, root } = openPlace("dash");
    await run("true");
    transport.cut();
    transport.refuse = "There is no route to it.";
    for (const work of [
      run("echo local?"),
      environment.files.stat(root),
      environment.spawn({ command: "true", cwd: root, onOutput: () => {} }),
    ]) {
      expect((await errorOf(work)).message).toBe("There is no route to it.");
    }
    transport.refuse = undefined;
    expect((await run("echo back")).output).toBe("back\n");
  });

  test("between two commands costs nothing but a new look around", async () => {
    const { run, transport } = openPlace("dash");
    await run("true");
    const before = transport.started.length;
    await run("true");
    expect(transport.started.length).toBe(before + 1);
    transport.cut();
    await run("true");
    expect(transport.started.length).toBe(before + 3);
  });
});

describe("ending trees", () => {
  test.skipIf(installed[2]?.missing)("works with nothing but a shell", async () => {
    const { run, root } = openPlace("busybox");
    const { rmSync } = await import("node:fs");
    for (const tool of ["grep", "awk"]) rmSync(join(root, "bin", tool));
    const result = await run("echo $HERMES_EXEC_ID; (setsid sleep 75 &); sleep 76", { timeoutMs: 300 });
    expect(result.exitCode).toBe(124);
    expect(processesWith(result.output.slice(0, 36))).toEqual([]);
  });
});

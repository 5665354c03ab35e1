// @needs sshd ssh
import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { sshTerminalMissing } from "../support/ssh-server.js";
import {
  eventually,
  optionsFor,
  ownSocketFolders,
  processesWith,
  run,
  serverForTest,
  transportForTest,
} from "./support.js";

describe("programs over ssh", () => {
  it("tells exit codes apart, also 255, and signals from both", async () => {
    const transport = transportForTest(optionsFor(await serverForTest()));
    const ends = [];
    for (const script of ["exit 0", "exit 3", "exit 255", "kill -9 $$", "kill -TERM $$"]) {
      ends.push((await run(transport, ["sh", "-c", script])).end);
    }
    expect(ends).toEqual([0, 3, 255, 137, 143].map((exitCode) => ({ exitCode })));
    expect((await run(transport, ["/no/such/program"])).end).toEqual({ exitCode: 127 });
  });

  it("carries bytes unchanged in both directions and keeps stderr apart", async () => {
    const transport = transportForTest(optionsFor(await serverForTest()));
    const bytes = Buffer.from(
      Array.from({ length: 3_000_000 }, (_, index) => (index * 7 + (index >> 8)) % 256),
    );
    const echoed = await run(transport, ["sh", "-c", "echo aside >&2; cat"], { stdin: bytes });
    expect(echoed.bytes.equals(bytes)).toBe(true);
    expect(echoed.stderr).toBe("aside\n");
    expect(echoed.end).toEqual({ exitCode: 0 });
    const empty = await run(transport, ["sh", "-c", "wc -c"]);
    expect(empty.stdout.trim()).toBe("0");
  });

  it("a program that does not read its input ends all the same", async () => {
    const transport = transportForTest(optionsFor(await serverForTest()));
    const ended = await run(transport, ["sh", "-c", "exit 4"], { stdin: Buffer.alloc(20_000_000) });
    expect(ended.end).toEqual({ exitCode: 4 });
  });

  it("input can be written piece by piece and closed", async () => {
    const transport = transportForTest(optionsFor(await serverForTest()));
    let seen = "";
    const cat = await transport.start({
      argv: ["cat"],
      stdin: "open",
      onStdout: (bytes) => {
        seen += Buffer.from(bytes).toString();
      },
      onStderr: () => {},
    });
    await cat.write("one ");
    expect(await eventually(() => seen === "one ")).toBe(true);
    await cat.write(Buffer.from("two"));
    await cat.closeInput();
    expect(await cat.ended).toEqual({ exitCode: 0 });
    await cat.write("into the void");
    expect(seen).toBe("one two");
  });

  it("paused output makes the program wait and loses nothing", async () => {
    const server = await serverForTest();
    const transport = transportForTest(optionsFor(server));
    let received = 0;
    const started = await transport.start({
      argv: ["sh", "-c", `head -c 20000000 /dev/zero; touch '${server.home}/done'`],
      onStdout: (bytes) => {
        received += bytes.length;
      },
      onStderr: () => {},
    });
    started.pauseOutput(true);
    await eventually(() => readdirSync(server.home).includes("done"), 500);
    expect(readdirSync(server.home)).not.toContain("done");
    started.pauseOutput(false);
    expect(await started.ended).toEqual({ exitCode: 0 });
    expect(received).toBe(20_000_000);
  });

  it("what still holds the streams can be let go of", async () => {
    const transport = transportForTest(optionsFor(await serverForTest()));
    let seen = "";
    const started = await transport.start({
      argv: ["sh", "-c", "sleep 3.25 & echo started"],
      onStdout: (bytes) => {
        seen += Buffer.from(bytes).toString();
      },
      onStderr: () => {},
    });
    await eventually(() => seen !== "");
    started.abandon();
    await started.ended;
    expect((await run(transport, ["echo", "next"])).stdout).toBe("next\n");
  });

  it.skipIf(sshTerminalMissing() !== undefined)(
    "a terminal has the size it was given, can be resized, and ends on the end-of-file key",
    async () => {
      const transport = transportForTest(optionsFor(await serverForTest()));
      let seen = "";
      const started = await transport.start({
        argv: ["sh", "-c", 'stty size; read line; stty size; echo "got $line"; cat; echo over'],
        stdin: "open",
        pty: { columns: 97, rows: 31 },
        onStdout: (bytes) => {
          seen += Buffer.from(bytes).toString();
        },
        onStderr: () => {},
      });
      expect(await eventually(() => seen.includes("31 97"))).toBe(true);
      started.resize({ columns: 120, rows: 40 });
      await started.write("word\n");
      expect(await eventually(() => seen.includes("40 120") && seen.includes("got word"))).toBe(true);
      await started.closeInput();
      expect(await started.ended).toEqual({ exitCode: 0 });
      expect(seen).toContain("over");
    },
  );

  it("20 programs run at the same time although a connection takes only 10", async () => {
    const server = await serverForTest();
    const transport = transportForTest(optionsFor(server));
    // Each waits until it sees all the others.
    const script = `touch "$HOME/$1"; until [ "$(ls "$HOME" | wc -l)" = 20 ]; do sleep 0.05; done; echo "$1"`;
    const all = Array.from({ length: 20 }, (_, index) =>
      run(transport, ["sh", "-c", script, "sh", String(index)]),
    );
    const outputs = (await Promise.all(all)).map(({ stdout }) => stdout.trim());
    expect(outputs).toEqual(Array.from({ length: 20 }, (_, index) => String(index)));
    expect(transport.connections).toBeGreaterThan(1);
  });

  it("MaxSessions 3: further programs get connections of their own, and when there are no more, wait for room", async () => {
    const server = await serverForTest({ maxSessions: 3 });
    const transport = transportForTest(optionsFor(server, { maxConnections: 3 }));
    const script = `touch "$HOME/$1"; until [ "$(ls "$HOME" | wc -l)" -ge 9 ]; do sleep 0.05; done; echo "$1"`;
    const all = Array.from({ length: 14 }, (_, index) =>
      run(transport, ["sh", "-c", script, "sh", String(index)]),
    );
    const outputs = (await Promise.all(all)).map(({ stdout }) => stdout.trim());
    expect(outputs).toEqual(Array.from({ length: 14 }, (_, index) => String(index)));
    expect(transport.connections).toBe(3);
  });

  it("a server that gives out no sessions is named, not tried for ever", async () => {
    const transport = transportForTest(optionsFor(await serverForTest({ maxSessions: 0 })));
    await expect(run(transport, ["true"])).rejects.toMatchObject({
      code: "unavailable",
      message: /run programs/,
    });
  });

  it("a closed transport leaves no process and no socket, and refuses further work", async () => {
    const server = await serverForTest();
    const options = optionsFor(server);
    const transport = transportForTest(options);
    await run(transport, ["true"]);
    expect(readdirSync(options.controlDir)).toHaveLength(1);
    expect(processesWith(options.controlDir)).not.toEqual([]);
    const running = await transport.start({
      argv: ["cat"],
      stdin: "open",
      onStdout: () => {},
      onStderr: () => {},
    });
    await transport.close();
    expect(await running.ended).toHaveProperty("lost");
    expect(readdirSync(options.controlDir)).toEqual([]);
    expect(processesWith(options.controlDir)).toEqual([]);
    await expect(run(transport, ["true"])).rejects.toMatchObject({ code: "unavailable" });
  });

  it("an unused connection is closed after a while and opened again on demand", async () => {
    const server = await serverForTest();
    const options = optionsFor(server, { idleSeconds: 0.2 });
    const transport = transportForTest(options);
    await run(transport, ["sleep", "0.5"]);
    expect(await eventually(() => readdirSync(options.controlDir).length === 0)).toBe(true);
    expect(await eventually(() => server.connections().length === 0)).toBe(true);
    expect(transport.broken).toBe(false);
    expect((await run(transport, ["echo", "again"])).stdout).toBe("again\n");
  });

  it("a control folder with a long or odd path is replaced by a short one, which goes with the connection", async () => {
    const server = await serverForTest();
    const controlDir = `${server.folder}/${"long-".repeat(30)}/a%b`;
    const transport = transportForTest(optionsFor(server, { controlDir }));
    expect((await run(transport, ["echo", "hi"])).stdout).toBe("hi\n");
    expect(ownSocketFolders(process.pid)).toHaveLength(1);
    await transport.close();
    expect(ownSocketFolders(process.pid)).toEqual([]);
  });
});

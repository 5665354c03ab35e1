import { randomBytes } from "node:crypto";
import { expect, test } from "vitest";
import type { Transport, TransportEnd, TransportStart } from "../../../src/env/remote/transport.js";

export interface Ran {
  readonly stdout: Buffer;
  readonly stderr: Buffer;
  readonly end: TransportEnd;
}

type Request = Omit<TransportStart, "onStdout" | "onStderr">;

export async function startCollecting(transport: Transport, request: Request) {
  const stdout: Uint8Array[] = [];
  const stderr: Uint8Array[] = [];
  let arrived: () => void = () => {};
  const process = await transport.start({
    ...request,
    onStdout: (bytes) => {
      stdout.push(bytes);
      arrived();
    },
    onStderr: (bytes) => stderr.push(bytes),
  });
  return {
    process,
    text: () => Buffer.concat(stdout).toString(),
    /** Waits until the output so far matches. */
    async until(pattern: RegExp): Promise<void> {
      while (!pattern.test(Buffer.concat(stdout).toString()))
        await new Promise<void>((resolve) => {
          arrived = resolve;
        });
    },
    ran: async (): Promise<Ran> => {
      const end = await process.ended;
      return { stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr), end };
    },
  };
}

export async function runOver(transport: Transport, request: Request): Promise<Ran> {
  return await (await startCollecting(transport, request)).ran();
}

/** What every transport of a cloud service must keep; the remote layer builds on nothing else. */
export function keepsTransportContract(open: () => Transport): void {
  const sh = (script: string): string[] => ["sh", "-c", script, "sh"];

  test("two streams stay apart, arguments arrive exactly, the exit code comes back", async () => {
    const odd = ["a b", "", "it's", '"$HOME"', "new\nline", "-n", "é\u0001"];
    const ran = await runOver(open(), { argv: [...sh('printf "%s|" "$@"; echo wrong >&2; exit 3'), ...odd] });
    expect(ran.stdout.toString()).toBe(`${odd.join("|")}|`);
    expect(ran.stderr.toString()).toBe("wrong\n");
    expect(ran.end).toEqual({ exitCode: 3 });
  });

  test("standard input is empty when left out, and any bytes pass both ways unchanged", async () => {
    const empty = await runOver(open(), { argv: sh("wc -c; cat >/dev/null") });
    expect(empty.stdout.toString().trim()).toBe("0");
    const all = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
    const small = await runOver(open(), { argv: ["cat"], stdin: all });
    expect(small.stdout).toEqual(all);
    const large = randomBytes(1_500_000);
    const big = await runOver(open(), { argv: sh("cat; cat /dev/null >&2"), stdin: large });
    expect(big.stdout.equals(large)).toBe(true);
    expect(big.end).toEqual({ exitCode: 0 });
  });

  test("input can be written while the program runs, and ended", async () => {
    const running = await startCollecting(open(), {
      argv: sh('while read line; do echo "got $line"; done; echo end'),
      stdin: "open",
    });
    await running.process.write("one\n");
    await running.until(/got one/);
    await running.process.write(Buffer.from("two\n"));
    await running.until(/got two/);
    await running.process.closeInput();
    expect(await running.ran()).toMatchObject({ end: { exitCode: 0 } });
    expect(running.text()).toBe("got one\ngot two\nend\n");
  });

  test("a killed program ends with 128 and the signal", async () => {
    expect((await runOver(open(), { argv: sh("kill -TERM $$") })).end).toEqual({ exitCode: 143 });
  });

  test("output that nobody takes makes the program wait, and is complete later", async () => {
    const running = await startCollecting(open(), {
      argv: sh("head -c 12000000 /dev/zero | tr '\\0' x; echo done >&2"),
    });
    running.process.pauseOutput(true);
    await new Promise((resolve) => setTimeout(resolve, 300));
    running.process.pauseOutput(false);
    const ran = await running.ran();
    expect(ran.stdout.length).toBe(12_000_000);
    expect(ran.stderr.toString()).toBe("done\n");
  });

  test("a program whose streams are still held can be let go", async () => {
    const running = await startCollecting(open(), { argv: sh("sleep 30 & echo started") });
    await running.until(/started/);
    running.process.abandon();
    await running.process.ended;
    const after = await runOver(open(), { argv: sh("pkill sleep || kill $(pidof sleep); echo next") });
    expect(after.stdout.toString()).toBe("next\n");
  });

  test("a terminal has the wanted size, takes typed text and changes its size", async () => {
    const running = await startCollecting(open(), {
      argv: sh('stty size; read x; echo "<$x>"; stty size; exit 4'),
      stdin: "open",
      pty: { columns: 101, rows: 33 },
    });
    await running.until(/33 101/);
    running.process.resize({ columns: 66, rows: 22 });
    await new Promise((resolve) => setTimeout(resolve, 700));
    await running.process.write("typed\n");
    const ran = await running.ran();
    expect(ran.stdout.toString()).toMatch(/^33 101\r\ntyped\r\n<typed>\r\n22 66\r\n$/);
    expect(ran.end).toEqual({ exitCode: 4 });
  });

  test("many programs at the same time keep their own streams", async () => {
    const ran = await Promise.all(
      Array.from({ length: 8 }, (_, n) => runOver(open(), { argv: sh(`sleep 0.1; echo ${n}; exit ${n}`) })),
    );
    expect(ran.map(({ stdout, end }) => [stdout.toString(), end])).toEqual(
      Array.from({ length: 8 }, (_, n) => [`${n}\n`, { exitCode: n }]),
    );
  });
}

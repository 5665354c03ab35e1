// @needs bwrap python3
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { findControlGroups } from "../../src/env/sandbox/control-groups.js";
import { defineTool } from "../../src/index.js";
import type { AnyTool } from "../../src/tool/tool.js";
import { makePlace, type Place } from "./escapes/place.js";
import { openScripts, runningIn, type ScriptSession } from "./escapes/script-session.js";

const MIB = 1024 ** 2;
const counted = findControlGroups() !== undefined || process.getuid?.() !== 0;
let place: Place;
let scripts: ScriptSession;
let gated: ScriptSession;
let forbiddenCalls = 0;
const forbidden = defineTool({
  name: "forbidden_probe",
  description: "Not for scripts",
  parameters: { type: "object", properties: {} },
  handler() {
    forbiddenCalls += 1;
    return { reached: true };
  },
});

beforeAll(async () => {
  place = await makePlace();
  const flags = {
    "code_execution.memory_mb": 128,
    "code_execution.max_processes": 40,
    "code_execution.max_stdout_bytes": 20_000,
  };
  scripts = await openScripts(place, { flags, withoutGate: true });
  gated = await openScripts(place, { flags, tools: [forbidden as AnyTool] });
});
afterEach(() => {
  expect(runningIn(place.workspace)).toEqual([]);
});
afterAll(async () => {
  await scripts.close();
  await gated.close();
  await place.close();
});

/** What this process holds more at its highest than before. */
async function growthDuring(work: () => Promise<unknown>): Promise<number> {
  const before = process.memoryUsage().rss;
  let highest = before;
  const timer = setInterval(() => {
    highest = Math.max(highest, process.memoryUsage().rss);
  }, 20);
  await work();
  clearInterval(timer);
  return highest - before;
}

describe("a bomb ends by itself or in its time, with words, and leaves nothing", () => {
  test("forks", async (context) => {
    if (!counted) context.skip("[ci-cannot] nothing counts the processes of root here");
    const started = performance.now();
    const bomb = "import os\nwhile True:\n  try: os.fork()\n  except OSError: pass";
    const result = await scripts.run("python", bomb, 1);
    expect(result).toMatchObject({
      status: "timeout",
      error: expect.stringContaining("time of 1 s was over"),
    });
    expect(performance.now() - started).toBeLessThan(15_000);
  });

  test("threads", async (context) => {
    if (!counted) context.skip("[ci-cannot] nothing counts the threads of root here");
    const bomb =
      "import threading, time\nn = 0\ntry:\n  while n < 5000: threading.Thread(target=time.sleep, args=(5,), daemon=True).start(); n += 1\nexcept RuntimeError as e: print(n, e)";
    const result = await scripts.run("python", bomb);
    const [, started] = /^(\d+) can't start new thread/.exec(result.output) ?? [];
    expect(Number(started)).toBeLessThanOrEqual(44);
  });

  test.each([
    ["python", "held = []\nwhile True: held.append(bytearray(1 << 20))"],
    ["javascript", "const held = []; for (;;) held.push(Buffer.alloc(1 << 20, 1));"],
  ] as const)("memory in %s", async (language, code) => {
    const result = await scripts.run(language, code);
    expect(result.status).toBe("error");
    expect(result.error).toMatch(/more than 128 MB of memory|MemoryError|exit code 134/);
  });

  test("temporary files", async () => {
    const bomb =
      "n = 0\ntry:\n  with open('/tmp/big', 'wb', 0) as f:\n    while n < 4000: f.write(b'x' * (1 << 20)); n += 1\nexcept OSError as e: print(n, e.strerror)";
    const { output } = await scripts.run("python", bomb);
    expect(output).toMatch(/^\d+ No space left on device/);
    expect(Number.parseInt(output, 10)).toBeLessThanOrEqual(64);
  });

  test("output", async () => {
    let printed = 0;
    const growth = await growthDuring(async () => {
      const flood = "import os\nfor _ in range(200): os.write(1, b'x' * (1 << 20))\nprint('end')";
      const { output, status } = await scripts.run("python", flood);
      expect(status).toBe("success");
      expect(output.endsWith("end\n")).toBe(true);
      printed = output.length;
    });
    expect(printed).toBeLessThan(25_000);
    expect(growth).toBeLessThan(120 * MIB);
  });

  test("descriptors", async () => {
    const bomb =
      "import os\nn = 0\ntry:\n  while True: os.open('/dev/null', 0); n += 1\nexcept OSError as e: print(n)";
    expect(Number((await scripts.run("python", bomb)).output)).toBeLessThanOrEqual(4_096);
  });

  test("a signal to everybody ends the script alone", async () => {
    await scripts.run("python", "import os\nif os.fork() == 0: os.kill(-1, 9)\nos.wait()", 5);
    expect(place.victimLives()).toBe(true);
    expect(await scripts.run("python", "print('next')")).toMatchObject({ output: "next\n" });
  });
});

describe("what a script starts ends with it", () => {
  const alive = () => join(place.workspace, "alive");

  test.each([
    [
      "python",
      "import os, time\nif os.fork() == 0:\n  os.setsid()\n  if os.fork(): os._exit(0)\n  for n in (0, 1, 2): os.close(n)\n  while True: open('alive', 'a').close(); time.sleep(0.02)\ntime.sleep(0.2)",
    ],
    [
      "javascript",
      "const { spawn } = await import('node:child_process'); spawn('setsid', ['nohup', 'sh', '-c', 'while :; do touch alive; sleep 0.02; done'], { detached: true, stdio: 'ignore' }).unref(); await new Promise((ok) => setTimeout(ok, 200))",
    ],
  ] as const)("a daemon in %s", async (language, code) => {
    const result = await scripts.run(language, code);
    expect(result.status).toBe("success");
    expect(existsSync(alive())).toBe(true);
    rmSync(alive());
    await new Promise((resolve) => setTimeout(resolve, 120));
    expect(existsSync(alive())).toBe(false);
  });
});

describe("the channel of a script", () => {
  /** Finds the channel that the script is not shown, and writes to it from a child. */
  const forge = (lines: string) => `
import gc, json, os, sys, time
channel = next(o for o in gc.get_objects() if type(o).__name__ == "Channel")
def send(kind, payload, more=b"."):
    os.write(4, channel.token + kind + more + b"%04x" % len(payload) + payload)
def ask(key, name, arguments={}):
    send(b"q", json.dumps([key, name, arguments]).encode())
    return channel.receive()
if os.fork() == 0:
    try:
${lines.replace(/^/gm, "        ")}
    finally: os._exit(0)
os.wait()
time.sleep(0.05)
print("end")
`;

  test("gives no tool that scripts do not have, whoever asks", async () => {
    const result = await gated.run(
      "python",
      forge(
        'for name in ("forbidden_probe", "execute_code", "process", "cronjob", "clarify", "no_such_tool"): print(json.dumps(ask(900, name)[2:]), flush=True)',
      ),
    );
    const answers = result.output.trim().split("\n").slice(0, -1);
    expect(answers).toHaveLength(6);
    for (const answer of answers) expect(JSON.parse(answer)[0]).toBe(false);
    expect(forbiddenCalls).toBe(0);
  });

  test("gives a thief of its token the tools of the script and nothing more", async () => {
    const result = await gated.run(
      "python",
      forge('print(json.dumps(ask(901, "read_file", {"path": "readme.txt"})[2:]), flush=True)'),
    );
    expect(result.output).toContain("hello");
    const outside = JSON.stringify({ path: `${place.hermesHome}/.env` });
    const refused = await gated.run(
      "python",
      forge(`print(ask(902, "read_file", ${outside})[2:], flush=True)`),
    );
    expect(refused.output).not.toContain("canary");
  });

  test("takes nonsense, and what never ends, without harm", async () => {
    const nonsense = [
      ...[
        "null",
        "[]",
        "{}",
        "[1]",
        '["a", "b"]',
        "[1e99, null]",
        '{"error": {"deep": []}}',
        "[".repeat(2_000),
      ],
    ].flatMap((text) =>
      ["h", "q", "e", "x", "d", "?"].map((kind) => `send(b"${kind}", ${JSON.stringify(text)}.encode())`),
    );
    const result = await gated.run(
      "python",
      forge([...nonsense, 'os.write(4, channel.token + b"q.zzzz")'].join("\n")),
    );
    expect(result.output).toContain("end");
    expect(typeof (result.error ?? "")).toBe("string");

    const growth = await growthDuring(() =>
      gated.run("python", forge("for _ in range(50_000): send(b'q', b'x' * 4000, b'+')")),
    );
    expect(growth).toBeLessThan(140 * MIB);
  });

  test("does not fill up with answers that nobody reads", async () => {
    const growth = await growthDuring(() =>
      gated.run("python", forge("for _ in range(200_000): send(b'q', b'[7,\"no_such_tool\",{}]')"), 4),
    );
    expect(growth).toBeLessThan(100 * MIB);
  });
});

import { join } from "node:path";
import { describe, expect, test } from "vitest";
import type { RunningProcess, SpawnRequest } from "../../src/env/environment.js";
import { isMissingFolder } from "../../src/env/working-folder.js";
import { installed, openPlace, processesWith, until } from "./there.js";

function spawned(place: ReturnType<typeof openPlace>) {
  const printed: { text: string } = { text: "" };
  const start = (
    command: string | readonly string[],
    more: Partial<SpawnRequest> = {},
  ): Promise<RunningProcess> =>
    place.environment.spawn({
      command,
      cwd: place.root,
      onOutput: (bytes) => {
        printed.text += Buffer.from(bytes).toString();
      },
      ...more,
    });
  return { printed, start };
}

describe.each(installed)("programs that go on through $flavour", ({ flavour, missing }) => {
  test.skipIf(missing)("take input, print, and end", async () => {
    const place = openPlace(flavour);
    const { start, printed } = spawned(place);
    const process = await start("echo ready; cat; echo over; exit 5");
    expect(process.pty).toBe(false);
    expect(processesWith(process.mark)).toContain(process.pid);
    await process.write("some ");
    await process.write(Buffer.from("text\n"));
    await until(() => printed.text.includes("text"));
    expect(await process.waitsForInput()).toBe(true);
    expect(() => process.resize({ columns: 10, rows: 10 })).toThrow(/terminal/);
    await process.closeInput();
    expect(await process.ended).toEqual({ exitCode: 5 });
    expect(printed.text).toBe("ready\nsome text\nover\n");
    await expect(process.write("late")).rejects.toThrow(/does not take input/);
    expect(await process.waitsForInput()).toBe(false);
  });

  test.skipIf(missing)("are ended with everything they started, also what changed its session", async () => {
    const place = openPlace(flavour);
    const { start } = spawned(place);
    const process = await start("(setsid sleep 81 &); sh -c 'trap \"\" TERM; sleep 82' & sleep 83");
    await until(() => processesWith(process.mark).length >= 3);
    expect(await process.waitsForInput()).toBe(false);
    expect(await process.end()).toEqual([]);
    expect(processesWith(process.mark)).toEqual([]);
    await process.ended;
    const inner = await start("sleep 88 | cat");
    await until(() => processesWith(inner.mark).length >= 3);
    expect(await inner.waitsForInput()).toBe(false);
    await inner.end();
    const left = await start("(setsid sleep 84 >/dev/null 2>&1 &)");
    await left.ended;
    expect(processesWith(left.mark).length).toBe(1);
    expect(await left.end()).toEqual([]);
    expect(processesWith(left.mark)).toEqual([]);
  });

  test.skipIf(missing)("run in a terminal", async () => {
    const place = openPlace(flavour, { passthrough: { HUSH: "in the dark" } });
    const { start, printed } = spawned(place);
    const process = await start('stty size; echo "$TERM $HUSH"; read name; echo "hello $name"; cat; exit 3', {
      pty: { columns: 91, rows: 31 },
    });
    expect(process.pty).toBe(true);
    await until(() => printed.text.includes("dark"));
    await until(async () => (await process.waitsForInput()) === true);
    await process.write("you\r");
    await until(() => printed.text.includes("hello you"));
    await process.closeInput();
    expect(await process.ended).toEqual({ exitCode: 3 });
    expect(printed.text).toBe("31 91\r\nxterm-256color in the dark\r\nyou\r\nhello you\r\n");
  });

  test.skipIf(missing)("say when they cannot begin", async () => {
    const place = openPlace(flavour);
    const { start, printed } = spawned(place);
    const gone = join(place.root, "gone");
    for (const pty of [undefined, { columns: 80, rows: 24 }]) {
      const error: unknown = await start("pwd", { cwd: gone, ...(pty && { pty }) }).catch(
        (thrown: unknown) => thrown,
      );
      expect(isMissingFolder(error, gone)).toBe(true);
    }
    expect(printed.text).toBe("");
    const nothing = await start(["no-such-program", "x"]);
    expect((await nothing.ended).exitCode).toBe(127);
  });
});

describe("programs that go on", () => {
  test("end when the environment closes", async () => {
    const place = openPlace("dash");
    const { start } = spawned(place);
    const processes = await Promise.all([
      start("sleep 85"),
      start("(setsid sleep 86 &); exit 0"),
      start(["sleep", "87"]),
    ]);
    await place.environment.close();
    for (const process of processes) expect(processesWith(process.mark)).toEqual([]);
    await Promise.all(processes.map((process) => process.ended));
    await expect(start("true")).rejects.toThrow(/closed/);
  });

  test("wait while their output is not taken", async () => {
    const place = openPlace("dash");
    let received = 0;
    const process = await place.environment.spawn({
      command: "yes",
      cwd: place.root,
      onOutput: (bytes) => {
        received += bytes.byteLength;
      },
    });
    await until(() => received > 100_000);
    process.pauseOutput(true);
    await new Promise((resolve) => setTimeout(resolve, 200));
    const paused = received;
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(received).toBe(paused);
    process.pauseOutput(false);
    await until(() => received > paused + 100_000);
    expect(await process.end()).toEqual([]);
  });

  test("lose nothing of what was not taken before they ended", async () => {
    const place = openPlace("dash");
    let received = 0;
    const process = await place.environment.spawn({
      command: "read go; head -c 60000 /dev/zero",
      cwd: place.root,
      onOutput: (bytes) => {
        received += bytes.byteLength;
      },
    });
    process.pauseOutput(true);
    await process.write("\n");
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    process.pauseOutput(false);
    await process.ended;
    expect(received).toBe(60_000);
  });

  test("large variables reach a terminal too, and nothing of them is shown", async () => {
    const place = openPlace("bash");
    const { start, printed } = spawned(place);
    const value = `${"é'\\\n\u0003\u0004\r".repeat(3_000)}end`;
    const process = await start('printf %s "$BIG" | sha256sum', {
      env: { BIG: value },
      pty: { columns: 200, rows: 24 },
    });
    await process.ended;
    const { createHash } = await import("node:crypto");
    expect(printed.text).toBe(`${createHash("sha256").update(value).digest("hex")}  -\r\n`);
  });
});

import { type ChildProcess, spawn } from "node:child_process";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { RuntimeEvent } from "../../../src/observe/events.js";
import { findNotifier } from "../../../src/tools/system/notification/notifiers.js";
import notification from "../../../src/tools/system/notification.js";
import { needs } from "../../support/needs.js";
import { testRuntime } from "../../support/runtime.js";
import { makeContext } from "../context.js";

function withoutDesktop(): void {
  for (const name of ["DBUS_SESSION_BUS_ADDRESS", "XDG_RUNTIME_DIR", "DISPLAY", "WSL_DISTRO_NAME"]) {
    vi.stubEnv(name, "");
  }
}
afterEach(() => {
  vi.unstubAllEnvs();
});

test("without a desktop it goes to the event stream and does not claim to be delivered", async () => {
  withoutDesktop();
  const { runtime } = await testRuntime([], { builtins: true });
  const events: RuntimeEvent[] = [];
  runtime.events.on((event) => events.push(event));
  const session = await runtime.openSession({});
  const result = await session.call({
    name: "notification",
    arguments: { title: "Build", message: "is done" },
  });
  expect(result.structured).toMatchObject({
    delivered: false,
    backend: "log",
    note: expect.stringContaining("no desktop session"),
  });
  expect(events).toContainEqual(
    expect.objectContaining({ type: "call.progress", progress: { message: "🔔 Build: is done" } }),
  );
});

test.each(["darwin", "win32"] as const)("on %s no text is read as an option or a script", (platform) => {
  const notifier = findNotifier({ platform, env: {} });
  if ("missing" in notifier) throw new Error(notifier.missing);
  const { argv, env } = notifier.show({ title: "-e", message: "$(calc) \"; 'x", urgency: "normal" });
  if (platform === "darwin") expect(argv.slice(argv.indexOf("--"))).toEqual(["--", "-e", "$(calc) \"; 'x"]);
  else expect([argv.includes("-e"), env?.HERMES_NOTICE_TITLE]).toEqual([false, "-e"]);
});

describe("a real desktop", () => {
  beforeEach((context) => needs(context, "Xvfb", "dbus-run-session", "dunst", "notify-send"));

  const started: ChildProcess[] = [];
  afterEach(async () => {
    for (const child of started.splice(0).reverse()) {
      const ended = new Promise((resolve) => child.once("exit", resolve));
      if (child.exitCode === null && child.signalCode === null) {
        child.kill();
        await ended;
      }
    }
  });

  function firstLine(child: ChildProcess, descriptor: number): Promise<string> {
    started.push(child);
    return new Promise((resolve, reject) => {
      child.stdio[descriptor]?.once("data", (bytes: Buffer) => resolve(bytes.toString().trim()));
      child.once("exit", () => reject(new Error(`${child.spawnfile} ended at once`)));
    });
  }

  test("shows titles that look like options and messages that look like markup as they are", async () => {
    const screen = spawn(
      "Xvfb",
      ["-displayfd", "3", "-noreset", "-nolisten", "tcp", "-screen", "0", "640x480x24"],
      {
        stdio: ["ignore", "ignore", "ignore", "pipe"],
      },
    );
    const display = `:${await firstLine(screen, 3)}`;
    const bus = spawn("dbus-daemon", ["--session", "--nofork", "--print-address=1"], {
      stdio: ["ignore", "pipe", "ignore"],
    });
    const address = await firstLine(bus, 1);
    const desktop = { DISPLAY: display, DBUS_SESSION_BUS_ADDRESS: address };
    const dunst = spawn("dunst", ["-print", "-conf", "/dev/null"], {
      env: { ...process.env, ...desktop },
      stdio: ["ignore", "pipe", "ignore"],
    });
    started.push(dunst);
    let printed = "";
    dunst.stdout?.on("data", (bytes: Buffer) => {
      printed += bytes.toString();
    });
    for (const [name, value] of Object.entries(desktop)) vi.stubEnv(name, value);
    const ctx = makeContext();
    const show = () =>
      notification.handler(
        { title: "--version", message: "C:\\new <b>bold</b> & more", urgency: "critical", timeout: 5 },
        ctx,
      ) as unknown as Promise<Record<string, unknown>>;
    // The bus knows dunst a moment after it has started.
    let result = await show();
    for (let tries = 0; result.backend === "log" && tries < 50; tries += 1) {
      await delay(100);
      result = await show();
    }
    expect(result).toMatchObject({ delivered: true, backend: "notify-send" });
    await vi.waitFor(() => expect(printed).toContain("summary"), { timeout: 5_000, interval: 50 });
    expect(printed).toMatch(/summary: '?--version/);
    expect(printed).toMatch(/C:\\new/);
    expect(printed).toMatch(/(?:&lt;|<)b(?:&gt;|>)bold/);
    expect(printed).toMatch(/urgency: '?CRITICAL/i);
    await ctx.cleanUp();
  });
});

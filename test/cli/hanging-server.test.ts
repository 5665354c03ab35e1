import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { hermes, linesOf, outcomeOf, start, tempFolder, until } from "./hermes.js";

/** A home with one server that takes every message and answers none. */
function homeWithHangingServer(): string {
  const home = tempFolder();
  writeFileSync(join(home, "hang.mjs"), "process.stdin.resume(); setInterval(() => {}, 1000);");
  writeFileSync(
    join(home, "config.yaml"),
    `mcp_servers:\n  hang:\n    command: ${process.execPath}\n    args: [${join(home, "hang.mjs")}]\n`,
  );
  return home;
}

it("built-in tools wait for no server", async () => {
  const home = homeWithHangingServer();
  const called = await hermes(["call", "sleep", "seconds=0.01"], { home });
  expect(called).toMatchObject({ code: 0 });
  expect(called.stderr).not.toMatch(/waiting/);
  const info = await hermes(["tools", "info", "sleep"], { home });
  expect(info.code).toBe(0);
});

it("a name that nobody has ends the command with an error instead of keeping it for ever", async () => {
  const home = homeWithHangingServer();
  const asked = await hermes(["tools", "info", "nosuch"], { home });
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining("nosuch") });
  const called = await hermes(["call", "nosuch"], { home });
  expect(called.code).toBe(2);
});

it("who waits for a server says so, before the waiting is over", async () => {
  for (const command of [["tools", "list"], ["doctor"], ["call", "mcp_hang_anything"]]) {
    const child = start(command, { home: homeWithHangingServer() });
    let said = "";
    child.stderr?.on("data", (chunk) => {
      said += String(chunk);
    });
    await until(() => said.includes("waiting for MCP server hang"), `${command.join(" ")} speaks`);
    expect(child.exitCode).toBeNull();
    child.kill("SIGKILL");
  }
});

it("a server that fails again and again for one reason is warned of once", async () => {
  const home = tempFolder();
  writeFileSync(join(home, "config.yaml"), "mcp_servers:\n  gone:\n    command: /nonexistent/program\n");
  const child = start(["call", "sleep", "seconds=2"], { home });
  const { stderr } = await outcomeOf(child);
  expect(linesOf(stderr).filter((line) => line.includes("MCP server gone"))).toHaveLength(1);
});

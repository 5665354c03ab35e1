// @needs bwrap
import { spawn } from "node:child_process";
import { closeSync, existsSync, openSync } from "node:fs";
import { expect, it } from "vitest";
import { main, outcomeOf, plainEnvironment, tempFolder } from "./hermes.js";

const PROGRAMS = [
  "/usr/bin/perl",
  "/bin/perl",
  "/usr/local/bin/perl",
  "/usr/bin/bwrap",
  "/bin/bwrap",
  "/usr/local/bin/bwrap",
];

/** The program on this machine as it would be without Perl and bubblewrap. */
function withoutBoth(args: readonly string[], more: readonly (number | "ignore")[] = []) {
  const home = tempFolder();
  const gone = PROGRAMS.filter((path) => existsSync(path)).flatMap((path) => [
    "--ro-bind",
    "/dev/null",
    path,
  ]);
  return spawn(
    "bwrap",
    ["--die-with-parent", "--dev-bind", "/", "/", ...gone, "--", process.execPath, main, ...args],
    {
      cwd: home,
      env: plainEnvironment(home),
      stdio: ["pipe", "pipe", "pipe", ...more],
    },
  );
}

it.each([
  ["doctor", ["doctor"]],
  ["the banner", []],
] as const)(
  "%s says in words that nothing holds commands back, and names the packages",
  async (_name, args) => {
    const { stdout } = await outcomeOf(withoutBoth(args));
    expect(stdout).toMatch(/⚠.*(?:no boundary|nothing keeps commands)/i);
    expect(stdout).toMatch(/package perl|package bubblewrap/);
  },
);

it("a server says it when it starts", async () => {
  const server = withoutBoth(["serve", "--port", "0"]);
  const over = outcomeOf(server);
  let said = "";
  server.stdout?.on("data", (chunk) => {
    said += String(chunk);
  });
  await expect.poll(() => said, { timeout: 60_000, interval: 50 }).toContain("Ctrl-C");
  server.kill("SIGKILL");
  expect(said).toMatch(/⚠ Nothing keeps commands from your credentials[^\n]*\n\s*Fix: .*package/);
  await over;
});

it("a command inherits nothing that the runtime was started with", async () => {
  const secret = openSync(main, "r");
  // Node itself takes care of the first sixteen.
  const more = [...Array.from({ length: 17 }, () => "ignore" as const), secret];
  const child = withoutBoth(["call", "terminal", "command=ls -l /proc/$$/fd"], more);
  closeSync(secret);
  const { stdout } = await outcomeOf(child);
  expect(stdout).toContain("0 -> ");
  expect(stdout).not.toContain(main);
});

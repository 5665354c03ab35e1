import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { cutToWidth } from "../../src/base/cell-width.js";
import { draftsFrom } from "../../src/cli/mcp/draft.js";
import { errorLine, hermes, hermesJson, outcomeOf, start, tempFolder, until } from "./hermes.js";

it("status and open find the server of this home; a second one is told where the first is", async () => {
  const home = tempFolder();
  expect((await hermes(["status"], { home })).code).toBe(4);
  const server = start(["serve", "--port", "0", "--json"], { home });
  let said = "";
  server.stdout?.on("data", (chunk) => {
    said += String(chunk);
  });
  await until(() => said.includes("\n"), "the server is up");
  const { url, port } = JSON.parse(said) as { readonly url: string; readonly port: number };
  expect(await hermesJson(["status"], { home })).toMatchObject({ running: true, url });
  expect(await hermesJson<{ page: string }>(["open"], { home })).toMatchObject({
    url,
    page: expect.stringContaining("token="),
  });
  const second = await hermes(["serve", "--port", String(port)], { home });
  expect(second.stderr).toContain(url);
  const gone = outcomeOf(server);
  server.kill("SIGTERM");
  await gone;
  expect(existsSync(join(home, "server.json"))).toBe(false);
  expect(await hermesJson(["status"], { home })).toMatchObject({ running: false });
});

it("cron add refuses what could never run, and says that no server runs", async () => {
  const home = tempFolder();
  expect((await hermes(["cron", "add", "1h", "sleep"], { home })).stderr).toContain("--tool sleep");
  expect((await hermes(["cron", "add", "1h", "--tool", "slep"], { home })).stderr).toContain("sleep");
  expect((await hermes(["cron", "add", "1h", "--tool", "sleep", "minutes=3"], { home })).code).toBe(2);
  const added = await hermes(["cron", "add", "1h", "--tool", "sleep", "seconds=3"], { home });
  expect(added).toMatchObject({ code: 0, stderr: expect.stringContaining("No server runs") });
});

it("mcp add knows addresses, and . means this folder later too", async () => {
  expect(await draftsFrom(["https://mcp.linear.app/mcp"], {})).toMatchObject([
    { name: "linear", section: { url: "https://mcp.linear.app/mcp" } },
  ]);
  expect(await draftsFrom(["mine", "http://127.0.0.1:1/mcp"], {})).toMatchObject([
    { name: "mine", section: { url: "http://127.0.0.1:1/mcp" } },
  ]);
  expect(await draftsFrom(["files", "npx", "-y", "server", ".", "../other", ".hidden"], {})).toMatchObject([
    {
      section: {
        command: "npx",
        args: ["-y", "server", process.cwd(), join(process.cwd(), "../other"), ".hidden"],
      },
    },
  ]);
});

it("a name that leads nowhere is no refusal", async () => {
  const { error } = errorLineOf(
    await hermes(["call", "http_request", "url=http://nosuch.invalid/", "--json"]),
  );
  expect(error.message).toContain("could not be resolved");
  expect(error.code).toBe("failed");
  expect(error.hint).not.toMatch(/operator|refus/i);
});

function errorLineOf(outcome: Parameters<typeof errorLine>[0]) {
  return { error: errorLine(outcome) };
}

it("calls lists what was called, calls show says all of it", async () => {
  const home = tempFolder();
  await hermes(["call", "sleep", "seconds=0"], { home });
  const [row] = await hermesJson<{ seq: number; tool: string; status: string }[]>(["calls"], { home });
  expect(row).toMatchObject({ tool: "sleep", status: "ok" });
  expect((await hermes(["calls", "show", String(row?.seq)], { home })).stdout).toMatch(/^tool +sleep$/m);
  expect((await hermes(["calls", "show", "999"], { home })).code).toBe(2);
});

it("arguments may be typed like options", async () => {
  const home = tempFolder();
  writeFileSync(join(home, "note.txt"), "hello");
  for (const words of [["--path", "note.txt"], ["--path=note.txt"]]) {
    const { code, stdout } = await hermes(["call", "read_file", ...words, "--json"], { home });
    expect(code).toBe(0);
    expect(stdout).toContain("hello");
  }
});

it("tool list is tools list; the help has groups, examples and the flags that apply everywhere", async () => {
  expect((await hermes(["tool", "list"])).stdout).toContain("read_file");
  const help = (await hermes(["--help"])).stdout;
  for (const part of ["Calling tools:", "Set-up:", "Examples:", "hermes calls show 12"])
    expect(help).toContain(part);
  expect((await hermes(["calls", "list", "--help"])).stdout).toContain("--json");
});

it("a home that the kernel makes up is refused at once", async () => {
  const { code, stderr } = await hermes(["call", "sleep", "seconds=0"], {
    env: { HERMES_HOME: "/proc/self/x" },
  });
  expect(code).toBe(2);
  expect(stderr).toContain("/proc/self/x cannot be the Hermes home");
});

it("a line of a table fits the terminal, colours and all", () => {
  expect(cutToWidth("short", 10)).toBe("short");
  expect(cutToWidth("0123456789abc", 10)).toBe("012345678…");
  expect(cutToWidth("\u001b[2m0123456789abc\u001b[22m", 10)).toBe("\u001b[2m012345678…\u001b[0m");
});

it("a denial names the setting and the page; a question that waits is shown where the server runs", async () => {
  const home = tempFolder();
  const risky = { name: "terminal", arguments: { command: "rm -rf precious" } };
  const denied = await hermes(["call", risky.name, JSON.stringify(risky.arguments)], { home });
  expect(denied).toMatchObject({ code: 5, stderr: expect.stringContaining("approvals.unattended_mode") });
  expect(denied.stderr).toMatch(/main\.js open\)/);
  writeFileSync(join(home, "config.yaml"), "approvals:\n  unattended_mode: queue\n");
  const server = start(["serve", "--port", "0"], { home });
  const said = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"] as const)
    server[name]?.on("data", (chunk) => {
      said[name] += String(chunk);
    });
  await until(() => said.stdout.includes("Ctrl-C"), "the server is up");
  const [, page = ""] = /Open\s+(\S+)/.exec(said.stdout) ?? [];
  const { origin, searchParams } = new URL(page);
  const body = {
    tool_calls: [
      { id: "a", type: "function", function: { ...risky, arguments: JSON.stringify(risky.arguments) } },
    ],
  };
  const leaving = new AbortController();
  const asked = fetch(`${origin}/v1/tool_calls`, {
    method: "POST",
    signal: leaving.signal,
    headers: { authorization: `Bearer ${searchParams.get("token")}`, "content-type": "application/json" },
    body: JSON.stringify(body),
  }).catch(() => undefined);
  await until(
    () => /terminal asks for approval[\s\S]*rm -rf precious[\s\S]*approvals approve/.test(said.stderr),
    "the question is shown",
  );
  leaving.abort();
  await asked;
  const gone = outcomeOf(server);
  server.kill("SIGTERM");
  await gone;
}, 30_000);

it("config list is all settings, as a table or as JSON", async () => {
  const [shown, listed] = await Promise.all([
    hermes(["config", "list"]),
    hermes(["config", "list", "--json"]),
  ]);
  expect(shown.stdout).toContain("approvals.mode = manual");
  expect(JSON.parse(listed.stdout)).toContainEqual(expect.objectContaining({ key: "approvals.mode" }));
});

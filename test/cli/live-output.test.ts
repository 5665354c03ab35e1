import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { LiveOutput } from "../../src/cli/session/live-output.js";
import type { CallResult } from "../../src/tool/call.js";
import { hermes, main, tempFolder, until } from "./hermes.js";
import { needsTerminal, onTerminal } from "./terminal.js";

const finished = (fields: Partial<CallResult>): CallResult =>
  ({ ok: true, human: "", ...fields }) as CallResult;

it("output comes in whole lines, masked, without what steers a terminal, and once", () => {
  const lines: string[] = [];
  const live = new LiveOutput({
    redact: (text) => text.replace("hush", "***"),
    write: (line) => lines.push(line),
  });
  for (const chunk of ["on", "e\nhu", "sh\r", "\n\u001b[2Jbar 1\rbar 2\n", "end"]) live.take({ chunk });
  live.take({ message: "not output" });
  const structured = { output: "one\n***\nend", exit_code: 3 };
  const rest = live.restOf(finished({ human: "one\n***\nend\nexit code 3", structured }));
  expect(lines).toEqual(["one", "***", "bar 1", "bar 2", "end"]);
  expect(rest.human).toBe("exit code 3");
  expect(live.restOf(finished({ ok: false, structured })).structured).toEqual({ exit_code: 3 });
});

it("a result of which nothing was shown is shown whole", () => {
  const live = new LiveOutput({ redact: (text) => text, write: () => undefined });
  const result = finished({ human: "all of it", structured: { output: "all of it" } });
  expect(live.restOf(result)).toBe(result);
});

it("on a terminal a command's lines are there while it runs, and once", async ({ skip }) => {
  needsTerminal(skip);
  const home = tempFolder();
  const gate = join(tempFolder(), "go-on");
  const command = `echo fir""st; until [ -e ${gate} ]; do sleep 0.05; done; echo sec""ond; exit 4`;
  let seen = "";
  const done = onTerminal([process.execPath, main, "call", "terminal", JSON.stringify({ command })], {
    home,
    type: [],
    onScreen: (screen) => {
      seen = screen;
    },
  });
  await until(() => seen.includes("first"), "the first line is shown while the command waits");
  expect(existsSync(gate)).toBe(false);
  writeFileSync(gate, "");
  const { screen, code } = await done;
  expect(screen.match(/first/g)).toHaveLength(1);
  expect(screen.match(/second/g)).toHaveLength(1);
  expect(screen).toContain("exit code 4");
  expect(code).toBe(3);
}, 30_000);

it("without a terminal, and with --json, the result comes in one piece", async () => {
  const args = ["call", "terminal", JSON.stringify({ command: "echo a; echo b" })];
  expect((await hermes(args)).stdout).toBe("a\nb\n");
  expect(JSON.parse((await hermes([...args, "--json"])).stdout).structured.output).toBe("a\nb\n");
});

import { spawn } from "node:child_process";
import { describe, expect, it } from "vitest";
import { hermes, main, outcomeOf, plainEnvironment, tempFolder } from "./hermes.js";

const home = tempFolder();
const ESCAPE = "\u001b";
const EMOJI = /\p{Extended_Pictographic}/u;

/** Runs a pipeline of bash and tells how each part ended. */
async function pipeline(
  script: string,
): Promise<{ stdout: string; stderr: string; codes: readonly number[] }> {
  const child = spawn(
    "bash",
    [
      "-c",
      `hermes() { "${process.execPath}" "${main}" "$@"; }\n${script}\necho "codes \${PIPESTATUS[*]}" >&2`,
    ],
    { cwd: home, env: plainEnvironment(home), stdio: "pipe" },
  );
  child.stdin.end();
  const { stdout, stderr } = await outcomeOf(child);
  const [, codes = ""] = /codes ([\d ]+)\n$/.exec(stderr) ?? [];
  return { stdout, stderr: stderr.replace(/codes [\d ]+\n$/, ""), codes: codes.split(" ").map(Number) };
}

describe("colour and signs", () => {
  it("are forced, refused and left out as the environment says", async () => {
    const [piped, forced, refused, flag, dumb, ci] = await Promise.all([
      hermes(["tools"], { home }),
      hermes(["tools"], { home, env: { FORCE_COLOR: "1" } }),
      hermes(["tools"], { home, env: { FORCE_COLOR: "1", NO_COLOR: "1" } }),
      hermes(["tools", "--no-color"], { home, env: { FORCE_COLOR: "1" } }),
      hermes(["tools"], { home, env: { TERM: "dumb" } }),
      hermes(["tools"], { home, env: { CI: "true" } }),
    ]);
    expect(forced.stdout).toContain(ESCAPE);
    for (const { stdout } of [piped, refused, flag, dumb, ci]) expect(stdout).not.toContain(ESCAPE);
    expect(piped.stdout).toMatch(EMOJI);
    for (const { stdout } of [refused, flag, dumb, ci]) expect(stdout).not.toMatch(EMOJI);
    expect(dumb.stdout).toMatch(/^ok {2}clipboard/m);
  });
});

describe("results on stdout, everything else on stderr", () => {
  it("a long call is announced on stderr only, and --quiet keeps silent", async () => {
    const [said, quiet] = await Promise.all([
      hermes(["call", "sleep", "seconds=1.4"], { home }),
      hermes(["-q", "call", "sleep", "seconds=1.4"], { home }),
    ]);
    expect(said.stdout).toBe("waited 1.4 s\n");
    expect(said.stderr).toContain("sleep  1.4");
    expect(said.stderr).not.toContain(ESCAPE);
    expect(quiet.stdout).toBe("waited 1.4 s\n");
    expect(quiet.stderr).toBe("");
  });

  it("a failed call leaves stdout empty, also with --quiet", async () => {
    for (const flags of [[], ["-q"]]) {
      const done = await hermes([...flags, "call", "read_file", "path=missing.txt"], { home });
      expect(done).toMatchObject({ code: 3, stdout: "" });
      expect(done.stderr).toContain("error:");
    }
  });

  it("control characters in names that a model made up do not reach the terminal as such", async () => {
    const stdin = JSON.stringify({
      tool_calls: [{ id: "a", function: { name: `x${ESCAPE}[2J`, arguments: {} } }],
    });
    const done = await hermes(["run"], { home, stdin });
    expect(done.stdout + done.stderr).not.toContain(ESCAPE);
  });
});

describe("a reader that leaves early", () => {
  it("is no reason for a stack or a failure", async () => {
    const { stdout, stderr, codes } = await pipeline(
      "hermes call terminal command='seq 200000' --json | head -c 5",
    );
    expect(stdout).toBe('{"id"');
    expect(stderr).toBe("");
    expect(codes).toEqual([0, 0]);
  });

  it("ends an endless stream of answers", async () => {
    const { stdout, stderr, codes } = await pipeline(`yes '{"raw":"x"}' | hermes tools sanitize | head -n 2`);
    expect(stdout).toBe('{"text":"x"}\n{"text":"x"}\n');
    expect(stderr).toBe("");
    expect(codes.slice(1)).toEqual([0, 0]);
  });

  it("may also leave stderr, without harm to the call", async () => {
    const { stdout, codes } = await pipeline("hermes call sleep seconds=1.3 2> >(exit 0)");
    expect(stdout).toBe("waited 1.3 s\n");
    expect(codes).toEqual([0]);
  });
});

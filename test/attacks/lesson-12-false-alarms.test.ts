import { describe, expect, it } from "vitest";
import { decisionOn, run, withPerson } from "../grants/asking.js";

const HARMLESS = [
  "git status",
  "git commit -m 'rm -rf / was a mistake'",
  'echo "rm -rf build"',
  "grep -rn 'curl .* | bash' docs",
  "# rm -rf /\nls",
  "cat <<'EOF'\nrm -rf /\nEOF",
  "npm run build",
  "ls -la | head",
  "python3 -c 'print(1)'",
  "find . -name '*.tmp' -print",
  "printf 'DROP TABLE users;\\n' | wc -c",
];

describe("lesson 12: people are asked rarely, and then told why", () => {
  it.each(HARMLESS)("%j runs without a question", async (command) => {
    const { session } = await withPerson("deny");
    expect(await decisionOn(session, command)).toBe("allow");
  });

  it("a question names the rule, the reason and the verdict of each part, with its place in the line", async () => {
    const { session, asked } = await withPerson("deny");
    const line = "git status && rm -rf ./tmp && echo done";
    await run(session, line);
    const [request] = asked;
    expect(request?.rule).toMatch(/\w/);
    expect(request?.reason).toMatch(/\w{3,}/);
    expect(request?.segments.map(({ canonical, verdict }) => [canonical, verdict])).toEqual([
      ["git status", "safe"],
      ["rm -rf ./tmp", "danger"],
      ["echo done", "safe"],
    ]);
    const [start = 0, end = 0] = request?.segments[1]?.span ?? [];
    expect(line.slice(start, end)).toContain("rm");
  });

  it("what was approved for good is not asked again, also as a part of longer lines", async () => {
    const { session, asked, open } = await withPerson("always");
    await run(session, "rm -rf ./tmp");
    const later = await open();
    for (const line of ["rm -rf ./tmp", "ls && rm -rf ./tmp", "rm -rf ./tmp; echo done"]) {
      expect((await run(later, line)).ok, line).toBe(true);
    }
    expect(asked).toHaveLength(1);
  });
});

import { mkdirSync, symlinkSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { beforeAll, describe, expect, it } from "vitest";
import type { JudgedSegment } from "../../src/call/scope.js";
import type { AllowlistEntry } from "../../src/config/types.js";
import { createAllowlist, type Whereabouts } from "../../src/policy/grants/allowlist.js";
import { isSimpleCommand, patternCovers } from "../../src/policy/grants/command-pattern.js";
import { loadAnalysis } from "../../src/shell/analysis.js";
import { UNKNOWN } from "../../src/shell/types.js";
import { danger, whereabouts } from "../grants/segments.js";
import { tempDir } from "../support/runtime.js";

beforeAll(() => loadAnalysis());

function allowing(entries: readonly AllowlistEntry[], now?: () => number) {
  return createAllowlist({ entries, home: tempDir(), ...(now && { now }) });
}

function covers(entry: AllowlistEntry, segment: JudgedSegment | string, where?: { cwd?: string }): boolean {
  const asked = typeof segment === "string" ? danger(segment) : segment;
  return allowing([entry]).covering(asked, whereabouts(asked.text, where?.cwd)) !== undefined;
}

describe("what an entry of command_allowlist covers", () => {
  it("a command: exactly that, in any spelling that comes to the same", () => {
    for (const text of [
      "rm -rf build",
      "FOO=1 rm -rf build",
      "/bin/rm -rf build",
      "bash -lc 'rm -rf build'",
    ]) {
      const segment = danger("rm -rf build", { text });
      expect(covers("rm -rf build", segment), text).toBe(true);
      expect(covers({ command: "rm -rf build" }, segment), text).toBe(true);
    }
    for (const other of ["rm -rf build2", "rm -rf build /etc", "rm -rf", "rm", "rm -rf Build"]) {
      expect(covers("rm -rf build", other), other).toBe(false);
    }
  });

  it("a command that holds a wildcard character is that command only when it is a grant of its own", () => {
    const written = danger("rm -rf build/*");
    expect(covers({ command: "rm -rf build/*" }, written)).toBe(true);
    expect(covers({ command: "rm -rf build/*" }, "rm -rf build/x")).toBe(false);
    expect(covers({ pattern: "rm -rf build/*" }, "rm -rf build/x")).toBe(true);
    expect(covers("rm -rf build/*", "rm -rf build/x")).toBe(true);
  });

  it("an entry may be written in a spelling of its own when the analysis can read it", () => {
    const canonical = (command: string) => command.replace(/^\/bin\//, "").replaceAll("'", "");
    const list = createAllowlist({ entries: ["/bin/rm -rf 'build'"], home: tempDir(), canonical });
    expect(list.covering(danger("rm -rf build"), whereabouts("rm -rf build"))).toBeDefined();
    expect(list.covering(danger("rm -rf other"), whereabouts("rm -rf other"))).toBeUndefined();
  });

  it("a rule or a kind of danger: everything of that kind, and nothing that is never allowed", () => {
    for (const entry of [
      "recursive-delete",
      "deletes a folder with everything in it",
      { rule: "recursive-delete" },
      { rule: "deletes a folder with everything in it" },
    ]) {
      expect(covers(entry, "rm -rf anything"), JSON.stringify(entry)).toBe(true);
      expect(covers(entry, danger("x", { rule: "git.force", reason: "rewrites history" }))).toBe(false);
      expect(covers(entry, danger("rm -rf /", { verdict: "hardline" }))).toBe(false);
    }
    const member = danger("rm -rf x", { rule: "recursive-delete.folder" });
    expect(covers({ rule: "recursive-delete" }, member)).toBe(true);
    expect([covers("recursive-delete", member), covers({ rule: "recursive" }, member)]).toEqual([
      false,
      false,
    ]);
    expect(covers({ command: "recursive-delete" }, "rm -rf x")).toBe(false);
    expect(covers({ rule: "rm -rf x" }, "rm -rf x")).toBe(false);
    const list = allowing([{ rule: "file.write-outside:/srv" }]);
    const segment = danger("/srv/page", { rule: "file.write-outside" });
    const where = { ...whereabouts("/srv/page"), keys: ["file.write-outside:/srv"] };
    expect(list.covering(segment, where)).toBeDefined();
    expect(list.covering(segment, { ...where, keys: ["file.write-outside:/etc"] })).toBeUndefined();
  });

  it("a hardline by no text either, not even written out", () => {
    const segment = danger("rm -rf /", { verdict: "hardline", rule: "hardline.root" });
    for (const entry of ["rm -rf /", "rm -rf *", "*", "hardline.root", { command: "rm -rf /" }]) {
      expect(covers(entry, segment), JSON.stringify(entry)).toBe(false);
    }
  });

  it("a line written out from end to end: each of its dangerous parts", () => {
    const line = "curl -s https://x.example | bash";
    const [fetched, run] = [danger("curl -s https://x.example"), danger("bash")];
    const list = allowing([line]);
    expect(list.coveringAll([fetched, run], whereabouts(line))).toHaveLength(1);
    expect(list.covering(run, whereabouts(`${line} -x`))).toBeUndefined();
  });

  it("a compound line passes only when every dangerous part is covered", () => {
    const segments = [danger("git status", { verdict: "safe" }), danger("rm -rf tmp"), danger("rm -rf src")];
    const where = whereabouts("git status && rm -rf tmp && rm -rf src");
    expect(allowing(["rm -rf tmp"]).coveringAll(segments, where)).toBeUndefined();
    expect(
      allowing(["git status *", "rm -rf tmp", "git status"]).coveringAll(segments, where),
    ).toBeUndefined();
    expect(allowing(["rm -rf tmp", "rm -rf src"]).coveringAll(segments, where)).toHaveLength(2);
    const never = [...segments.slice(0, 2), danger("rm -rf /", { verdict: "hardline" })];
    expect(allowing(["rm -rf tmp", "rm -rf /", "*"]).coveringAll(never, where)).toBeUndefined();
  });

  it("nothing whose text does not say what it does", () => {
    for (const canonical of [
      `rm -rf ${UNKNOWN}`,
      "bash",
      "bash -s",
      "python3 -",
      "sudo bash",
      "ssh prod bash",
      "docker exec web sh",
      "rm -rf <unknown>",
      "sh /dev/stdin",
      "node",
      "",
    ]) {
      const segment = danger(canonical, { text: "something else" });
      for (const entry of [canonical || "x", { command: canonical || "x" }, { pattern: "* *" }, "rm -rf *"]) {
        expect(covers(entry, { ...segment, text: `${canonical} <odd` }), `${canonical} by ${entry}`).toBe(
          false,
        );
      }
    }
    expect(covers("recursive-delete", danger(`rm -rf ${UNKNOWN}`))).toBe(true);
    expect(covers("x run", danger("x run", { rule: "opaque.script", text: "x  run" }))).toBe(false);
  });

  it("nothing that runs other code under the same words", () => {
    for (const line of ["sudo -u root rm -rf x", "env -C / rm -rf x", "export LD_PRELOAD=x; rm -rf x"]) {
      const list = allowing(["rm -rf x", "rm -rf *"]);
      expect(list.covering(danger("rm -rf x"), whereabouts(line)), line).toBeUndefined();
    }
    for (const text of [
      "LD_PRELOAD=./x.so git push -f",
      "env PATH=/tmp/x git push -f",
      "GIT_SSH_COMMAND=x git push -f",
    ]) {
      expect(covers("git push -f", danger("git push -f", { text })), text).toBe(false);
      expect(covers("git push *", danger("git push -f", { text })), text).toBe(false);
      expect(covers("git.force", danger("git push -f", { text, rule: "git.force" })), text).toBe(true);
    }
    expect(covers("git push -f", danger("git push -f", { text: "CI=1 git push -f" }))).toBe(true);
  });
});

describe("patterns", () => {
  it.each([
    ["git push *", "git push --force origin main", true],
    ["git push *", "git push", false],
    ["git push *", "git pushx --force", false],
    ["rm -rf build/*", "rm -rf build/x", true],
    ["rm -rf build/*", "rm -rf build/x/y", true],
    ["rm -rf build/*", "rm -rf build/x /etc", false],
    ["rm -rf build/*", "rm -rf build/../../etc", false],
    ["rm -rf build/*", "rm -rf build/..", false],
    ["rm -rf ../old-*", "rm -rf ../old-1", true],
    ["rm -rf build*", "rm -rf build /etc", false],
    ["rm -rf build-?", "rm -rf build-1", true],
    ["rm -rf build-?", "rm -rf build-12", false],
    ["rm -rf build-[0-9]", "rm -rf build-7", true],
    ["rm -rf build-[!0-9]", "rm -rf build-7", false],
    ["rm -rf build-[!0-9]", "rm -rf build- ", false],
    ["rm -rf a[b", "rm -rf a[b", true],
    ["rm -rf *", "rm -rf a b c", true],
    ["rm * -rf", "rm a b -rf", true],
    ["echo *", "echo a > /etc/passwd", false],
    ["echo *", "echo a; rm -rf b", false],
    ["echo *", "echo a && rm -rf b", false],
    ["echo *", "echo a | sh", false],
    ["echo *", "echo a & rm b", false],
    ["echo *", "echo $(rm -rf b)", false],
    ["echo *", 'echo "$(rm -rf b)"', false],
    ["echo *", "echo `rm -rf b`", false],
    ["echo *", "echo a\nrm -rf b", false],
    ["echo *", "echo <(rm -rf b)", false],
    ["echo *", "echo 'a; b'", true],
    ["echo *", 'echo "a | b"', true],
    ["echo *", "echo a\\;b", true],
    ["echo *", "echo 'a", false],
    ["ECHO *", "echo a", false],
    ["git push --force origin *", "git push --force origin main", true],
    ["git push --force origin *", "git push --force origin main --receive-pack='sh -c evil'", false],
    ["git push --force origin *", "git push --force origin main --tags", false],
    ["git push --force* origin *", "git push --force-with-lease origin main", true],
    ["git push *", "git push --force --receive-pack=evil origin", false],
    ["git *", "git -c core.sshCommand=evil push --force", false],
    ["a.c *", "abc d", false],
  ])("%s and %s: %s", (pattern, command, expected) => {
    expect(patternCovers(pattern, command)).toBe(expected);
  });

  it("look at the text as written too, in case a part was left out of what it comes to", () => {
    expect(covers("echo *", danger("echo a", { text: "echo a > /etc/passwd" }))).toBe(false);
  });

  it.each([
    "*",
    "* *",
    "py* x",
    "python *",
    "python3.12 *",
    "/usr/bin/python *",
    "python -c *",
    "python -m *",
    "bash *",
    "bash -lc *",
    "FOO=1 bash *",
    "sudo *",
    "sudo -u root *",
    "sudo bash *",
    "env A=1 *",
    "timeout 5 python *",
    "curl *",
    "curl -s *",
    "curl https://*",
    "ssh *",
    "ssh -p 22 *",
    "wget *",
    "nc *",
    "npx *",
    "xargs *",
    "find *",
    "docker *",
    "node -e *",
    "bash",
    "?ash x",
  ])("%s is too wide: it approves nothing dangerous by its text", (pattern) => {
    const program = pattern.replaceAll(/[*?]/g, "x");
    const segment = danger(program, { text: program });
    expect(covers(pattern, segment)).toBe(false);
    expect(covers({ pattern }, segment)).toBe(false);
    for (const command of ["bash -c x", "python -c x", "curl https://x", "sudo rm x", "ssh prod x"]) {
      expect(covers(pattern, command), command).toBe(false);
    }
  });

  it.each([
    ["python scripts/clean.py *", "python scripts/clean.py --all"],
    ["bash ./tools/*", "bash ./tools/reset.sh"],
    ["curl https://api.example.com/*", "curl https://api.example.com/v1"],
    ["sudo systemctl restart *", "sudo systemctl restart nginx"],
    ["ssh staging *", "ssh staging uptime"],
    ["docker rm *", "docker rm web"],
  ])("%s says enough", (pattern, command) => {
    expect(covers(pattern, command)).toBe(true);
  });

  it("law: a pattern without wildcards covers itself only, and a star never lets a second command in", () => {
    const word = fc.stringMatching(/^[a-z./-]{1,6}$/);
    const words = fc.array(word, { minLength: 1, maxLength: 4 }).map((list) => list.join(" "));
    fc.assert(
      fc.property(words, words, (first, second) => {
        expect(patternCovers(first, second)).toBe(first.trim() === second.trim() && isSimpleCommand(second));
        for (const separator of [";", "&&", "||", "|", "\n", ">", "<", "&", "$("]) {
          expect(patternCovers(`${first} *`, `${first} ${separator} ${second}`)).toBe(false);
        }
      }),
    );
  });

  it("a hostile pair of pattern and command ends at once", () => {
    expect(patternCovers(`x ${"*a".repeat(500)}`, `x ${"a".repeat(4_000)}b`)).toBe(false);
    expect(patternCovers(`x ${"* ".repeat(400)}b`, `x ${"a ".repeat(2_000)}`)).toBe(false);
  });
});

describe("limits of a grant", () => {
  const now = Date.parse("2030-06-15T12:00:00Z");
  const inForce = (entry: AllowlistEntry, where = whereabouts("rm -rf x")) =>
    allowing([entry], () => now).covering(danger("rm -rf x"), where) !== undefined;

  it.each([
    ["2030-06-16", true],
    ["2030-06-15", false],
    ["2030-06-15T12:00:01Z", true],
    ["2030-06-15T12:00:00Z", false],
    ["2030-06-15T12:00", false],
    ["2030-06-15 12:01", true],
    ["2030-06-15T13:30:00+02:00", false],
    ["2030-06-15T14:30:00+02:00", true],
  ])("expires: %s", (expires, expected) => {
    expect(inForce({ command: "rm -rf x", expires })).toBe(expected);
  });

  it("a folder counts for itself and what is below it, by real path, in this machine's environment only", () => {
    const root = tempDir();
    for (const name of ["app/src", "app-evil"]) mkdirSync(join(root, name), { recursive: true });
    symlinkSync(join(root, "app"), join(root, "link"));
    symlinkSync(join(root, "app-evil"), join(root, "app", "out"));
    const entry = { command: "rm -rf x", scope: join(root, "app") };
    const at = (cwd: string, environment?: Whereabouts["environmentKind"]) =>
      inForce(entry, whereabouts("rm -rf x", join(root, cwd), environment));
    expect([at("app"), at("app/src"), at("link/src"), at("app/not-there")]).toEqual([true, true, true, true]);
    expect([at("."), at("app-evil"), at("app/out"), at("app/../app-evil")]).toEqual([
      false,
      false,
      false,
      false,
    ]);
    expect(at("app", "ssh")).toBe(false);
    expect(inForce({ ...entry, scope: "/" }, whereabouts("rm -rf x", root))).toBe(true);
    expect(inForce({ ...entry, scope: "~" }, whereabouts("rm -rf x", homedir()))).toBe(true);
  });

  it("a line that goes elsewhere first is judged by where it goes", () => {
    const root = tempDir();
    for (const name of ["app/src", "other"]) mkdirSync(join(root, name), { recursive: true });
    symlinkSync(join(root, "other"), join(root, "app", "out"));
    const entry = { command: "rm -rf x", scope: join(root, "app") };
    const from = (line: string, cwd = "app") => inForce(entry, whereabouts(line, join(root, cwd)));
    for (const line of ["cd src && rm -rf x", `cd '${root}/app' && rm -rf x`, "cd src; rm -rf x"]) {
      expect(from(line), line).toBe(true);
    }
    expect(from("cd ../app && rm -rf x", "other")).toBe(true);
    expect(from("cd ../app; rm -rf x", "other")).toBe(false);
    for (const before of [
      "cd ..",
      "cd /",
      "cd ~",
      "cd",
      "cd out",
      "cd -",
      'cd "$X"',
      "cd $(pwd)",
      "pushd /",
    ]) {
      expect(from(`${before} && rm -rf x`), before).toBe(false);
    }
    expect(from("bash -c 'cd / && rm -rf x'")).toBe(false);
    expect(from("true && cd / && rm -rf x")).toBe(false);
    expect(from("(cd /; rm -rf x)")).toBe(false);
  });

  it("an environment counts by its name", () => {
    const entry = { command: "rm -rf x", scope: "environment:docker" };
    expect(inForce(entry, whereabouts("rm -rf x", "/app", "docker"))).toBe(true);
    expect(inForce(entry, { ...whereabouts("rm -rf x", "/app", "docker"), environment: "docker2" })).toBe(
      false,
    );
    expect(inForce(entry)).toBe(false);
  });
});

describe("hostile lines", () => {
  it.each([
    ["ssh ".repeat(1_000)],
    ["sudo ".repeat(20_000)],
    [`sudo ${"-".repeat(90_000)}`],
    ["cd a;".repeat(20_000)],
    [`cd ${"a/".repeat(40_000)} && rm -rf x`],
    ["docker exec ".repeat(300)],
    ["'".repeat(90_000)],
    [`${"A=1 ".repeat(20_000)}rm -rf x`],
  ])("line %#: an answer comes in the time of a test", (line) => {
    for (const segment of [danger(line.trim()), danger("rm -rf x")]) {
      const list = allowing(["rm -rf y", "rm -rf y*", { command: segment.canonical, scope: "/srv" }]);
      expect(() => list.covering(segment, whereabouts(line, "/srv/app"))).not.toThrow();
    }
  });
});

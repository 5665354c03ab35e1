import { describe, expect, it } from "vitest";
import { decisionOn, run, withPerson } from "../grants/asking.js";

const SAME = [
  "rm -rf build",
  "FOO=1 rm -rf build",
  "/bin/rm -rf build",
  "/usr/bin/rm -rf build",
  "bash -lc 'rm -rf build'",
  "timeout 5 rm -rf build",
  "nice -n 5 rm -rf build",
  "env FOO=1 rm -rf build",
  "command rm -rf build",
  "r''m -rf 'build'",
  "\\rm  -rf   build",
  'rm -rf "build"',
  'sh -c "timeout 3 nice rm -rf build"',
];

const DIFFERENT = [
  "sudo rm -rf build",
  "rm -rf build /etc",
  "rm -rf build2",
  "rm -rf Build",
  "rm -rf build > /etc/passwd",
  "LD_PRELOAD=./x.so rm -rf build",
  "PATH=/tmp/x:$PATH rm -rf build",
  "env -C / rm -rf build",
  "sudo -u root rm -rf build",
  "ssh prod rm -rf build",
  "docker exec web rm -rf build",
  "cd / && rm -rf build",
  "bash -c 'cd / && rm -rf build'",
  "chroot /mnt rm -rf build",
  "unshare rm -rf build",
  "systemd-run rm -rf build",
  "X=chroot; $X /mnt rm -rf build",
  "npx rm -rf build",
  "printf -v PATH %s /evil; rm -rf build",
  "for PATH in /evil; do rm -rf build; done",
  "read PATH <<< /evil; rm -rf build",
  "mapfile -t PATH </x; rm -rf build",
  "export P\\ATH=/evil; rm -rf build",
  "declare P''ATH=/evil; rm -rf build",
  'x=PA; export $x"TH"=/evil; rm -rf build',
  'read "$x"; rm -rf build',
  "declare -n p=PATH; p=/evil; rm -rf build",
  `: \${PATH:=/evil}; rm -rf build`,
  "./rm -rf build",
  "/evil/rm -rf build",
  "eval './r\"m\" -rf build'",
  "X=./rm; $X -rf build",
  "RM -rf build",
  "hash -p /evil/rm rm; rm -rf build",
];

describe("lesson 3: the same command in another spelling is not asked again", () => {
  it("one yes covers every spelling of it, in the next session too", async () => {
    const { session, asked, open } = await withPerson("always");
    expect((await run(session, SAME[0] ?? "")).ok).toBe(true);
    const later = await open();
    for (const spelling of SAME) expect(await decisionOn(later, spelling), spelling).toBe("allow");
    for (const spelling of SAME.slice(0, 6)) expect((await run(later, spelling)).ok, spelling).toBe(true);
    expect(asked).toHaveLength(1);
  });

  it("whichever spelling was asked about first", async () => {
    for (const first of SAME.slice(1, 6)) {
      const { session, asked, open } = await withPerson("always");
      expect((await run(session, first)).ok).toBe(true);
      expect(asked[0]?.remember, first).toEqual(["rm -rf build"]);
      expect(await decisionOn(await open(), "rm -rf build")).toBe("allow");
    }
  });

  it("what only looks alike is another command", async () => {
    const { session, open } = await withPerson("always");
    await run(session, "rm -rf build");
    const later = await open();
    for (const command of DIFFERENT) expect(await decisionOn(later, command), command).not.toBe("allow");
  });
});

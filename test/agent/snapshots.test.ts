// @needs git
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { type Snapshot, WorkspaceSnapshots } from "../../src/agent/snapshots.js";
import { tempDir } from "../support/runtime.js";

function workspace() {
  const home = tempDir();
  const folder = tempDir();
  const at = (name: string) => join(folder, name);
  return { home, folder, at, snapshots: new WorkspaceSnapshots({ home, workspace: folder }) };
}

async function taken(snapshots: WorkspaceSnapshots): Promise<Snapshot> {
  const snapshot = await snapshots.take();
  if (typeof snapshot !== "string") throw new Error(snapshot.reason);
  return snapshot;
}

it("puts back what was made, changed, removed, made executable or turned into a link, byte for byte", async () => {
  const { at, snapshots } = workspace();
  const bytes = Buffer.from([0, 13, 10, 255, 10, 13, 10]);
  writeFileSync(at("changed.bin"), bytes);
  writeFileSync(at("removed.txt"), "one\r\ntwo\n");
  writeFileSync(at("mode.sh"), "echo");
  writeFileSync(at("link"), "a file");
  writeFileSync(at(".gitattributes"), "* text=auto eol=crlf\n*.bin filter=lfs\n");
  const before = await taken(snapshots);
  writeFileSync(at("changed.bin"), "x");
  execFileSync("rm", [at("removed.txt"), at("link")]);
  chmodSync(at("mode.sh"), 0o755);
  symlinkSync("/etc/hostname", at("link"));
  mkdirSync(at("deep/er"), { recursive: true });
  writeFileSync(at("deep/er/made.txt"), "made");
  const after = await taken(snapshots);
  const done = await snapshots.takeBack(before, after);
  expect(done).toEqual({
    restored: ["changed.bin", "deep/er/made.txt", "link", "mode.sh", "removed.txt"],
    left: [],
  });
  expect(readFileSync(at("changed.bin"))).toEqual(bytes);
  expect(readFileSync(at("removed.txt"), "utf8")).toBe("one\r\ntwo\n");
  expect(statSync(at("mode.sh")).mode & 0o111).toBe(0);
  expect(readFileSync(at("link"), "utf8")).toBe("a file");
  expect(existsSync(at("deep"))).toBe(false);
});

it("leaves alone what somebody has changed since", async () => {
  const { at, snapshots } = workspace();
  writeFileSync(at("a.txt"), "before");
  writeFileSync(at("b.txt"), "before");
  const before = await taken(snapshots);
  writeFileSync(at("a.txt"), "by the turn");
  writeFileSync(at("b.txt"), "by the turn");
  const after = await taken(snapshots);
  writeFileSync(at("a.txt"), "by the person, later");
  expect(await snapshots.takeBack(before, after)).toEqual({ restored: ["b.txt"], left: ["a.txt"] });
  expect(readFileSync(at("a.txt"), "utf8")).toBe("by the person, later");
  expect(readFileSync(at("b.txt"), "utf8")).toBe("before");
});

it("never touches the person's own repository, nor one inside it", async () => {
  const { folder, at, snapshots } = workspace();
  const git = (...args: string[]) => execFileSync("git", ["-C", folder, ...args], { stdio: "pipe" });
  git("init", "-q");
  git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "first");
  mkdirSync(at("inner"));
  execFileSync("git", ["init", "-q", at("inner")]);
  writeFileSync(at("inner/file"), "theirs");
  writeFileSync(at("staged.txt"), "staged");
  git("add", "staged.txt");
  const state = () =>
    execFileSync("bash", ["-c", "find .git inner -type f -exec sha256sum {} + | sort"], {
      cwd: folder,
    }).toString();
  const own = state();
  const before = await taken(snapshots);
  writeFileSync(at("staged.txt"), "changed");
  await snapshots.takeBack(before, await taken(snapshots));
  expect(readFileSync(at("staged.txt"), "utf8")).toBe("staged");
  expect(state()).toBe(own);
});

it("keeps nothing that .gitignore names, nothing huge, nothing of its own home; others cannot read what it keeps", async () => {
  const folder = tempDir();
  const home = join(folder, ".hermes");
  mkdirSync(home);
  const snapshots = new WorkspaceSnapshots({ home, workspace: folder });
  writeFileSync(join(folder, ".gitignore"), "ignored\n");
  writeFileSync(join(folder, "ignored"), "x");
  writeFileSync(join(folder, "huge"), Buffer.alloc(11 * 1024 * 1024));
  writeFileSync(join(home, "secret"), "x");
  const tree = await taken(snapshots);
  const [name = ""] = readdirSync(join(home, "snapshots"));
  const shadow = join(home, "snapshots", name);
  const listed = execFileSync("git", ["--git-dir", shadow, "ls-tree", "-r", "--name-only", tree]).toString();
  expect(listed.trim().split("\n")).toEqual([".gitignore"]);
  expect(statSync(shadow).mode & 0o077).toBe(0);
});

it("says why there is none where a folder has too many files", async () => {
  const { folder, snapshots } = workspace();
  execFileSync("bash", ["-c", "for i in $(seq 21000); do : > f$i; done"], { cwd: folder });
  expect(await snapshots.take()).toEqual({ reason: expect.stringContaining("more than 20000 files") });
});

import { execFileSync, spawnSync } from "node:child_process";
import {
  copyFileSync,
  createReadStream,
  existsSync,
  mkdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import type { EngineApi } from "../../src/env/docker/engine-api.js";

/** Everything a command line usually reaches for; what this machine lacks is left out. */
const PROGRAMS =
  `bash arch base64 basename cat chgrp chmod chown comm cp cut date dd df dirname du echo env expr false
  find fold grep egrep fgrep groups gzip head hostname id install join kill link ln ls mawk md5sum mkdir mkfifo mktemp mv
  nice nl nohup nproc od paste perl pgrep pkill printenv printf ps pwd readlink realpath rm rmdir script sed seq setsid
  sha1sum sha256sum sleep sort split stat stty su sync tac tail tar tee test timeout touch tr true truncate tty uname
  uniq unlink wc who whoami xargs yes`
    .split(/\s+/)
    .filter((name) => name !== "");

export interface ImageArchives {
  /** bash, coreutils and friends of this machine with their libraries. */
  readonly bash: string;
  /** Only what one busybox brings: `sh` is ash. */
  readonly sh: string;
  readonly empty: string;
}

/** Root file systems made from this machine's own programs: no registry is asked. */
export function buildImageArchives(folder: string): ImageArchives {
  return {
    bash: archive(folder, "bash", fillBashRoot),
    sh: archive(folder, "sh", fillBusyboxRoot),
    empty: archive(folder, "empty", () => {}),
  };
}

export async function importImage(
  api: EngineApi,
  image: { readonly name: string; readonly archive: string },
) {
  const [repo, tag = "latest"] = image.name.split(":");
  const { body } = await api.send({
    method: "POST",
    path: "/images/create",
    query: { fromSrc: "-", repo, tag },
    raw: createReadStream(image.archive),
  });
  if (/"error"/.test(body.toString("utf8"))) throw new Error(`cannot import ${image.name}: ${body}`);
}

function archive(folder: string, name: string, fill: (root: string) => void): string {
  const root = join(folder, `${name}-root`);
  for (const each of ["etc", "tmp", "var/tmp", "run", "root", "proc", "sys", "dev", "usr/bin"])
    mkdirSync(join(root, each), { recursive: true });
  writeFileSync(join(root, "etc/passwd"), "root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534::/:/bin/sh\n");
  writeFileSync(join(root, "etc/group"), "root:x:0:\nnogroup:x:65534:\n");
  fill(root);
  const file = join(folder, `${name}.tar`);
  execFileSync("tar", ["--owner=0", "--group=0", "--numeric-owner", "-C", root, "-cf", file, "."]);
  rmSync(root, { recursive: true });
  return file;
}

function fillBusyboxRoot(root: string): void {
  symlinkSync("usr/bin", join(root, "bin"));
  copyFileSync(realpathSync(which("busybox") ?? "/bin/busybox"), join(root, "usr/bin/busybox"));
  const applets = execFileSync("busybox", ["--list"], { encoding: "utf8" }).split("\n");
  for (const applet of applets)
    if (applet !== "" && applet !== "busybox") symlinkSync("busybox", join(root, "usr/bin", applet));
}

function fillBashRoot(root: string): void {
  const programs = PROGRAMS.flatMap((name) => which(name) ?? []).map((path) => ({
    path,
    real: realpathSync(path),
  }));
  for (const { path, real } of programs) copyFileSync(real, join(root, "usr/bin", basename(path)));
  symlinkSync("bash", join(root, "usr/bin/sh"));
  symlinkSync("mawk", join(root, "usr/bin/awk"));
  symlinkSync("usr/bin", join(root, "bin"));
  for (const library of librariesOf(programs.map(({ real }) => real))) {
    const target = join(root, library.replace(/^\/(lib|lib64)\//, "/usr/$1/"));
    mkdirSync(dirname(target), { recursive: true });
    copyFileSync(realpathSync(library), target);
  }
  for (const name of ["lib", "lib64"])
    if (existsSync(join(root, "usr", name))) symlinkSync(`usr/${name}`, join(root, name));
}

/** The dynamic loader and every library, by the names they are looked for. Scripts have none, which is said aloud. */
function librariesOf(programs: readonly string[]): ReadonlySet<string> {
  const { stdout } = spawnSync("ldd", programs, { encoding: "utf8" });
  return new Set([...stdout.matchAll(/(\/\S+) \(0x/g)].map((match) => match[1] ?? ""));
}

function which(name: string): string | undefined {
  const folders = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];
  return folders.map((folder) => join(folder, name)).find((path) => existsSync(path));
}

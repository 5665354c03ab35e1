import { execFile } from "node:child_process";
import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { chmod, copyFile, mkdir, symlink } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Folders of this machine that every sandbox sees and none can change. */
const SHARED = ["usr", "bin", "sbin", "lib", "lib32", "lib64", "libx32"];
const ETC = ["passwd", "group", "nsswitch.conf", "ld.so.cache", "profile", "bash.bashrc", "hosts"];

/** An image: the part of a file system that a sandbox may change, as a folder. */
export async function makeImage(folder: string): Promise<void> {
  for (const name of ["root", "tmp", "etc", "home", "workspace", "var/tmp", "proc", "dev", ".host/run"])
    await mkdir(join(folder, name), { recursive: true });
  await chmod(join(folder, "tmp"), 0o1777);
  await chmod(join(folder, "root"), 0o700);
  for (const name of ETC)
    if (existsSync(`/etc/${name}`)) await copyFile(`/etc/${name}`, join(folder, "etc", name));
  for (const name of linksOfThisMachine()) await symlink(readlinkSync(`/${name}`), join(folder, name));
}

/** A snapshot is a copy of the folder. */
export async function copyImage(from: string, to: string): Promise<void> {
  await run("cp", ["-a", "--reflink=auto", "--", from, to]);
}

/** Arguments for bubblewrap that show this machine's programs inside. */
export function sharedFolders(): string[] {
  const mounts = SHARED.filter((name) => existsSync(`/${name}`) && !isLink(`/${name}`)).flatMap((name) => [
    "--ro-bind",
    `/${name}`,
    `/${name}`,
  ]);
  return existsSync("/etc/alternatives")
    ? [...mounts, "--ro-bind", "/etc/alternatives", "/etc/alternatives"]
    : mounts;
}

function linksOfThisMachine(): string[] {
  return SHARED.filter((name) => existsSync(`/${name}`) && isLink(`/${name}`));
}

function isLink(path: string): boolean {
  return lstatSync(path).isSymbolicLink();
}

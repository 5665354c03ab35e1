import { execFile } from "node:child_process";
import { copyFile, mkdir, mkdtemp, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));

export interface PackageCopy extends AsyncDisposable {
  readonly root: string;
  write(files: Readonly<Record<string, string>>): Promise<void>;
  /** Runs Node in the copy; never rejects. */
  node(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }>;
}

/** A package of its own around the repository's scripts and installed packages, for building other sources. */
export async function packageCopy(files: Readonly<Record<string, string>>): Promise<PackageCopy> {
  const root = await mkdtemp(join(tmpdir(), "hermes-package-"));
  const write = async (contents: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(contents)) {
      await mkdir(dirname(join(root, name)), { recursive: true });
      await writeFile(join(root, name), text);
    }
  };
  await mkdir(join(root, "src", "registry"), { recursive: true });
  await mkdir(join(root, "scripts"));
  const scripts = [
    "build",
    "build-web",
    "embed",
    "manifest",
    "ensure",
    "test",
    "test-reporter",
    "test-report",
    "test-files",
    "ci-summary",
    "third-party",
  ];
  const copied = [
    ...scripts.map((name) => `scripts/${name}.mjs`),
    "package.json",
    "package-lock.json",
    "tsconfig.json",
    "tsconfig.types.json",
  ];
  for (const name of copied) await copyFile(join(ROOT, name), join(root, name));
  await symlink(join(ROOT, "node_modules"), join(root, "node_modules"));
  await write(files);
  return {
    root,
    write,
    node: (...args) =>
      new Promise((resolve) => {
        const env = { ...process.env, NO_COLOR: "1" };
        execFile(process.execPath, args, { cwd: root, env }, (error, stdout, stderr) => {
          const code = typeof error?.code === "number" ? error.code : error === null ? 0 : 1;
          resolve({ code, stdout, stderr });
        });
      }),
    [Symbol.asyncDispose]: () => rm(root, { recursive: true, force: true }),
  };
}

/** Source text of a minimal tool module, as in src/tools. */
export function toolSource(fields: string): string {
  return `export default { toolset: "t", description: "d", permissions: [], parameters: { type: "object" }, handler: () => 1, ${fields} };\n`;
}

export { ROOT };

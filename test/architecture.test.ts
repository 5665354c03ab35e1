import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { VERSION } from "../src/version.js";

const root = resolve(dirname(fileURLToPath(import.meta.url)), "..");
const src = join(root, "src");

/** Lower rooms know nothing of higher ones; rooms on one level do not know each other, unless said. */
const LEVELS: readonly (readonly string[])[] = [
  ["base"],
  ["tool"],
  ["config", "store", "observe"],
  ["registry"],
  ["call"],
  ["places"],
  ["shell", "net"],
  ["model", "weights"],
  ["policy", "env", "protocol", "cron", "search"],
  ["toolfile"],
  ["tools", "plugins", "sources"],
  ["runtime"],
  ["agent", "adapters"],
  ["gateway", "replay"],
  ["check", "server", "cluster"],
  ["cli"],
];
const level = new Map(LEVELS.flatMap((rooms, index) => rooms.map((room) => [room, index] as const)));

function sources(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) =>
    entry.isDirectory()
      ? sources(join(folder, entry.name))
      : entry.name.endsWith(".ts")
        ? [join(folder, entry.name)]
        : [],
  );
}

/** Import and re-export statements that load code; type-only ones and lazy built-in loads do not count. */
function imports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const statics = text.matchAll(/^(?:import|export)\s+(?!type\b)[^"';]*?from\s+"(\.[^"]+)"/gms);
  const bare = text.matchAll(/^import\s+"(\.[^"]+)"/gm);
  return [...statics, ...bare].flatMap((match) => match[1] ?? []);
}

describe("rooms", () => {
  it("import only downwards", () => {
    const wrong: string[] = [];
    for (const file of sources(src)) {
      const room = relative(src, file).split("/")[0] ?? "";
      const from = level.get(room);
      if (from === undefined) continue;
      for (const target of imports(file)) {
        const other = relative(src, resolve(dirname(file), target)).split("/")[0] ?? "";
        const to = level.get(other);
        if (other === room || to === undefined) continue;
        if (to > from || (to === from && other !== room)) wrong.push(`${relative(root, file)} → ${target}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("the ground floor imports nothing of ours", () => {
    const base = join(src, "base");
    const wrong = sources(base).flatMap((file) =>
      [...readFileSync(file, "utf8").matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]+)"/g)]
        .map((match) => resolve(dirname(file), match[1] ?? ""))
        .filter((target) => dirname(target) !== base)
        .map((target) => `${relative(root, file)} → ${relative(root, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it("tools never import each other", () => {
    const files = [...sources(join(src, "tools")), ...sources(join(src, "plugins"))];
    const tools = files.filter((file) => /^export default /m.test(readFileSync(file, "utf8")));
    const wrong = files.flatMap((file) =>
      imports(file)
        .map((target) => resolve(dirname(file), target).replace(/\.js$/, ".ts"))
        .filter((target) => tools.includes(target))
        .map((target) => `${relative(root, file)} → ${relative(root, target)}`),
    );
    expect(wrong).toEqual([]);
  });

  it("tools reach the network only through ctx.fetch", () => {
    const wrong = [...sources(join(src, "tools")), ...sources(join(src, "plugins"))].filter((file) =>
      /from "(?:undici|node:https?|node:net|node:tls|node:dgram|node:dns(?:\/promises)?|[./]+\/net\/[^"]+)"|import\("(?:undici|[./]+\/net\/[^"]+)"\)|(?<![.\w])fetch\(/.test(
        readFileSync(file, "utf8").replace(/^import type .*$/gm, ""),
      ),
    );
    expect(wrong.map((file) => relative(root, file))).toEqual([]);
  });

  it("no file grows beyond 500 lines", () => {
    const long = sources(src).filter(
      (file) => !file.endsWith(".gen.ts") && readFileSync(file, "utf8").split("\n").length > 500,
    );
    expect(long.map((file) => relative(root, file))).toEqual([]);
  });
});

describe("package", () => {
  it("the version is the same everywhere", () => {
    const manifest: unknown = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
    expect(manifest).toMatchObject({ version: VERSION });
  });

  it("every dependency has its reason in docs/dependencies.md", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const documented = readFileSync(join(root, "docs/dependencies.md"), "utf8");
    expect(Object.keys(dependencies).filter((name) => !documented.includes(name))).toEqual([]);
    expect(Object.values(dependencies).filter((range) => /^[\^~><*]/.test(range))).toEqual([]);
  });

  it("whoever installs the package gets no second copy of what the build puts into it", () => {
    const { dependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
      dependencies: Record<string, string>;
    };
    const [, listed = ""] =
      /EXTERNAL_PACKAGES = \[([^\]]+)\]/.exec(readFileSync(join(root, "scripts/build.mjs"), "utf8")) ?? [];
    const external = new Set([...listed.matchAll(/"([^"]+)"/g)].map(([, name]) => name));
    // Found by their path, for threads and sandboxes; the last is for those who compile against the declarations.
    const byPath = ["diff", "quickjs-emscripten-core", "re2js", "@types/node"];
    expect(Object.keys(dependencies).filter((name) => !external.has(name) && !byPath.includes(name))).toEqual(
      [],
    );
  });

  it("the lock file carries no addresses", () => {
    expect(readFileSync(join(root, "package-lock.json"), "utf8")).not.toContain('"resolved"');
  });
});

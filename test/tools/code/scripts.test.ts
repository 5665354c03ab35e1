import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import vm from "node:vm";
import { Workspace } from "@astral-sh/ruff-wasm-nodejs";
import { describe, expect, test } from "vitest";

const folder = fileURLToPath(new URL("../../../src/tools/code/scripts/", import.meta.url));
const names = readdirSync(folder);
const read = (name: string) => readFileSync(`${folder}${name}`, "utf8");

describe("the programs that run scripts elsewhere", () => {
  test("are all of a kind that is looked at here", () => {
    expect(names.filter((name) => !/\.(?:py|cjs|sh)$/.test(name))).toEqual([]);
  });

  /** Fragments use the names of what they follow, so they are looked at as they run. */
  const python = [
    ["python-bootstrap.py"],
    ["python-common.py", "python-script.py"],
    ["python-common.py", "python-cells.py"],
  ];
  test.each(python)("%s: ruff has no objection", (...parts) => {
    const ruff = new Workspace(
      {
        lint: {
          select: ["E4", "E7", "E9", "F", "B"],
          ignore: ["E401", "E402", "E701", "E702", "E731", "E741", "B904"],
        },
      },
      1,
    );
    const source = parts.map(read).join("");
    expect(
      ruff.check(source).map(({ code, message }: { code: string; message: string }) => `${code} ${message}`),
    ).toEqual([]);
  });

  test.each(names.filter((name) => name.endsWith(".cjs")))("%s is read by JavaScript", (name) => {
    expect(() => new vm.Script(`(async () => {${read(name).replace(/;?\s*$/, "")}\n})`)).not.toThrow();
  });

  test.each(names.filter((name) => name.endsWith(".sh")))("%s is read by bash", (name) => {
    execFileSync("bash", ["-n", `${folder}${name}`]);
  });
});

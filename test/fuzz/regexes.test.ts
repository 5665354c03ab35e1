import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { expect, it, onTestFinished } from "vitest";

interface Slow {
  readonly where: string;
  readonly source: string;
  readonly attack: string;
  readonly ms: number;
}

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));

it("no regular expression of the program takes 50 ms for 3,000 characters that are made for it", async () => {
  const child = spawn(process.execPath, [path("./regexes.mjs"), path("../../src")], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => void child.kill());
  const slow: Slow[] = [];
  let tried = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    const said = JSON.parse(line) as Slow | { readonly regexes: number; readonly tried: number };
    if ("where" in said) slow.push(said);
    else tried = said.tried;
  }
  if (process.env.HERMES_FUZZ === "full") console.log(`${tried} strings tried`);
  expect(slow).toEqual([]);
  expect(tried).toBeGreaterThan(100_000);
}, 600_000);

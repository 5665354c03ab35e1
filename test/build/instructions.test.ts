import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { root } from "../cli/hermes.js";

const read = (name: string) => readFileSync(join(root, name), "utf8");

/** The commands in the comment at the top of a file. */
function commandsAtTopOf(name: string): readonly string[] {
  const [head = ""] = read(name).split(/\n(?!#)/, 1);
  return [...head.matchAll(/^# {3}(.+)$/gm)].map(([, line = ""]) => line);
}

describe("what a file says at its top", () => {
  it("Dockerfile: the container gets the token without which it would not listen for others", () => {
    const run = commandsAtTopOf("Dockerfile").filter((line) => line.startsWith("docker run "));
    expect(read("Dockerfile")).toContain("HERMES_HOST=0.0.0.0");
    expect(run.length).toBeGreaterThan(0);
    for (const line of run) expect(line).toContain("HERMES_TOKEN=");
  });

  it("Dockerfile and page: whoever mounts a folder of their own is told how it can be written to", () => {
    for (const name of ["Dockerfile", "docs/operating.md"])
      expect(read(name), name).toContain('--user "$(id -u):$(id -g)"');
  });
});

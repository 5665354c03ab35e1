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

  it.each(["hermes", "hermes-worker"])(
    "%s.service: its user is made, and the file lies where an installation has put it",
    (name) => {
      const unit = read(`packaging/${name}.service`);
      const [, home = ""] = /^WorkingDirectory=(.+)$/m.exec(unit) ?? [];
      const commands = commandsAtTopOf(`packaging/${name}.service`).join("\n");
      expect(unit).toContain("\nUser=hermes\n");
      expect(commands).toContain(`useradd --system --home-dir ${home} hermes`);
      const [, file = ""] =
        /cp "\$\(npm root -g\)\/hermes-tools\/(\S+)" \/etc\/systemd\/system\//.exec(commands) ?? [];
      expect(file).toBe(`packaging/${name}.service`);
      const { files } = JSON.parse(read("package.json")) as { readonly files: readonly string[] };
      expect(files).toContain("packaging/*.service");
      for (const told of [
        "$(npm root -g)/hermes-tools/packaging",
        `useradd --system --home-dir ${home} hermes`,
      ])
        expect(read("docs/operating.md")).toContain(told);
    },
  );

  it("Dockerfile and page: whoever mounts a folder of their own is told how it can be written to", () => {
    for (const name of ["Dockerfile", "docs/operating.md"])
      expect(read(name), name).toContain('--user "$(id -u):$(id -g)"');
  });
});

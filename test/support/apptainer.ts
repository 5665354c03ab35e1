import { execFileSync } from "node:child_process";
import { randomUUID } from "node:crypto";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Environment } from "../../src/env/environment.js";
import { findProgram } from "../../src/env/find-program.js";
import { Starter } from "../../src/env/local/starter.js";
import type { SingularityOptions } from "../../src/env/singularity/singularity.js";
import { createSingularityEnvironment } from "../../src/env/singularity/singularity.js";
import { buildImageArchives } from "../docker/images.js";

/** CI makes one and names it; elsewhere the system's own is taken. */
function program(): string | undefined {
  return process.env.HERMES_TEST_APPTAINER ?? findProgram("apptainer", process.env);
}

export interface ApptainerRig {
  /** A plain folder with bash and the usual programs. */
  readonly image: string;
  /** The same with nothing but busybox. */
  readonly shImage: string;
  readonly home: string;
  open(changes?: Partial<SingularityOptions>): Promise<Environment>;
  /** Names of the containers that run. */
  instances(): readonly string[];
  run(...args: readonly string[]): string;
  stop(): void;
}

export function startApptainer(): ApptainerRig {
  const folder = mkdtempSync(join(tmpdir(), "hermes-apptainer-"));
  const home = join(folder, "home");
  mkdirSync(home);
  const env = { PATH: process.env.PATH, HOME: home, APPTAINER_CACHEDIR: join(folder, "cache") };
  const archives = buildImageArchives(folder);
  const path = program() ?? "apptainer";
  const run = (...args: readonly string[]) =>
    execFileSync(path, ["--quiet", ...args], { encoding: "utf8", env, stdio: ["ignore", "pipe", "pipe"] });
  let opened = 0;
  return {
    image: unpack(folder, archives.bash, "bash"),
    shImage: unpack(folder, archives.sh, "sh"),
    home,
    run,
    open(changes = {}) {
      opened += 1;
      const runtimeMark = randomUUID();
      return createSingularityEnvironment({
        image: join(folder, "bash"),
        task: `test-${opened}`,
        home,
        env,
        program: path,
        sandboxDir: join(home, "sandboxes"),
        cacheDir: join(folder, "images"),
        runtimeMark,
        starter: new Starter({ mark: runtimeMark, path: env.PATH, launcher: true }),
        ...changes,
      });
    },
    instances() {
      const { instances } = JSON.parse(run("instance", "list", "--json")) as {
        instances: readonly { readonly instance: string }[];
      };
      return instances.map(({ instance }) => instance);
    },
    stop() {
      rmSync(folder, { recursive: true, force: true });
      if (readdirSync(tmpdir()).includes(folder)) throw new Error(`${folder} is still there`);
    },
  };
}

function unpack(folder: string, archive: string, name: string): string {
  const root = join(folder, name);
  mkdirSync(root);
  execFileSync("tar", ["-C", root, "-xf", archive]);
  // Mounted over by every container.
  for (const file of ["etc/hosts", "etc/resolv.conf", "etc/localtime"]) writeFileSync(join(root, file), "");
  return root;
}

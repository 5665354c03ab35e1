import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { EngineApi } from "../../src/env/docker/engine-api.js";
import { buildImageArchives, importImage } from "../docker/images.js";
import { leaveNothing } from "../docker/leftovers.js";
import { DaemonProcess, installed, removeContainers, type TestEngine, whyNot } from "./docker-engine.js";

export interface PodmanTestEngine extends TestEngine {
  /** Variables under which a `podman` program works on the same containers. */
  readonly env: NodeJS.ProcessEnv;
}

/** Why no Podman service can be started here; undefined when one can. CI installs what it takes and is root. */
export function whyNoPodman(): string | undefined {
  return whyNot(["podman", "conmon", "runc", "busybox"]);
}

/** A Podman service of its own with its own storage. Containers have no network. */
export async function startPodmanEngine(): Promise<PodmanTestEngine> {
  const folder = mkdtempSync(join(tmpdir(), "hermes-podman-"));
  const socket = join(folder, "podman.sock");
  const api = new EngineApi({ socketPath: socket });
  const archives = buildImageArchives(folder);
  const env = { ...process.env, ...podmanConfiguration(folder) };
  const service = new DaemonProcess("podman", ["system", "service", "--time=0", `unix://${socket}`], env);
  if (!(await service.answers(api))) throw new Error(`podman does not start:\n${service.log}`);
  const engine: PodmanTestEngine = {
    socket,
    image: "hermes-test-bash:latest",
    shImage: "hermes-test-sh:latest",
    api,
    env,
    importEmptyImage: (name) => importImage(api, { name, archive: archives.empty }),
    async stop() {
      await removeContainers(api);
      await service.end();
      api.close();
      // The monitors of ended commands stay for the delay below.
      await leaveNothing(folder, 20_000);
      rmSync(folder, { recursive: true, force: true });
    },
  };
  await importImage(api, { name: engine.image, archive: archives.bash });
  await importImage(api, { name: engine.shImage, archive: archives.sh });
  return engine;
}

/** Storage of its own, runc (crun refuses mixed control groups), and limits that a small machine can set. */
export function podmanConfiguration(folder: string): NodeJS.ProcessEnv {
  const containers = join(folder, "containers.conf");
  const storage = join(folder, "storage.conf");
  writeFileSync(
    containers,
    `[containers]
default_ulimits = ["nofile=1024:1024", "nproc=4096:4096"]
${installed("tini-static") ? 'init_path = "/usr/bin/tini-static"' : ""}
[engine]
runtime = "runc"
cgroup_manager = "cgroupfs"
events_logger = "file"
exit_command_delay = 5
tmp_dir = "${join(folder, "tmp")}"
`,
  );
  writeFileSync(
    storage,
    `[storage]
driver = "overlay"
graphroot = "${join(folder, "graph")}"
runroot = "${join(folder, "run")}"
`,
  );
  return { CONTAINERS_CONF: containers, CONTAINERS_STORAGE_CONF: storage, TMPDIR: folder };
}

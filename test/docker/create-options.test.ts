import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type CreateRequest, type EngineFacts, planContainer } from "../../src/env/docker/create-options.js";
import type { DockerOptions } from "../../src/env/docker/docker.js";

const FACTS: EngineFacts = {
  kind: "docker",
  version: "20.10",
  rootless: false,
  cpus: 8,
  limitsMemory: true,
  limitsCpu: true,
  limitsPids: true,
  runtimes: ["runc", "runsc"],
  driver: "overlay2",
};
const MIB = 1024 * 1024;

function plan(options: Partial<DockerOptions> = {}, changes: Partial<CreateRequest> = {}) {
  return planContainer({
    options: { image: "debian:12", task: "t", home: "/h", ...options },
    facts: FACTS,
    imageId: "sha256:1",
    kept: undefined,
    hostUser: undefined,
    ...changes,
  });
}

describe("what a container is created with", () => {
  it("is hardened and limited without being asked", () => {
    const { body } = plan();
    expect(body.HostConfig).toMatchObject({
      CapDrop: ["ALL"],
      CapAdd: ["DAC_OVERRIDE", "CHOWN", "FOWNER", "SETUID", "SETGID"],
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: 256,
      Init: true,
      ShmSize: 1024 * MIB,
      NanoCpus: 1e9,
      Memory: 5_120 * MIB,
      MemorySwap: 5_120 * MIB,
      StorageOpt: { size: "51200M" },
      Mounts: [],
    });
    const { "/tmp": tmp = "", "/var/tmp": varTmp = "", "/run": run = "" } = body.HostConfig.Tmpfs;
    expect(tmp.split(",")).toEqual(expect.arrayContaining(["rw", "exec", "nosuid", "size=512m"]));
    expect(varTmp.split(",")).toEqual(expect.arrayContaining(["rw", "noexec", "size=256m"]));
    expect(run.split(",")).toEqual(expect.arrayContaining(["rw", "noexec", "size=64m"]));
    expect(body.WorkingDir).toBe("/root");
    expect(body.HostConfig).not.toHaveProperty("NetworkMode");
  });

  it("has no network when none is wanted", () => {
    expect(plan({ network: false }).body.HostConfig.NetworkMode).toBe("none");
  });

  it("gives an ordinary user neither the right to become somebody else nor, with Podman, any other", () => {
    const hostUser = { uid: 1000, gid: 100 };
    const docker = plan({}, { hostUser });
    expect(docker.body.User).toBe("1000:100");
    expect(docker.body.HostConfig.CapAdd).toEqual(["DAC_OVERRIDE", "CHOWN", "FOWNER"]);
    expect(docker.home).toBe("/home/hermes");
    expect(docker.body.HostConfig.Tmpfs["/home/hermes"]).toMatch(/mode=1777/);
    const podman = plan({}, { hostUser, facts: { ...FACTS, kind: "podman" } });
    expect(podman.body.HostConfig.CapAdd).toEqual([]);
  });

  it("binds the kept folders over home and /workspace, and nothing by the old way that makes missing folders", () => {
    const { body } = plan(
      { mounts: [{ source: "/keys", target: "/credentials/", readonly: true }] },
      { kept: { home: "/s/home", workspace: "/s/workspace" } },
    );
    expect(body.HostConfig.Mounts).toEqual([
      { Type: "bind", Source: "/s/home", Target: "/root", ReadOnly: false },
      { Type: "bind", Source: "/s/workspace", Target: "/workspace", ReadOnly: false },
      { Type: "bind", Source: "/keys", Target: "/credentials", ReadOnly: true },
    ]);
    expect(body.HostConfig).not.toHaveProperty("Binds");
  });

  it.each([
    [{ source: "relative", target: "/a" }, /source "relative" must be an absolute path/],
    [{ source: "/a", target: "relative" }, /target "relative" must be an absolute path/],
    [{ source: "/a", target: "/" }, /nothing can be mounted at "\/"/],
    [{ source: "/a", target: "/x/../proc/sys" }, /nothing can be mounted/],
  ])("refuses the mount %o", (mount, why) => {
    expect(() => plan({ mounts: [mount] })).toThrow(why);
  });

  it("refuses two mounts at one place", () => {
    const mounts = [
      { source: "/a", target: "/x" },
      { source: "/b", target: "/x/" },
    ];
    expect(() => plan({ mounts })).toThrow(/two mounts have the target "\/x"/);
  });

  it("takes a runtime the engine has, and names those it has otherwise", () => {
    expect(plan({ runtime: "runsc" }).body.HostConfig.Runtime).toBe("runsc");
    expect(() => plan({ runtime: "kata" })).toThrow(/no runtime "kata", only runc, runsc/);
    expect(() => plan({ runtime: "runsc" }, { facts: { ...FACTS, kind: "podman" } })).toThrow(/Podman takes/);
  });

  it("says which limits an engine cannot set instead of failing", () => {
    const { body, notes } = plan({}, { facts: { ...FACTS, limitsMemory: false, limitsPids: false } });
    expect(body.HostConfig).not.toHaveProperty("Memory");
    expect(body.HostConfig).not.toHaveProperty("PidsLimit");
    expect(notes.join()).toMatch(/processes is not limited.*memory is not limited/);
  });

  it("asks for no more processors than there are", () => {
    const { body, notes } = plan({ cpu: 64 });
    expect(body.HostConfig.NanoCpus).toBe(8e9);
    expect(notes).toEqual(["cpu 64 was lowered to 8: the engine has no more"]);
  });

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])("refuses a limit of %d", (memoryMb) => {
    expect(() => plan({ memoryMb })).toThrow(/memoryMb must be a number above 0/);
  });

  it("starts at home when the folder given means nothing in there", () => {
    expect(plan({ cwd: "projects/x" }).cwd).toBe("/root");
    expect(plan({ cwd: "~" }).cwd).toBe("/root");
    expect(plan({ cwd: "/srv/x" }).cwd).toBe("/srv/x");
  });

  it("has another hash when the configuration or the image is another one, and only then", () => {
    const hash = plan().configHash;
    expect(plan().configHash).toBe(hash);
    expect(plan({ memoryMb: 100 }).configHash).not.toBe(hash);
    expect(plan({ network: false }).configHash).not.toBe(hash);
    expect(plan({}, { imageId: "sha256:2" }).configHash).not.toBe(hash);
    // Who uses it and what commands are given later is not part of the container.
    expect(plan({ task: "u", passthrough: ["TOKEN"], env: { TOKEN: "s" } }).configHash).toBe(hash);
  });

  it("never holds the value of a variable, whatever its name", () => {
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Z_]{1,12}$/), fc.stringMatching(/^[!-~]{12,40}$/), (name, value) => {
        const { body } = plan({ passthrough: [name], env: { [name]: value } });
        return !JSON.stringify(body).includes(JSON.stringify(value).slice(1, -1));
      }),
    );
  });
});

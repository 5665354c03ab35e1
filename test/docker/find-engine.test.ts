import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { engineInSight, findEngine, parseAddress } from "../../src/env/docker/find-engine.js";
import { nameAndTag } from "../../src/env/docker/image.js";

describe("the address of an engine", () => {
  it.each([
    ["unix:///run/x.sock", { socketPath: "/run/x.sock" }],
    ["tcp://127.0.0.1:2375", { host: "127.0.0.1", port: 2375 }],
    ["tcp://localhost", { host: "localhost", port: 2375 }],
    ["tcp://[::1]:99", { host: "::1", port: 99 }],
  ])("%s is understood", (text, address) => {
    expect(parseAddress(text, "DOCKER_HOST")).toEqual(address);
  });

  it.each([
    ["ssh://me@host", /behind ssh is not supported/],
    ["tcp://10.0.0.1:2375", /only an engine on this machine/],
    ["tcp://127.0.0.1.example.com:1", /only an engine on this machine/],
    ["npipe:////./pipe/docker_engine", /not an address of a kind known here/],
    ["unix://relative", /not an address/],
  ])("%s is refused, with the name of the setting it came from", (text, why) => {
    expect(() => parseAddress(text, "DOCKER_HOST")).toThrow(why);
    expect(() => parseAddress(text, "DOCKER_HOST")).toThrow(/DOCKER_HOST/);
  });
});

describe("looking for an engine", () => {
  it("never goes on to another one when the named one does not answer", async () => {
    const env = { PATH: process.env.PATH, DOCKER_HOST: "unix:///nowhere/docker.sock" };
    await expect(findEngine({ env })).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining("/nowhere/docker.sock"),
    });
  });

  it("says what was tried and what to do when there is none", async ({ skip }) => {
    if (existsSync("/var/run/docker.sock")) skip("this machine has a Docker of its own");
    const folder = tempFolder();
    const env = { PATH: folder, HOME: folder, XDG_RUNTIME_DIR: folder };
    const search = findEngine({ engine: "docker", env });
    await expect(search).rejects.toMatchObject({
      code: "unavailable",
      message: expect.stringContaining(`${folder}/docker.sock: not there`),
      hint: expect.stringContaining("DOCKER_HOST"),
    });
  });

  it("does not take a server for an engine that only listens at its place", async ({ skip }) => {
    if (existsSync("/var/run/docker.sock")) skip("this machine has a Docker of its own");
    const folder = tempFolder();
    const server = createServer((_, response) => response.writeHead(500).end("who?"));
    await new Promise<void>((resolve) => server.listen(join(folder, "docker.sock"), resolve));
    onTestFinished(() => void server.close());
    const env = { PATH: folder, HOME: folder, XDG_RUNTIME_DIR: folder };
    await expect(findEngine({ engine: "docker", env })).rejects.toThrow(`${folder}/docker.sock: who?`);
  });

  it("sees without connecting whether there is anything to try", async () => {
    const folder = tempFolder();
    const env = { PATH: folder, HOME: folder };
    expect(await engineInSight({ engine: "podman", env: { ...env, CONTAINER_HOST: "unix:///x" } })).toBe(
      true,
    );
    expect(await engineInSight({ engine: "docker", env: { ...env, DOCKER_HOST: "unix:///x" } })).toBe(true);
  });
});

it.each([
  ["debian", { fromImage: "debian", tag: "latest" }],
  [
    "nikolaik/python-nodejs:python3.11-nodejs20",
    { fromImage: "nikolaik/python-nodejs", tag: "python3.11-nodejs20" },
  ],
  ["localhost:5000/x", { fromImage: "localhost:5000/x", tag: "latest" }],
  ["localhost:5000/x:1", { fromImage: "localhost:5000/x", tag: "1" }],
  ["x@sha256:abc", { fromImage: "x@sha256:abc" }],
])("the image %s is pulled with one tag, never with all of them", (image, query) => {
  expect(nameAndTag(image)).toEqual(query);
});

function tempFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "hermes-engine-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

import { mkdirSync, readFileSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { homeDir } from "../../src/config/paths.js";
import { isTrusted, trustFolder, untrustFolder } from "../../src/config/trust.js";
import { sandbox } from "./sandbox.js";

describe("trusted folders", () => {
  it("cover the folder and what is below it, not its neighbours or parents", async () => {
    using box = sandbox();
    const { home, project } = box;
    const inside = join(project, "a", "b");
    const neighbour = `${project}-evil`;
    for (const folder of [inside, neighbour, join(project, "..x")]) mkdirSync(folder, { recursive: true });
    expect(isTrusted({ home, folder: project })).toBe(false);
    expect(await trustFolder({ home, folder: project })).toEqual({ ok: true, folder: project });
    await trustFolder({ home, folder: project });
    expect(readFileSync(join(home, "trusted_folders"), "utf8")).toBe(`${project}\n`);
    expect(isTrusted({ home, folder: project })).toBe(true);
    expect(isTrusted({ home, folder: inside })).toBe(true);
    expect(isTrusted({ home, folder: join(project, "..x") })).toBe(true);
    expect(isTrusted({ home, folder: neighbour })).toBe(false);
    expect(isTrusted({ home, folder: box.root })).toBe(false);
    expect(isTrusted({ home, folder: join(project, "missing") })).toBe(false);
  });

  it("are real paths: a link out of a trusted folder leads to an untrusted one", async () => {
    using box = sandbox();
    const { home, project } = box;
    const outside = join(box.root, "outside");
    mkdirSync(outside);
    symlinkSync(outside, join(project, "link"));
    symlinkSync(project, join(box.root, "alias"));
    await trustFolder({ home, folder: join(box.root, "alias") });
    expect(isTrusted({ home, folder: project })).toBe(true);
    expect(isTrusted({ home, folder: join(project, "link") })).toBe(false);
  });

  it("can be withdrawn, also after the folder is gone, and comments stay", async () => {
    using box = sandbox();
    const { home, project } = box;
    box.write("home/trusted_folders", `# work\n${project}\n/srv/other\n`);
    rmSync(project, { recursive: true });
    expect(await untrustFolder({ home, folder: project })).toMatchObject({ ok: true });
    expect(readFileSync(join(home, "trusted_folders"), "utf8")).toBe("# work\n/srv/other\n");
    expect(await untrustFolder({ home, folder: project })).toMatchObject({ ok: false, code: "not_found" });
  });

  it("refuse the root, missing folders and names that would forge a second line", async () => {
    using box = sandbox();
    const { home } = box;
    const forged = join(box.root, "x\n");
    mkdirSync(forged);
    for (const folder of ["/", join(box.root, "missing"), forged]) {
      expect(await trustFolder({ home, folder })).toMatchObject({ ok: false });
    }
    box.write("home/trusted_folders", "relative\n.\n\n");
    expect(isTrusted({ home, folder: process.cwd() })).toBe(false);
  });

  it("many at once: all arrive", async () => {
    using box = sandbox();
    const folders = Array.from({ length: 12 }, (_, index) => join(box.root, `p${index}`));
    for (const folder of folders) mkdirSync(folder);
    await Promise.all(folders.map((folder) => trustFolder({ home: box.home, folder })));
    expect(folders.every((folder) => isTrusted({ home: box.home, folder }))).toBe(true);
  });
});

describe("the Hermes home", () => {
  it("is the flag, else the variable, else ~/.hermes, and always absolute", () => {
    const env = { HOME: "/home/ada", HERMES_HOME: "~/hermes" };
    expect(homeDir({ env, flags: { home: "/data" } })).toBe("/data");
    expect(homeDir({ env })).toBe("/home/ada/hermes");
    expect(homeDir({ env: { HOME: "/home/ada" }, flags: {} })).toBe("/home/ada/.hermes");
    expect(homeDir({ env: { HOME: "/home/ada", HERMES_HOME: "" } })).toBe("/home/ada/.hermes");
    expect(homeDir({ env, flags: { home: "here" } })).toBe(join(process.cwd(), "here"));
  });
});

import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { resolveToken } from "../../src/server/token.js";
import { tempDir } from "../support/runtime.js";

const modeOf = (file: string) => statSync(file).mode & 0o777;

describe("the server's token", () => {
  it("is made on first use, kept, and readable by its owner only", async () => {
    const home = join(tempDir(), "not", "there", "yet");
    const file = join(home, "server.token");
    const first = await resolveToken({ configured: "", file });
    expect(first).toMatchObject({ source: "file", file });
    expect(Buffer.from(first.value, "base64url")).toHaveLength(32);
    expect(modeOf(file)).toBe(0o600);
    expect(modeOf(home)).toBe(0o700);
    expect(readFileSync(file, "utf8")).toBe(`${first.value}\n`);
    expect(await resolveToken({ configured: "", file })).toEqual(first);
    expect(readdirSync(home)).toEqual(["server.token"]);
  });

  it("is the same for servers that start at the same moment", async () => {
    for (let round = 0; round < 20; round += 1) {
      const file = join(tempDir(), "server.token");
      const tokens = await Promise.all(
        Array.from({ length: 8 }, () => resolveToken({ configured: "", file })),
      );
      expect(new Set(tokens.map((token) => token.value)).size).toBe(1);
      expect(readFileSync(file, "utf8").trim()).toBe(tokens[0]?.value);
    }
  });

  it("that others could read is closed to them", async () => {
    const file = join(tempDir(), "server.token");
    writeFileSync(file, "my-own-token\n");
    chmodSync(file, 0o644);
    expect((await resolveToken({ configured: "", file })).value).toBe("my-own-token");
    expect(modeOf(file)).toBe(0o600);
  });

  it("is the configured one when there is one, and then no file is made", async () => {
    const home = tempDir();
    const file = join(home, "server.token");
    expect(await resolveToken({ configured: "chosen", file })).toEqual({
      value: "chosen",
      source: "configured",
    });
    expect(readdirSync(home)).toEqual([]);
  });

  it("is refused when it could never be sent, or the file holds none", async () => {
    const home = tempDir();
    const file = join(home, "server.token");
    for (const configured of ["two words", "line\nbreak", "schlüssel", " "]) {
      await expect(resolveToken({ configured, file })).rejects.toThrow("cannot be sent in a header");
    }
    writeFileSync(file, "not a token at all\n");
    await expect(resolveToken({ configured: "", file })).rejects.toThrow("Delete it and start again");
    const blocked = join(home, "blocked");
    mkdirSync(join(blocked, "server.token"), { recursive: true });
    await expect(resolveToken({ configured: "", file: join(blocked, "server.token") })).rejects.toThrow(
      "HERMES_TOKEN",
    );
  });
});

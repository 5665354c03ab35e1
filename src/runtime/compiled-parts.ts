import { access, constants } from "node:fs/promises";
import { messageOf } from "../base/errno.js";
import type { Finding } from "./doctor.js";

/** What is not JavaScript, loaded as it will be when it is needed; each says which one it is. */
const PARTS: Readonly<Record<string, () => Promise<string>>> = {
  async SQLite() {
    const database = (await import("../store/sqlite-driver.js")).openDatabase(":memory:");
    database.close();
    return database.driver;
  },
  async terminals() {
    (await import("../env/pty/native.js")).terminalMaker();
    return "@lydell/node-pty";
  },
  async "search in files"() {
    const { rgPath } = await import("@vscode/ripgrep");
    await access(rgPath, constants.X_OK);
    return "@vscode/ripgrep";
  },
};

/** Whether the compiled parts of the package fit this Node and this machine: better known now than in a call. */
export async function examineCompiledParts(parts = PARTS): Promise<readonly Finding[]> {
  const findings = await Promise.all(
    Object.entries(parts).map(([name, load]) =>
      load().then(
        (which): Finding => ({ group: "Runtime", level: "ok", what: `${name} (${which})` }),
        (error: unknown): Finding => ({
          group: "Runtime",
          level: "warning",
          what: `${name}: a compiled part does not load here: ${messageOf(error)}`,
          fix: "install hermes-tools anew with this Node on this machine; nothing is compiled, the fitting build is fetched",
        }),
      ),
    ),
  );
  const fine = findings.filter(({ level }) => level === "ok").map(({ what }) => what);
  const loaded: Finding = { group: "Runtime", level: "ok", what: `compiled parts load: ${fine.join(", ")}` };
  return [...(fine.length > 0 ? [loaded] : []), ...findings.filter(({ level }) => level !== "ok")];
}

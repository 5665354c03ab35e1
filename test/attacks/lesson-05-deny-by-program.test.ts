import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { decisionOn, withPerson } from "../grants/asking.js";
import { tempDir } from "../support/runtime.js";

const SPELLINGS = [
  "sudo ls",
  "/usr/bin/sudo ls",
  "/usr/local/bin/sudo ls",
  "FOO=1 sudo ls",
  "env sudo ls",
  "timeout 5 sudo ls",
  "bash -c 'sudo ls'",
  'sh -c "/usr/bin/sudo ls"',
  "s''udo ls",
  "\\sudo ls",
  '"sudo" ls',
  "true && sudo ls",
  "true; /usr/bin/sudo ls",
  "true | sudo tee x",
  "echo $(sudo id)",
  "echo `sudo id`",
  "( sudo ls )",
  "if true; then sudo ls; fi",
  "X=sudo; $X ls",
];

const HARMLESS = ["echo sudo ls", "grep -r 'sudo ' .", "git commit -m 'no sudo here'", "ls sudo"];

describe("lesson 5: a denial holds for the program, however it is written", () => {
  it.each([
    ["alone", ""],
    ["with a grant that says otherwise", "command_allowlist: [sudo ls, 'sudo *', ls]\n"],
    ["with approvals switched off", "approvals: { mode: off, deny: ['sudo *'] }\n"],
  ])("%s", async (_name, more) => {
    const home = tempDir();
    const deny = more.includes("deny") ? more : `approvals:\n  deny: ["sudo *"]\n${more}`;
    writeFileSync(join(home, "config.yaml"), deny);
    const { session } = await withPerson("always", { home });
    for (const spelling of SPELLINGS) expect(await decisionOn(session, spelling), spelling).toBe("deny");
    for (const command of HARMLESS) expect(await decisionOn(session, command), command).toBe("allow");
  });
});

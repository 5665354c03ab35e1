import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, it } from "vitest";
import { root } from "../cli/hermes.js";

it("docs/api.md says what the types say", () => {
  const check = () =>
    execFileSync(process.execPath, [join(root, "scripts/api-reference.mjs"), "--check"], { stdio: "pipe" });
  expect(check).not.toThrow();
}, 120_000);

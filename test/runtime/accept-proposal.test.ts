import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { acceptProposal, proposeProfile } from "../../src/runtime/propose.js";
import { testRuntime } from "../support/runtime.js";

describe("a proposal", () => {
  it("made from the journal is written, found again, and made anew under its own name", async () => {
    const { runtime } = await testRuntime([], { builtins: true, journal: true });
    const session = await runtime.openSession();
    await session.call({ name: "write_file", arguments: { path: "a.txt", content: "x" } });
    const proposal = await proposeProfile(runtime, { name: "mine", days: 1 });
    expect(proposal).toMatchObject({ calls: 1, covered: 1, within: "default" });
    const { file } = await acceptProposal(runtime, proposal);
    expect(readFileSync(file, "utf8")).toBe(proposal.yaml);
    const again = await proposeProfile(runtime, { name: "mine", days: 1, profile: "mine" });
    expect(again).toMatchObject({ within: "default", yaml: proposal.yaml });
    expect(await acceptProposal(runtime, again)).toEqual({ file, changed: false });
  });

  const within = "description: 'What was used, within default', within: [default], allow: ['*']";
  it.each([
    ["default", `profiles: {default: {${within}}}`, "the profile default comes with the program"],
    ["my way", `profiles: {my way: {${within}}}`, "is no usable profile name"],
    ["p", "profiles: {p: {allow: ['*']}}", "its description does not begin with"],
    [
      "p",
      "profiles: {p: {description: 'What was used, within x', allow: ['*']}}",
      "it lies within no other profile",
    ],
    ["p", `profiles: {p: {${within}}, q: {allow: ['*']}}`, "it does not hold just the profile p"],
    ["p", `global: {allow: ['*']}\nprofiles: {p: {${within}}}`, "it has rules for every profile"],
    ["p", `profiles: {p: {extends: full_developer, ${within}}}`, "it extends another profile"],
    [
      "p",
      `profiles: {p: {${within.replace("[default]", "[nowhere]")}}}`,
      "Unknown permission profile: nowhere",
    ],
    ["p", "profiles: {p: [", "this is no proposal"],
  ])("that is none is not written: %s, %s", async (name, yaml, why) => {
    const { runtime, home } = await testRuntime([]);
    await expect(acceptProposal(runtime, { name, yaml })).rejects.toThrow(why);
    expect(existsSync(join(home, "hermes_permissions.yaml"))).toBe(false);
  });
});

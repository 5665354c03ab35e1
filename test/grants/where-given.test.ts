import { expect, test } from "vitest";
import { foldersOf } from "../../src/policy/grants/folders.js";

test.each([
  "source setup.sh; rm -rf build",
  ". ./setup.sh && rm -rf build",
  "true; . setup.sh; rm -rf build",
  "git submodule foreach 'rm -rf build'",
  "yarn workspaces foreach -A run rm -rf build",
  "find . -name x -execdir rm -rf build ';'",
  "env -C /other rm -rf build",
  "sudo -u me --chdir=/other rm -rf build",
])("%s says nothing of the folder it acts in, so a grant for a folder does not cover it", (line) => {
  expect(foldersOf(line, "/work/app")).toBeUndefined();
});

test.each([
  "rm -rf build",
  "env FOO=1 rm -rf build",
  "cat resource.txt && rm -rf build",
  "ls . && rm -rf build",
])("%s acts where it is given", (line) => {
  expect(foldersOf(line, "/work/app")).toEqual(["/work/app"]);
});

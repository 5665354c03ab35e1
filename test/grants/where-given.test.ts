import { beforeAll, expect, test } from "vitest";
import { foldersOf } from "../../src/policy/grants/folders.js";
import { loadAnalysis } from "../../src/shell/analysis.js";

beforeAll(() => loadAnalysis());

test.each([
  "source setup.sh; rm -rf build",
  ". ./setup.sh && rm -rf build",
  "true; . setup.sh; rm -rf build",
  "git submodule foreach 'rm -rf build'",
  "yarn workspaces foreach -A run rm -rf build",
  "find . -name x -execdir rm -rf build ';'",
  "env -C /other rm -rf build",
  "sudo -u me --chdir=/other rm -rf build",
  "cd $WHERE && rm -rf build",
  "cd - && rm -rf build",
  "X=1 cd app && rm -rf build",
  "cd app > log && rm -rf build",
  "cd app || rm -rf build",
  "cd app | rm -rf build",
  "cd app & rm -rf build",
  "cd app && true & rm -rf build",
  "(cd app && rm -rf build)",
  "bash -c 'cd app && rm -rf build'",
  "strange-tool 'cd app && rm -rf build'",
  "eval c''d app; rm -rf build",
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

test.each([
  ["cd sub && rm -rf build", ["/work/app/sub"]],
  ["cd -- 'a b' && cd c && rm -rf build", ["/work/app/a b/c"]],
  ["cd sub; rm -rf build", ["/work/app", "/work/app/sub"]],
  ["cd sub\nrm -rf build", ["/work/app", "/work/app/sub"]],
  ["cd sub && rm -rf build &", ["/work/app/sub"]],
  ["cd '~' && rm -rf build", ["/work/app/~"]],
])("%s says at its beginning where it acts", (line, folders) => {
  expect(foldersOf(line, "/work/app")).toEqual(folders);
});

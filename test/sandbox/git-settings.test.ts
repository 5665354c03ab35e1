import { describe, expect, test } from "vitest";
import { isGitSettingsOnly } from "../../src/env/sandbox/git-settings.js";

describe("lines that only set harmless settings of a repository", () => {
  test.each([
    "git config user.name 'A B'",
    'git config user.email "a@b.example" && git config user.name "A B"',
    "git config --local pull.rebase true; git remote -v",
    "git remote add origin https://git.example/a/b.git",
    "git remote add origin git@git.example:a/b.git\ngit config branch.main.remote origin",
    "cd repo && git -C sub remote set-url --push origin ../bare",
    "git config set user.name x",
    "git config --unset remote.origin.url",
    "git remote rename origin upstream",
  ])("%s", (line) => expect(isGitSettingsOnly(line)).toBe(true));

  test.each([
    "git config core.hooksPath evil",
    "git config core.fsmonitor ./evil",
    "git config alias.st '!sh evil'",
    "git config --file ../x user.name a",
    "git config -f x user.name a",
    "git config --global user.name a",
    "git config include.path ../evil",
    "git config user.name x core.fsmonitor evil",
    "git config remote.origin.url 'ext::sh -c evil'",
    "git config remote.origin.uploadpack evil",
    "git remote add origin 'ext::sh -c evil'",
    "git remote add -f origin https://x/y",
    "git remote add origin --upload-pack=evil",
    "git remote add origin ssh://-oProxyCommand=evil/x",
    "git config user.name $(evil)",
    "git config user.name `evil`",
    "git config user.name x > .git/hooks/pre-commit",
    "git config user.name x | sh",
    "git config user.name x & evil",
    "git config user.name x || evil",
    "git -c core.pager=evil config user.name x",
    "PATH=evil git config user.name x",
    "./git config user.name x",
    "git config user.name x; evil",
    "git config user.name a\\\nb",
    "git config --edit",
    "git status",
    "cd repo",
    "",
    "git config user.name {a,b}",
    'git config user.name "$(evil)"',
    "git config user.name x #",
    "git config branch.'x\n[core]fsmonitor=evil\n'.remote y",
  ])("not %s", (line) => expect(isGitSettingsOnly(line)).toBe(false));
});

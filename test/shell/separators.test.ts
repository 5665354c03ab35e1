import { describe, expect, it } from "vitest";
import { judgeCommand } from "../../src/shell/judge.js";

describe("words are split at the separators that may be in force", () => {
  it.each([
    ["set only perhaps", 'false && IFS=,; x="rm -rf /"; $x'],
    ["set in a branch", 'if test -e q; then IFS=:; fi; x="rm -rf /"; $x'],
    ["set in a loop", 'for IFS in , : " "; do x="rm -rf /"; $x; done'],
    ["unset again", 'IFS=,; unset IFS; x="rm -rf /"; $x'],
    ["unset perhaps", 'IFS=,; test -e q && unset IFS; x="rm -rf /"; $x'],
    ["in a shell of its own", `IFS=, ; bash -c 'x="rm -rf /"; $x'`],
    ["exported to a shell of its own", `export IFS=, ; bash -c 'x="rm -rf /"; $x'`],
    ["in front of a shell", `IFS=, bash -c 'x="rm -rf /"; $x'`],
    ["local to a function", 'f() { local IFS=,; }; f; x="rm -rf /"; $x'],
    ["others than blanks", 'IFS=,; x="rm,-rf,/"; $x'],
    ["others, perhaps", 'test -e q && IFS=,; x="rm,-rf,/"; $x'],
    ["unknown ones", 'IFS=$(cat f); x="rm -rf /"; $x'],
    ["joined by them", 'IFS=,; false && IFS=" "; set -- rm -rf /; eval "$*"'],
    ["read by them", 'test -e q && IFS=,; read -r a b <<< "rm,-rf /"; $a $b'],
  ])("%s: %s", (_name, command) => {
    expect(judgeCommand(command)).toMatchObject({ verdict: "hardline" });
  });

  it.each([
    'IFS=,; x="echo rm -rf"; $x',
    'IFS=, read -r a b <<< "one,two"; echo "$a" "$b"',
    'while IFS=: read -r name _ id _; do echo "$name $id"; done < /etc/passwd',
  ])("no alarm for %s", (command) => {
    expect(judgeCommand(command)).toMatchObject({ verdict: "safe" });
  });
});

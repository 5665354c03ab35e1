import { matches, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/** Commands, what they print and how they end: the shell must be as if nobody had put anything around it. */
const COMMANDS: readonly (readonly [what: string, command: string, output: string, exitCode: number])[] = [
  ["exit 3", "exit 3", "", 3],
  ["the last status", "true; false", "", 1],
  ["a subshell's status", "(exit 5)", "", 5],
  ["a pipeline's last status", "exit 4 | true", "", 0],
  ["an empty command", "", "", 0],
  ["only a comment", "# nothing", "", 0],
  ["a comment at the end", "echo hi # done", "hi\n", 0],
  ["a trailing semicolon and newline", "echo hi;\n", "hi\n", 0],
  ["several lines", "for i in 1 2\ndo\n  echo $i\ndone", "1\n2\n", 0],
  ["a here-document", "cat <<END\n$((1+1)) 'x'\nEND", "2 'x'\n", 0],
  ["no trailing newline", "printf hi", "hi", 0],
  ["a command that begins with a dash", "-n 2>/dev/null", "", 127],
  ["quotes of all kinds", `echo 'a"b' "c'd" $'e\\tf'`, `a"b c'd e\tf\n`, 0],
  ["no arguments of its own", 'echo "$# $*"', "0 \n", 0],
  ["set -e", "set -e; false; echo no", "", 1],
  ["set -u", `set -u; : "\${x-}"; echo ok`, "ok\n", 0],
  ["exec of another program", "exec sh -c 'cd /; exit 6'", "", 6],
  ["an EXIT trap of its own", "trap 'echo bye' EXIT; echo hi", "hi\nbye\n", 0],
  ["an EXIT trap that changes the status", "trap 'exit 9' EXIT; exit 1", "", 9],
  ["stdout closed", "exec 1>&-; exit 2", "", 2],
  ["stdout moved to a file", "exec >moved; echo in file; exit 0", "", 0],
  ["low descriptors used", "exec 3>&1 4>&1 5>&1; echo a >&3; echo b >&5; exec 3>&-", "a\nb\n", 0],
  ["killed by TERM", "kill -TERM $$", "", 143],
  ["killed by KILL", "kill -9 $$", "", 137],
  ["killed by USR1", "kill -USR1 $$", "", 138],
  ["a child killed", "exec 2>/dev/null; (sh -c 'kill -9 $$'); echo $?", "137\n", 0],
  ["an unknown program", "no-such-program-at-all 2>/dev/null", "", 127],
  ["a large status", "exit 255", "", 255],
];

export const shellCases: readonly ConformanceCase[] = [
  conformanceCase("the shell behaves as a shell: output and exit codes", async (context) => {
    const task = await context.task();
    const results = await Promise.all(COMMANDS.map(([, command]) => task.run(command)));
    for (const [index, [what, , output, exitCode]] of COMMANDS.entries()) {
      const result = results[index];
      // A shell that is killed may leave a line of another shell that waited for it ("Killed").
      const printed = exitCode > 128 && exitCode < 192 ? "" : result?.output;
      same([printed, result?.exitCode], [output, exitCode], what);
      same([result?.timedOut, result?.cancelled, result?.truncated], [false, false, false], `${what}: flags`);
    }
    same(task.state.cwd, task.folder, "the folder afterwards");
  }),

  conformanceCase("a syntax error is told, with exit code 2, and runs nothing", async (context) => {
    const task = await context.task();
    const result = await task.run("echo 'unfinished\ntouch ran");
    same(result.exitCode, 2, "exit code of an unfinished quote");
    matches(result.output, /unexpected|unterminated/i, "the message");
    same((await task.run("ls")).output, "", "nothing was run");
  }),

  conformanceCase("a trace shows the command and nothing around it", async (context) => {
    const task = await context.task();
    matches((await task.run("set -x; echo hi; cd /")).output, /^\++ echo hi\nhi\n\++ cd \/\n$/, "set -x");
  }),

  conformanceCase("functions that shadow builtins do not confuse what is carried on", async (context) => {
    const task = await context.task();
    await task.run(
      "pwd() { echo /nowhere; }; env() { echo CF_FAKE=1; }; printf() { :; }; export() { :; }; declare() { :; }; trap() { :; }",
    );
    same(
      (await task.run(`pwd; echo "\${CF_FAKE-none}"`)).output,
      `${task.folder}\nnone\n`,
      "the next command",
    );
  }),

  conformanceCase("a command that prints its own shell's command line is shown whole", async (context) => {
    const task = await context.task();
    await task.run("mkdir deep");
    const result = await task.run(
      "echo first; tr '\\0' '\\n' < /proc/$$/cmdline; set; trap; cd deep; echo last",
    );
    same(result.exitCode, 0, "exit code");
    matches(result.output, /^first\n.*last\n$/s, "output");
    same(task.state.cwd, `${task.folder}/deep`, "the folder afterwards");
  }),

  conformanceCase("the shell reads no start-up files of the person", async (context) => {
    const task = await context.task();
    await task.run(
      "printf 'echo from-rc; export CF_RC=1\\n' | tee .bashrc .bash_profile .profile >/dev/null",
    );
    const { output } = await task.run(`echo "rc: \${CF_RC-none}"`, {
      env: { HOME: task.folder, ENV: `${task.folder}/.profile`, BASH_ENV: undefined },
    });
    same(output, "rc: none\n", "output with start-up files in HOME");
  }),

  conformanceCase("a command does not stop at a pager or a prompt", async (context) => {
    const task = await context.task();
    const { output } = await task.run('echo "$PAGER $GIT_PAGER $GIT_TERMINAL_PROMPT $AI_AGENT"');
    same(output, "cat cat 0 hermes\n", "the fixed variables");
  }),
];

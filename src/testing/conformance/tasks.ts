import { join } from "node:path/posix";
import { quoteForShell } from "../../base/quote.js";
import { holds, refused, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

/** Values that break careless quoting on the way to the next command and back. */
const ODD_VALUES: Readonly<Record<string, string>> = {
  CF_SPACES: "  two  spaces ",
  CF_QUOTES: `it's "quoted" \`so\``,
  CF_DOLLAR: `$HOME $(echo no) \${PATH} $$`,
  CF_LINES: "one\ntwo\n\n",
  CF_TAB: "a\tb\rc",
  CF_BACKSLASH: "\\n \\\\ \\",
  CF_UNICODE: "grün ✓ 漢字 😀",
  CF_EMPTY: "",
  CF_EQUALS: "a=b=c",
  CF_DASH: "-n",
  CF_GLOB: "* ? [a-z] ~",
  CF_BANG: "!x !! #not a comment; & | < >",
  CF_ESCAPE: "\u001b[31mred\u001b[0m \u0007",
  CF_LONG: "x".repeat(10_000),
};

export const taskCases: readonly ConformanceCase[] = [
  conformanceCase("the folder is kept between calls", async (context) => {
    const task = await context.task();
    await task.run("mkdir -p a/b && cd a");
    same((await task.run("pwd")).output, `${task.folder}/a\n`, "pwd after cd a");
    const moved = await task.run("cd b; false");
    same(moved.exitCode, 1, "exit code of a command that moved and then failed");
    same(task.state.cwd, `${task.folder}/a/b`, "the folder after a failed command");
    await task.run("(cd ..; pwd)");
    same(task.state.cwd, `${task.folder}/a/b`, "the folder after a cd in a subshell");
    await task.run("cd ..; exit 7");
    same(task.state.cwd, `${task.folder}/a`, "the folder after cd and exit 7");
  }),

  conformanceCase("exported variables are kept, whatever they hold", async (context) => {
    const task = await context.task();
    const assigned = Object.entries(ODD_VALUES)
      .map(([name, value]) => `export ${name}=${quoteForShell(value)}`)
      .join("\n");
    await task.run(assigned);
    const names = Object.keys(ODD_VALUES);
    const { output } = await task.run(
      `printf '%s\\0' ${names.map((name) => `"\${${name}-unset}"`).join(" ")}`,
    );
    const values = output.split("\0");
    for (const [index, name] of names.entries())
      same(values[index], ODD_VALUES[name], `$${name} in the next command`);
    await task.run("PLAIN=1; readonly CF_FIXED=2; export CF_FIXED");
    same(
      (await task.run(`echo "\${PLAIN-none} $CF_FIXED"`)).output,
      "none 2\n",
      "what is exported is kept, what is not is not",
    );
    same((await task.run("CF_FIXED=9; echo $CF_FIXED")).output, "9\n", "readonly is not carried on");
  }),

  conformanceCase("unset is kept too, also for the environment's own variables", async (context) => {
    const task = await context.task();
    await task.run("export CF_GONE=1");
    same((await task.run("echo $CF_GONE; unset CF_GONE")).output, "1\n", "the variable before unset");
    same((await task.run(`echo "\${CF_GONE-gone}"`)).output, "gone\n", "the variable after unset");
    await task.run("unset HOME; export -n LANG; unset PAGER");
    same((await task.run(`echo "\${HOME-gone} \${PAGER-gone}"`)).output, "gone gone\n", "own variables");
  }),

  conformanceCase("a task that exports a broken PATH can still run commands", async (context) => {
    const task = await context.task();
    await task.run("export PATH=/nowhere");
    same((await task.run("echo $PATH")).output, "/nowhere\n", "a builtin with PATH=/nowhere");
    await task.run("unset PATH");
    same((await task.run("echo here")).output, "here\n", "a builtin without PATH");
    await task.run("export PATH=/usr/local/bin:/usr/bin:/bin");
    same((await task.run("ls | cat")).exitCode, 0, "exit code of ls once PATH is right again");
  }),

  conformanceCase("exports that cannot be carried on do no harm", async (context) => {
    const task = await context.task();
    await task.run("export CF_BEFORE=1; CF_BAD=$(printf 'a\\377b'); export CF_BAD");
    same((await task.run("echo $CF_BEFORE")).output, "1\n", "after a value that is not text");
    await task.run("CF_HUGE=$(head -c 110000 /dev/zero | tr '\\0' x); export CF_HUGE");
    same((await task.run("echo $CF_BEFORE")).output, "1\n", "after a value that is too large");
    await task.run("export IFS=, PS4='$(echo no)' ENV=/nowhere BASH_ENV=/nowhere CDPATH=/ GLOBIGNORE='*'");
    same(
      (await task.run("mkdir -p sub && cd sub && pwd && echo a b")).output.split("\n")[1] ?? "",
      "a b",
      "later",
    );
  }),

  conformanceCase(
    { name: "functions and options of one command are gone in the next", needs: ["bash"] },
    async (context) => {
      const task = await context.task();
      const show = "type f 2>/dev/null; false | true; echo $? $UNSET_AT_ALL x*; umask";
      const before = await task.run(show);
      await task.run("f() { echo f; }; export -f f; set -o pipefail -e -u; shopt -s nullglob; umask 077");
      same((await task.run(show)).output, before.output, "the same command before and after");
    },
  ),

  conformanceCase("two tasks of one environment do not see each other", async (context) => {
    const [left, right] = [await context.task(), await context.task()];
    await Promise.all([
      left.run("mkdir mine; cd mine; export CF_WHO=left"),
      right.run("export CF_WHO=right CF_MORE=1"),
    ]);
    const show = `pwd; echo "\${CF_WHO-none} \${CF_MORE-none}"`;
    const [fromLeft, fromRight] = await Promise.all([left.run(show), right.run(show)]);
    same(fromLeft.output, `${left.folder}/mine\nleft none\n`, "what the left task sees");
    same(fromRight.output, `${right.folder}\nright 1\n`, "what the right task sees");
  }),

  conformanceCase("a folder given for one call leaves the task where it is", async (context) => {
    const task = await context.task();
    await task.run("mkdir -p other/sub");
    const other = join(task.folder, "other");
    const result = await task.run("pwd; cd sub", { cwd: other });
    same([result.output, result.cwd], [`${other}\n`, join(other, "sub")], "pwd, and where the command ended");
    same(task.state.cwd, task.folder, "the task's folder afterwards");
  }),

  conformanceCase("a variable given with one call wins over a kept one", async (context) => {
    const task = await context.task();
    await task.run("export CF_ONE=kept CF_TWO=kept");
    const { output } = await task.run(`echo "$CF_ONE \${CF_TWO-away}"`, {
      env: { CF_ONE: "given", CF_TWO: undefined },
    });
    same(output, "given away\n", "the variables of the call");
    same((await task.run(`echo "$CF_ONE \${CF_TWO-away}"`)).output, "kept kept\n", "the next call");
  }),

  conformanceCase("a variable given with one call is gone in the next", async (context) => {
    const task = await context.task();
    await task.run("true", { env: { CF_ONCE: "secret of one call" } });
    same((await task.run(`echo "\${CF_ONCE-gone}"`)).output, "gone\n", "the next call");
    await task.run("export CF_ONCE=changed", { env: { CF_ONCE: "given" } });
    same((await task.run("echo $CF_ONCE")).output, "changed\n", "a given variable that the command changed");
  }),

  conformanceCase("programs started as argument vectors leave the task alone", async (context) => {
    const task = await context.task();
    await task.run("export CF_TASK=1");
    const result = await task.run(["sh", "-c", "cd /; export CF_TASK=2; echo done"]);
    same(result.output, "done\n", "output of the program");
    same(task.state.cwd, task.folder, "the task's folder");
    same((await task.run("echo $CF_TASK")).output, "1\n", "the task's variable");
  }),

  conformanceCase("a timed-out or cancelled command does not move the task", async (context) => {
    const task = await context.task();
    await task.run("cd /; export CF_MOVED=1; sleep 30", { timeoutMs: context.startMs });
    same(task.state.cwd, task.folder, "the folder after a timeout");
    same((await task.run(`echo "\${CF_MOVED-no}"`)).output, "no\n", "the variable after a timeout");
  }),

  conformanceCase(
    "a deleted folder is an error, then the task goes on in the nearest one",
    async (context) => {
      const task = await context.task();
      await task.run("mkdir -p a/b/c && cd a/b/c");
      await task.run(`rm -rf ${task.folder}/a/b`, { cwd: task.folder });
      // The call with another folder has moved the task; put it back where it was.
      task.state.moveTo(`${task.folder}/a/b/c`);
      const error = await refused(task.run("touch ran"), {
        what: "a command in a deleted folder",
        like: /does not exist/,
      });
      holds(error.message.includes("a/b/c"), "the error names the folder", error.message);
      same(task.state.cwd, `${task.folder}/a`, "where the task goes on");
      same((await task.run("pwd; ls")).output, `${task.folder}/a\n`, "the next command");
    },
  ),

  conformanceCase("a command that deletes its own folder ends well", async (context) => {
    const task = await context.task();
    await task.run("mkdir doomed && cd doomed");
    const result = await task.run('rm -rf "$PWD"; echo gone');
    same([result.output, result.exitCode], ["gone\n", 0], "the command that deleted its folder");
    await task.run("true").catch(() => {});
    same((await task.run("echo on")).output, "on\n", "a later command");
  }),

  conformanceCase("a missing, relative or unusable folder is refused with a reason", async (context) => {
    const task = await context.task();
    await task.run("touch file");
    const tries: readonly (readonly [string, RegExp])[] = [
      [join(task.folder, "missing"), /does not exist/],
      [join(task.folder, "file"), /not a folder|not a directory/i],
      ["relative", /absolute/],
      [`${task.folder}\0x`, /NUL/],
    ];
    for (const [cwd, like] of tries) {
      await refused(task.run("touch ran", { cwd }), { what: `a command in ${JSON.stringify(cwd)}`, like });
      await refused(task.start("touch ran", { cwd }), { what: `a spawn in ${JSON.stringify(cwd)}`, like });
    }
    same((await task.run("ls")).output, "file\n", "nothing was run");
  }),

  conformanceCase("a folder with an odd name can be the working folder", async (context) => {
    const task = await context.task();
    const names = [
      "with space ",
      "new\nline",
      "ends\n",
      "quote'\"s",
      "-dash",
      "$(echo x)",
      "grün✓",
      "back\\n",
    ];
    const made = await task.run(["mkdir", "--", ...names.map((name) => join(task.folder, name))]);
    same(made.exitCode, 0, "mkdir");
    for (const name of names) {
      const folder = join(task.folder, name);
      const moved = await task.run('cd -- "$CF_TO"', { env: { CF_TO: folder } });
      same([moved.exitCode, moved.cwd], [0, folder], `cd into ${JSON.stringify(name)}`);
      const { output } = await task.run('printf "%s<end>" "$PWD"; touch here');
      same(output, `${folder}<end>`, `the next command in ${JSON.stringify(name)}`);
      task.state.moveTo(task.folder);
    }
    const listed = await task.environment.files.list(task.folder);
    same(listed.map(({ name }) => name).sort(), [...names].sort(), "names of the folders");
  }),
];

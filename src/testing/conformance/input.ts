import { randomBytes } from "node:crypto";
import { sha256 } from "../../base/hash.js";
import { same, within } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const MEGABYTES_5 = 5_000_000;

export const inputCases: readonly ConformanceCase[] = [
  conformanceCase("without input a program reads the end at once", async (context) => {
    const task = await context.task();
    const result = await within(20_000, "cat without input", task.run("cat; read line; echo $?; cat"));
    same([result.output, result.exitCode], ["1\n", 0], "output and exit code");
    same((await within(20_000, "cat as a program", task.run(["cat"]))).output, "", "cat without a shell");
  }),

  conformanceCase("input arrives byte for byte", async (context) => {
    const task = await context.task();
    same((await task.run("cat", { stdin: "hi" })).output, "hi", "text");
    same((await task.run("cat; echo end", { stdin: "" })).output, "end\n", "empty input");
    const bytes = Uint8Array.from({ length: 256 }, (_, index) => index);
    const { output } = await task.run("od -An -v -tx1 | tr -d ' \\n'", { stdin: bytes });
    same(output, Buffer.from(bytes).toString("hex"), "all byte values");
    same((await task.run(["cat"], { stdin: "grün\r\n✓" })).output, "grün\r\n✓", "input of a program");
  }),

  conformanceCase("5 MB of input arrive whole", async (context) => {
    const task = await context.task();
    const bytes = randomBytes(MEGABYTES_5);
    const { output } = await task.run("sha256sum | cut -c1-64", { stdin: bytes });
    same(output, `${sha256(bytes)}\n`, "sha256 of the input");
  }),

  conformanceCase("5 MB of input through cat come back whole", async (context) => {
    const task = await context.task();
    const result = await task.run(["cat"], { stdin: "x".repeat(MEGABYTES_5), maxOutputChars: 100 });
    same([result.totalBytes, result.exitCode], [MEGABYTES_5, 0], "bytes and exit code");
  }),

  conformanceCase("input that nobody reads does not hold the command or break it", async (context) => {
    const task = await context.task();
    const stdin = "x".repeat(MEGABYTES_5);
    const unread = await within(20_000, "true with 5 MB of input", task.run("true", { stdin }));
    same([unread.exitCode, unread.output], [0, ""], "unread input");
    const partly = await within(20_000, "head with 5 MB", task.run("head -c 10; exit 3", { stdin }));
    same([partly.exitCode, partly.output], [3, "x".repeat(10)], "partly read input");
    const late = await task.run("sleep 30", { stdin, timeoutMs: context.startMs });
    same(late.exitCode, 124, "exit code of a command that times out over its input");
  }),

  conformanceCase("the command itself is not on its standard input", async (context) => {
    const task = await context.task();
    const { output } = await task.run("echo a; cat; echo b; head -c 100; echo c", { stdin: "mine\n" });
    same(output, "a\nmine\nb\nc\n", "output");
  }),
];

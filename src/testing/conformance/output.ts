import { holds, matches, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

const LARGE_BYTES = 300_000_000;
/** Less says nothing about a buffer that grows with the output. */
const TELLING_BYTES = 200_000_000;
const MEMORY_GROWTH = 200_000_000;

export const outputCases: readonly ConformanceCase[] = [
  conformanceCase(
    { name: "very large output is counted, and kept as head 40 % and tail 60 %", alone: true },
    async (context) => {
      const task = await context.task();
      const bytes = context.setup.largeOutputBytes ?? LARGE_BYTES;
      const before = process.memoryUsage().rss;
      let most = before;
      let streamed = 0;
      const result = await task.run(`echo BEGIN; head -c ${bytes} /dev/zero | tr '\\0' x; echo; echo END`, {
        timeoutMs: 120_000,
        maxOutputChars: 10_000,
        onChunk: (chunk) => {
          streamed += chunk.length;
          most = Math.max(most, process.memoryUsage.rss());
        },
      });
      const total = bytes + 11;
      same(
        [result.exitCode, result.truncated, result.totalBytes],
        [0, true, total],
        "exit, truncated, total",
      );
      same(streamed, total, "characters that were streamed");
      const parts = /^(BEGIN\nx+)\n\[\.\.\. (\d+) of (\d+) characters omitted \.\.\.\]\n(x+\nEND\n)$/.exec(
        result.output,
      );
      same(
        [parts?.[1]?.length, parts?.[4]?.length, Number(parts?.[2]), Number(parts?.[3])],
        [4_000, 6_000, total - 10_000, total],
        "characters of the head and the tail, omitted, in all",
      );
      if (bytes >= TELLING_BYTES)
        holds(most - before < MEMORY_GROWTH, `memory grows by less than ${MEMORY_GROWTH}`, most - before);
    },
  ),

  conformanceCase("output just within the bound is whole, and just beyond it is cut", async (context) => {
    const task = await context.task();
    const print = "head -c 1000 /dev/zero | tr '\\0' x";
    const whole = await task.run(print, { maxOutputChars: 1_000 });
    same([whole.truncated, whole.output.length], [false, 1_000], "1,000 of 1,000");
    const cut = await task.run(print, { maxOutputChars: 999 });
    same([cut.truncated, cut.totalBytes], [true, 1_000], "1,000 of 999");
  }),

  conformanceCase(
    "bytes that are not text arrive as replacement characters, NUL as itself",
    async (context) => {
      const task = await context.task();
      const result = await task.run("printf 'a\\000b\\377\\376c\\001'");
      same([result.output, result.totalBytes], ["a\0b\ufffd\ufffdc\u0001", 7], "output and bytes");
      matches((await task.run("printf 'cut\\342\\202'")).output, /^cut\ufffd+$/, "a character cut off");
    },
  ),

  conformanceCase("a character split over chunks survives", async (context) => {
    const task = await context.task();
    const chunks: string[] = [];
    const { output } = await task.run(
      "printf '\\342'; sleep 0.15; printf '\\202'; sleep 0.15; printf '\\254\\n'",
      { onChunk: (chunk) => chunks.push(chunk) },
    );
    same(output, "€\n", "output");
    same(chunks.join(""), "€\n", "what was streamed");
  }),

  conformanceCase("many characters of several bytes survive whatever the chunks", async (context) => {
    const task = await context.task();
    const { output } = await task.run(
      "i=0; while [ $i -lt 40000 ]; do printf '漢😀é'; i=$((i+1)); done; echo",
      { maxOutputChars: 1_000_000 },
    );
    holds(output === `${"漢😀é".repeat(40_000)}\n`, "160,000 code units arrive unchanged", output.length);
  }),

  conformanceCase({ name: "output is streamed while the command runs", alone: true }, async (context) => {
    const task = await context.task();
    let firstAt = 0;
    const result = await task.run("echo first; sleep 1; echo second", {
      onChunk: () => {
        firstAt ||= performance.now();
      },
    });
    const before = performance.now() - firstAt;
    same(result.output, "first\nsecond\n", "output");
    holds(firstAt > 0 && before > 700, "the first line comes long before the end", `${before} ms before`);
  }),

  conformanceCase("stdout and stderr come in the order they were written", async (context) => {
    const task = await context.task();
    const lines = 300;
    const { output, stderr } = await task.run(
      `i=0; while [ $i -lt ${lines} ]; do echo out$i; echo err$i >&2; i=$((i+1)); done`,
    );
    const expected = Array.from({ length: lines }, (_, i) => `out${i}\nerr${i}\n`).join("");
    same(output, expected, "merged output");
    same(stderr, "", "stderr, when merged");
  }),

  conformanceCase("stdout and stderr stay apart when asked", async (context) => {
    const task = await context.task();
    for (const command of [
      "echo out; echo err >&2; exit 4",
      ["sh", "-c", "echo out; echo err >&2; exit 4"],
    ]) {
      const result = await task.run(command, { separateStderr: true });
      same(
        [result.output, result.stderr, result.exitCode],
        ["out\n", "err\n", 4],
        `stdout, stderr and exit code of ${typeof command === "string" ? "a line" : "a program"}`,
      );
    }
  }),

  conformanceCase("large output on both streams at once does not lock up", async (context) => {
    const task = await context.task();
    const result = await task.run(
      "head -c 3000000 /dev/zero | tr '\\0' o & head -c 3000000 /dev/zero | tr '\\0' e >&2; wait",
      { separateStderr: true, maxOutputChars: 1_000 },
    );
    same([result.exitCode, result.totalBytes, result.truncated], [0, 6_000_000, true], "exit, bytes, cut");
    matches(result.output, /^o+\n.*omitted.*\no+$/, "stdout");
    matches(result.stderr, /^e+\n.*omitted.*\ne+$/, "stderr");
  }),

  conformanceCase("the last bytes of a program that ends at once are never lost", async (context) => {
    const task = await context.task();
    for (let round = 0; round < 8; round += 1) {
      const { output, totalBytes } = await task.run(
        "head -c 200000 /dev/zero | tr '\\0' x; printf '<end>'; kill -9 $$",
        { maxOutputChars: 1_000 },
      );
      same(
        [totalBytes >= 200_005, output.includes("<end>")],
        [true, true],
        `round ${round}: all, with its end`,
      );
    }
  }),
];

import { randomUUID } from "node:crypto";
import { readdirSync, readFileSync } from "node:fs";
import { holds, same } from "./expect.js";
import { type ConformanceCase, conformanceCase } from "./types.js";

export const secrecyCases: readonly ConformanceCase[] = [
  conformanceCase({ name: "variables of this process stay here", alone: true }, async (context) => {
    const canary = `canary-${randomUUID()}`;
    process.env.CONFORMANCE_API_KEY = canary;
    try {
      await context.withOwn(async (own) => {
        const task = await context.task(own);
        const { output } = await task.run("env; set; cat /proc/self/environ | tr '\\0' '\\n'");
        holds(!output.includes(canary), "exec shows no variable of this process", output);
        const started = await task.start("env; echo done");
        await started.shows("done");
        await started.ended();
        holds(!started.text().includes(canary), "spawn shows no variable of this process", started.text());
        const vector = await task.run(["env"]);
        holds(!vector.output.includes(canary), "a program shows none either", vector.output);
      });
    } finally {
      delete process.env.CONFORMANCE_API_KEY;
    }
  }),

  conformanceCase(
    { name: "variables that are let through by name arrive", needs: ["passthrough"] },
    async (context) => {
      const value = `let through ${randomUUID()} 'x'`;
      process.env.CONFORMANCE_PASSED = value;
      try {
        await context.withOwn(
          async (own) => {
            const task = await context.task(own);
            same((await task.run('printf %s "$CONFORMANCE_PASSED"')).output, value, "exec");
            const started = await task.start('printf "%s<end>" "$CONFORMANCE_PASSED"');
            await started.shows("<end>");
            same(started.text(), `${value}<end>`, "spawn");
            await started.ended();
          },
          { passthrough: ["CONFORMANCE_PASSED"] },
        );
      } finally {
        delete process.env.CONFORMANCE_PASSED;
      }
    },
  ),

  conformanceCase("values of variables and input are on no command line, here or there", async (context) => {
    const task = await context.task();
    const secret = `secret-${randomUUID()}`;
    const look = `sleep 0.3; ${lookFor(secret)}; echo looked`;
    const here: string[] = [];
    const watch = setInterval(() => here.push(...commandLinesWith(secret)), 20);
    try {
      const result = await task.run(look, { env: { CF_TOKEN: secret }, stdin: secret });
      same(result.output, "looked\n", "command lines there, with exec");
      const started = await task.start(look, { env: { CF_TOKEN: secret } });
      await started.process.write(`${secret}\n`);
      await started.shows("looked");
      same(started.text(), "looked\n", "command lines there, with spawn");
      await started.ended();
    } finally {
      clearInterval(watch);
    }
    same(here, [], "command lines of this machine");
  }),

  conformanceCase("exported secrets of a task are on no command line either", async (context) => {
    const task = await context.task();
    const secret = `secret-${randomUUID()}`;
    await task.run(`export CF_TOKEN=${inTwo(secret)}`);
    const here: string[] = [];
    const watch = setInterval(() => here.push(...commandLinesWith(secret)), 20);
    try {
      const { output } = await task.run(`sleep 0.3; ${lookFor(secret)}; echo "\${#CF_TOKEN}"`);
      same(output, `${secret.length}\n`, "command lines there");
    } finally {
      clearInterval(watch);
    }
    same(here, [], "command lines of this machine");
  }),
];

/** Says `found` when a command line there holds the text; only the shell itself looks at it. */
function lookFor(text: string): string {
  const lines = "$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' '\\n')";
  return `case ${lines} in *${inTwo(text)}*) echo found ;; esac`;
}

/** One word for a shell, but not the same bytes: the search itself must be no match. */
function inTwo(text: string): string {
  return `${text.slice(0, 20)}''${text.slice(20)}`;
}

function commandLinesWith(text: string): string[] {
  try {
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .flatMap((pid) => {
        try {
          const line = readFileSync(`/proc/${pid}/cmdline`, "latin1").replaceAll("\0", " ");
          return line.includes(text) ? [`${pid}: ${line.slice(0, 300)}`] : [];
        } catch {
          return [];
        }
      });
  } catch {
    // No /proc on this machine: only the other side can be looked at.
    return [];
  }
}

import { VERSION } from "../version.js";
import type { CommandContext } from "./context.js";

/** The first thing a person sees: what is here, what is ready, what to type next. */
export async function banner({ out, runtime: open }: CommandContext): Promise<void> {
  const runtime = await open({ wait: false });
  const tools = await runtime.listTools();
  const on = tools.filter((tool) => tool.enabled);
  const ready = on.filter((tool) => tool.available);
  const { values, paths } = runtime.config;
  const next = "hermes call system_info";
  if (out.json) {
    out.value({
      version: VERSION,
      tools: tools.length,
      ready: ready.length,
      need_setup: on.length - ready.length,
      disabled: tools.length - on.length,
      environment: values.terminal.env,
      profile: values.permissions.profile,
      home: paths.home,
      try: next,
    });
  } else {
    const { color } = out;
    const setup = on.length - ready.length;
    out.line(`${color.bold("Hermes Tools")} ${VERSION}`);
    out.line(
      `${tools.length} tools: ${color.green(`${ready.length} ready`)}${setup > 0 ? `, ${color.yellow(`${setup} need set-up`)} (hermes doctor)` : ""}`,
    );
    out.line(`environment ${values.terminal.env}, profile ${values.permissions.profile}, home ${paths.home}`);
    for (const problem of runtime.config.problems)
      out.line(`${out.mark(problem.severity)} ${problem.message} (hermes config check)`);
    const { boundaryProblem } = await import("../runtime/doctor.js");
    const unguarded = await boundaryProblem(runtime.config);
    if (unguarded !== undefined) {
      const what = "⚠ nothing keeps commands from your credentials and start-up files here:";
      out.line(`${color.yellow(what)} ${unguarded.unavailable}`);
      out.line(`  ${unguarded.fix}`);
    }
    out.line();
    out.line("Try:");
    for (const [command, what] of [
      [next, "call a tool"],
      ["hermes tools", "every tool and whether it is ready"],
      ["hermes serve", "HTTP API and a page to look at"],
      ["hermes --help", "all commands"],
    ] as const)
      out.line(`  ${command.padEnd(26)}${color.dim(what)}`);
  }
  await runtime.close();
}

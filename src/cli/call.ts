import { aboutTools, type CommandContext } from "./context.js";
import { exitCodeOf } from "./errors.js";
import { readCallArguments } from "./input.js";
import { withSession } from "./session/with-session.js";

export async function call(context: CommandContext): Promise<void> {
  const { out, flags } = context;
  const [name = "", ...words] = context.args;
  const given = await readCallArguments(words);
  await withSession(aboutTools(context, [name]), async (session, signal) => {
    const request = { id: "call_1", name, arguments: given };
    if (flags.dryRun === true) {
      const explained = await session.explainCall(request);
      out.result(explained, JSON.stringify(explained, null, 2));
      if (explained.error !== undefined) process.exitCode = exitCodeOf(explained.error.code);
      return;
    }
    const passExitCode = context.options.exitCode === true;
    out.callResult(await session.call(request, { signal }), { passExitCode });
  });
}

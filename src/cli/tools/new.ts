import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import { quoteForShell } from "../../base/quote.js";
import { aboutTools, type CommandContext, withRuntime } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson } from "../person.js";

const USABLE_NAME = /^[a-z][a-z0-9_]{0,63}$/;

/** Writes a tool that works, for its author to change. */
export async function create(context: CommandContext): Promise<void> {
  assertPerson("Tools are added by a person", "Ask the person to run this command.");
  const { out, home, options } = context;
  const [name = ""] = context.args;
  if (!USABLE_NAME.test(name)) {
    const suggestion = name
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, "_")
      .replace(/^[^a-z]+|_+$/g, "");
    throw commandError(
      "bad_request",
      `${JSON.stringify(name)} cannot be the name of a tool`,
      `Small letters, digits and _, beginning with a letter${suggestion === "" ? "." : `: ${suggestion}`}`,
    );
  }
  await withRuntime(aboutTools(context, [name]), async (runtime) => {
    if (runtime.registry.get(name) === undefined) return;
    throw commandError("bad_request", `there is a tool ${name} already`, `See: hermes tools info ${name}`);
  });
  const folder = typeof options.dir === "string" ? resolve(options.dir) : join(home, "tools");
  const file = join(folder, `${name}.ts`);
  await mkdir(folder, { recursive: true });
  await writeFile(file, source(name), { flag: "wx" }).catch((error: unknown) => {
    throw existsSync(file)
      ? commandError("bad_request", `${file} exists already`, "Nothing was changed.")
      : error;
  });
  const found = folder === join(home, "tools");
  const tries = found
    ? [`hermes call ${name} who=you`, `hermes tools check ${name}`]
    : [`hermes tools check ${quoteForShell(file)}`];
  if (out.json) return out.value({ name, file, try: tries });
  out.line(`${out.mark("ok")} ${file}`);
  out.line("Try:");
  for (const command of tries) out.line(`  ${command}`);
}

function source(name: string): string {
  return `import { defineTool } from "hermes-tools";

export default defineTool({
  name: "${name}",
  description: "Greet somebody. A model reads this to decide when to call the tool.",
  parameters: {
    type: "object",
    properties: {
      who: { type: "string", description: "Who is greeted" },
    },
    required: ["who"],
  },
  // What it may ever need, such as "network:fetch" or "file:read"; this one needs nothing.
  permissions: [],
  handler: ({ who }) => ({ greeting: \`Hello, \${who}!\` }),
});
`;
}

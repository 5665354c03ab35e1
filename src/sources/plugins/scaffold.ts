import { mkdir, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { failure, HermesError } from "../../tool/errors.js";

/** Writes a small plugin that works, with a test that passes. Answers with its files. */
export async function scaffoldPlugin(options: {
  readonly name: string;
  /** The plugin's own folder is made in here. */
  readonly dir: string;
}): Promise<{ readonly folder: string; readonly files: readonly string[] }> {
  const { name, dir } = options;
  if (!/^[a-z0-9][a-z0-9_-]{0,47}$/.test(name)) {
    const rule = "A plugin's name has small letters, digits, dash and underscore, at most 48 of them";
    throw new HermesError(failure("bad_request", `${rule}, not ${JSON.stringify(name)}`));
  }
  const folder = join(dir, name);
  if ((await stat(folder).catch(() => undefined)) !== undefined) {
    throw new HermesError(
      failure("bad_request", `${folder} is there already`, "Choose another name or --dir."),
    );
  }
  await mkdir(folder, { recursive: true, mode: 0o755 });
  const files = filesOf(name);
  for (const [file, text] of Object.entries(files)) await writeFile(join(folder, file), text);
  return { folder, files: Object.keys(files) };
}

function filesOf(name: string): Readonly<Record<string, string>> {
  const tool = `${name.replaceAll("-", "_")}_count`;
  return {
    // In quotes, since a name like 2026 or true would otherwise not be a text.
    "plugin.yaml": `name: "${name}"
version: 0.1.0
description: Counts words
author: ""
# Everything the plugin brings is named here; what is not, is refused.
provides_tools: [${tool}]
provides_hooks: [post_tool_call]
# Permissions its tools may ask for, such as network:fetch. Counting needs none.
capabilities: []
`,
    "index.mjs": `/** @param {import("hermes-tools").PluginContext} ctx */
export default function register(ctx) {
  ctx.tool({
    name: "${tool}",
    schema: {
      description: "Count the words of a text.",
      parameters: {
        type: "object",
        properties: { text: { type: "string", description: "What is counted" } },
        required: ["text"],
        additionalProperties: false,
      },
    },
    handler: ({ text }) => ({ words: countWords(text) }),
  });
  ctx.hook("post_tool_call", ({ tool, status }) => ctx.log.debug(\`\${tool} ended: \${status}\`));
}

/** @param {string} text */
export function countWords(text) {
  return text.split(/\\s+/).filter((word) => word !== "").length;
}
`,
    "index.test.mjs": `import assert from "node:assert/strict";
import { test } from "node:test";
import register, { countWords } from "./index.mjs";

test("words are counted, blanks are not", () => {
  assert.equal(countWords("  one two\\n three "), 3);
  assert.equal(countWords("   "), 0);
});

test("the plugin brings what its manifest says", () => {
  const tools = [];
  const hooks = [];
  register({
    tool: (tool) => tools.push(tool),
    hook: (name) => hooks.push(name),
    log: { debug() {}, info() {}, warn() {}, error() {} },
  });
  assert.deepEqual(tools.map(({ name }) => name), ["${tool}"]);
  assert.deepEqual(hooks, ["post_tool_call"]);
  assert.deepEqual(tools[0].handler({ text: "to be or not to be" }), { words: 6 });
});
`,
    "package.json": `${JSON.stringify(
      {
        name: `hermes-plugin-${name}`,
        version: "0.1.0",
        description: "Counts words",
        type: "module",
        main: "index.mjs",
        keywords: ["hermes-plugin"],
        files: ["index.mjs", "plugin.yaml", "README.md"],
        scripts: { test: "node --test" },
      },
      null,
      2,
    )}
`,
    "README.md": `# ${name}

A plugin for Hermes Tools.

    node --test                          # its own test
    hermes plugins enable ${name} --dev    # switch it on; changes of the files are taken up
    hermes call ${tool} text="one two"

\`plugin.yaml\` says what it brings, \`index.mjs\` brings it. Without \`--dev\`, changed files must be confirmed again
with \`hermes plugins enable ${name}\`.
`,
  };
}

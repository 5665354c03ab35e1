import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { defineTool, ToolResult } from "../../src/index.js";
import { testRuntime } from "../support/runtime.js";

/** One pixel. */
export const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

const picture = defineTool({
  name: "picture",
  description: "A picture",
  parameters: { type: "object", properties: {} },
  handler: () =>
    new ToolResult({ success: true, content: [{ type: "image", data: PNG, mimeType: "image/png" }] }),
});

/** A session with files to read, a picture to see, and commands that nobody may approve. */
export async function handsOn() {
  const { runtime, cwd } = await testRuntime([picture], { builtins: true });
  writeFileSync(join(cwd, "note.txt"), "the fox\n");
  const session = await runtime.openSession({ toolsets: ["read_file", "terminal", "picture"] });
  return { session, cwd };
}

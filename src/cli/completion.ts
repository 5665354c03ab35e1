import { Console } from "node:console";
import tab from "@bomb.sh/tab/commander";
import type { Command } from "commander";
import { builtinManifest } from "../registry/builtin-manifest.gen.js";
import { STATIC_TOOLSETS } from "../registry/toolset-table.js";
import type { CommandContext } from "./context.js";
import { buildProgram, silence } from "./program.js";

type Offer = (value: string, description: string) => void;

/** Reached when flags stand before the command: the library's own command does the work. */
export async function completion({ out, args: [shell = ""] }: CommandContext): Promise<void> {
  // The library prints the script with `console.log`.
  globalThis.console = new Console({ stdout: process.stdout, stderr: process.stderr });
  const program = buildProgram({ completion: false });
  addCompletion(program);
  if (out.json) silence(program);
  await program.parseAsync(["completion", shell], { from: "user" });
}

/** Adds `completion <shell>` and the hidden `complete` that the scripts call back. */
export function addCompletion(program: Command): void {
  const root = tab(program, { completionCommandName: "completion" });
  const offerTools = (offer: Offer) => {
    for (const tool of builtinManifest) offer(tool.name, tool.description.split("\n", 1)[0] ?? "");
  };
  for (const name of [
    "call",
    "tools info",
    "tools schema",
    "tools explain",
    "tools check",
    "tools enable",
    "tools disable",
  ]) {
    root.commands.get(name)?.argument("name", offerTools);
  }
  root.commands.get("toolsets")?.argument("name", (offer: Offer) => {
    for (const [name, { description }] of STATIC_TOOLSETS) offer(name, description);
  });
}

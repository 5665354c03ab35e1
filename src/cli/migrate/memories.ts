import { join } from "node:path";
import { entriesIn, textOfEntries } from "../../agent/memory/entries.js";
import { MemoryFiles } from "../../agent/memory/memory-files.js";
import { hermesPaths } from "../../config/paths.js";
import { threatIn } from "../../places/threats.js";
import type { MemoryTarget } from "../../tool/host-capabilities.js";
import { readSource, reasonOf } from "./read-source.js";
import { failed, type Homes, kept, migrated, type Step } from "./step.js";

/** Who wrote what is taken over: it is told in prompts beside the entry, as with everything that was read elsewhere. */
const HEARD = ["the memory of Hermes Agent"];

const FILES: readonly (readonly [MemoryTarget, string])[] = [
  ["memory", "MEMORY.md"],
  ["user", "USER.md"],
];

/** Entry by entry, behind those that are here. */
export async function planMemories(
  { from, home }: Homes,
  maxChars: Readonly<Record<MemoryTarget, number>>,
): Promise<Step[]> {
  const memory = new MemoryFiles({ folder: hermesPaths(home).memories, maxChars, session: "migrate" });
  const steps: Step[] = [];
  for (const [target, file] of FILES) {
    try {
      const text = (await readSource(join(from, "memories", file))) ?? "";
      const here = [...(await memory.read(target)).entries];
      for (const content of entriesIn(text)) {
        const item = { kind: "memory", name: `${file}: ${beginning(content)}` } as const;
        const threat = threatIn(content);
        if (here.includes(content)) steps.push(kept({ ...item, reason: "it is here already" }));
        else if (threat !== undefined)
          steps.push(failed({ ...item, reason: `memory may not hold ${threat}` }));
        else if (textOfEntries([...here, content]).length > maxChars[target])
          steps.push(failed({ ...item, reason: `it does not fit into ${maxChars[target]} characters` }));
        else {
          here.push(content);
          const operations = [{ action: "add", content }] as const;
          steps.push(migrated(item, () => memory.change({ target, operations, heard: HEARD })));
        }
      }
    } catch (error) {
      steps.push(failed({ kind: "memory", name: file, reason: reasonOf(error) }));
    }
  }
  return steps;
}

function beginning(content: string): string {
  const line = content.split("\n", 1)[0] ?? "";
  return line.length <= 60 ? line : `${line.slice(0, 59).replace(/[\ud800-\udbff]$/, "")}…`;
}

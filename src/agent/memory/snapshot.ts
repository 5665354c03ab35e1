import { threatIn } from "../../places/threats.js";
import type { MemoryContent, MemoryTarget } from "../../tool/host-capabilities.js";
import { JOINT, usageText } from "./entries.js";
import type { MemoryFiles } from "./memory-files.js";
import type { EntrySource } from "./sources.js";

const TITLES: Readonly<Record<MemoryTarget, string>> = {
  memory: "MEMORY (your own notes)",
  user: "USER PROFILE (what you know of the person)",
};

/**
 * Memory as it is written into the prompt when a conversation begins. It stays as it was then: a prompt that changes
 * would be paid for anew with every turn. The same files give the same text.
 */
export async function memorySnapshot(memory: MemoryFiles): Promise<string> {
  const parts: string[] = [];
  for (const target of ["memory", "user"] as const) {
    const content = await memory.read(target);
    if (content.entries.length > 0) parts.push(section(target, content, await memory.sources(target)));
  }
  return parts.join("\n\n");
}

function section(
  target: MemoryTarget,
  content: MemoryContent,
  sourceOf: (entry: string) => EntrySource | undefined,
): string {
  const entries = content.entries.map((entry) => told(entry, sourceOf(entry)));
  return `## ${TITLES[target]} [${usageText(content)}]\n${entries.join(JOINT)}`;
}

/** Somebody may have written into the file without passing the tool. */
function told(entry: string, source: EntrySource | undefined): string {
  const threat = threatIn(entry);
  if (threat !== undefined) return `[an entry is left out: it holds ${threat}]`;
  const heard = source?.heard ?? [];
  return heard.length === 0 ? entry : `${entry} [noted after reading ${heard.slice(0, 3).join(", ")}]`;
}

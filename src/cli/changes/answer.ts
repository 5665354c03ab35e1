import { readFile } from "node:fs/promises";
import { confirmFiles, contentHash, GONE } from "../../config/confirmed-files.js";
import { heldFiles } from "../../runtime/reload/held-changes.js";
import type { CommandContext } from "../context.js";
import { commandError } from "../errors.js";
import { assertPerson, confirm } from "../person.js";

export async function list({ out, home }: CommandContext): Promise<void> {
  const waiting = await heldFiles(home);
  out.result(
    { waiting },
    waiting.length === 0
      ? "Nothing waits."
      : [...waiting.map(({ path }) => `  ${path}`), 'Take it up with "hermes changes accept".'].join("\n"),
  );
}

export async function accept({ out, home, flags }: CommandContext): Promise<void> {
  assertPerson("Changes are accepted by a person");
  const waiting = await heldFiles(home);
  if (waiting.length === 0) return out.result({ accepted: [] }, "Nothing waits.");
  for (const { path } of waiting) if (!out.json) process.stderr.write(`  ${path}\n`);
  await confirm({
    question: `Take up ${waiting.length === 1 ? "this change" : `these ${waiting.length} changes`}?`,
    yes: flags.yes === true,
    refused: "nothing was taken up",
  });
  const seen = await Promise.all(waiting.map(async (file) => ({ ...file, now: await hashNow(file.path) })));
  const accepted = seen.filter(({ hash, now }) => hash === now);
  if (accepted.length < seen.length)
    throw commandError("denied", "a file has changed again meanwhile", "Look at it and try once more.");
  await confirmFiles(home, new Map(accepted.map(({ path, hash }) => [path, hash])));
  out.result({ accepted: accepted.map(({ path }) => path) }, `${out.mark("ok")} taken up`);
}

async function hashNow(path: string): Promise<string> {
  return readFile(path).then(contentHash, () => GONE);
}

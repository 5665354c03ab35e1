/**
 * What the original Hermes wrote into `command_allowlist`: descriptions of its patterns. Each stands for the rules that
 * ask about the same thing here; what is never run stays refused.
 */
export const ORIGINAL_WORDS: Readonly<Record<string, readonly string[]>> = {
  "recursive delete": ["recursive-delete"],
  "recursive delete (long flag)": ["recursive-delete"],
  "delete in root path": ["recursive-delete"],
  "world/other-writable permissions": ["permissions.world-writable"],
  "recursive world/other-writable (long flag)": ["permissions.world-writable"],
  "recursive chown to root": ["permissions.owner-root"],
  "recursive chown to root (long flag)": ["permissions.owner-root"],
  "sql drop": ["database"],
  "sql delete without where": ["database"],
  "sql truncate": ["database"],
  "overwrite system config": ["system.config"],
  "overwrite system file via tee": ["system.config"],
  "stop/disable system service": ["service"],
  "stop/restart system service": ["service"],
  "pipe remote content to shell": ["remote-code"],
  "execute remote script via process substitution": ["remote-code"],
  "find -delete": ["delete.found"],
  "find -exec rm": ["delete.found", "delete.listed"],
  "xargs with rm": ["delete.listed"],
  "git reset --hard (destroys uncommitted changes)": ["git.reset"],
  "git force push (rewrites remote history)": ["git.push"],
  "git clean with force (deletes untracked files)": ["git.clean"],
};

/** True when these words of the original stand for this rule. */
export function originalWordsMean(text: string, rule: string): boolean {
  const words = text.toLowerCase();
  const families = Object.hasOwn(ORIGINAL_WORDS, words) ? ORIGINAL_WORDS[words] : undefined;
  return families?.some((family) => rule === family || rule.startsWith(`${family}.`)) === true;
}

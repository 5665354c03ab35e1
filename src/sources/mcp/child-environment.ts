const INHERITED: ReadonlySet<string> = new Set([
  "PATH",
  "HOME",
  "USER",
  "LOGNAME",
  "LANG",
  "TERM",
  "SHELL",
  "TMPDIR",
]);
const INHERITED_FAMILY = /^(?:LC_|XDG_)[A-Z_]+$/;

/** What a server program sees: a few names of ours and what its settings add. Keys of other things stay behind. */
export function childEnvironment(
  parent: Readonly<Record<string, string | undefined>>,
  added: Readonly<Record<string, string>>,
): Record<string, string> {
  const child: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || (!INHERITED.has(name) && !INHERITED_FAMILY.test(name))) continue;
    // A function that bash exports is code, not a setting.
    if (!value.startsWith("()")) child[name] = value;
  }
  return { ...child, ...added };
}

/** Services of these run programs, scripts or requests on the machine that Home Assistant runs on. */
const BLOCKED: ReadonlySet<string> = new Set([
  "shell_command",
  "command_line",
  "python_script",
  "pyscript",
  "hassio",
  "rest_command",
]);

export function isBlockedDomain(domain: string): boolean {
  return BLOCKED.has(domain);
}

export const BLOCKED_DOMAINS: readonly string[] = [...BLOCKED];

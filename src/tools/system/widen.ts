import type { SandboxReport, Widening } from "../../env/sandbox/types.js";
import type { Effect } from "../../tool/effects.js";

/** What `widen` takes: the network, one path to write to or to read, or no boundary at all. */
export const WIDENING_PATTERN = "^(?:network|off|(?:write|read):/.+)$";
const WRITE = "write:";
const READ = "read:";

/** One effect for each, so that the person sees and answers every one of them, for this call only. */
export function wideningEffects(
  widen: readonly string[] | undefined,
  detail?: string | undefined,
): readonly Effect[] {
  return [...new Set(widen)].map((resource) => ({
    action: "sandbox:widen",
    resource,
    mode: "execute",
    ...(detail !== undefined && { detail }),
  }));
}

export function wideningOf(widen: readonly string[] | undefined): Widening | undefined {
  if (widen === undefined || widen.length === 0) return undefined;
  const named = (kind: string) =>
    widen.filter((item) => item.startsWith(kind)).map((item) => item.slice(kind.length));
  const [write, read] = [named(WRITE), named(READ)];
  return {
    network: widen.includes("network") || undefined,
    write,
    read,
    off: widen.includes("off") || undefined,
  };
}

/** With every result of a command in the strict sandbox, since what it cannot do shows in many ways. */
export function sandboxedWord(report: SandboxReport | undefined): string | undefined {
  if (report?.level !== "strict") return undefined;
  const network = report.network === true ? "" : "no network, ";
  const more = report.network === true ? "" : '["network"], ';
  return `strict: ${network}only the working folder and a /tmp of its own can be changed. For more, call again with widen: ${more}["write:/path"] or ["off"]; the person is asked.`;
}

/** Tells a model what the sandbox has probably refused and how to ask for it. */
export function denialNote(report: SandboxReport | undefined): string | undefined {
  switch (report?.denied) {
    case "network":
      return 'The sandbox has no network. If the command needs it, call again with widen: ["network"]; the person is asked.';
    case "read":
      return (
        `Commands run inside a guard that hides credentials and Hermes' own files, ${report.deniedPath} among them. ` +
        `If the command needs it, call again with widen: ${JSON.stringify([`${READ}${report.deniedPath}`])}; the person is asked.`
      );
    case "write": {
      const path = report.deniedPath ?? "/the/path";
      if (report.level === "guard") {
        return (
          "Commands run inside a guard in which start-up files, system folders and control sockets cannot be changed. " +
          `If this write is needed, call again with widen: ${JSON.stringify([`${WRITE}${path}`])} or ["off"]; the person is asked.`
        );
      }
      return (
        "The sandbox lets commands change the working folder and /tmp only, and some names in it not at all. " +
        `If this write is needed, call again with widen: ${JSON.stringify([`${WRITE}${path}`])} ` +
        "(an existing file or folder); the person is asked."
      );
    }
    case "other":
      return 'The sandbox may have refused this. If it must run outside, call again with widen: ["off"]; the person is asked.';
    default:
      return undefined;
  }
}

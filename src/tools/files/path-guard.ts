import { type Homes, judgePlace } from "../../places/judge-place.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext } from "../../tool/tool.js";
import type { Location } from "./paths.js";

/**
 * What only a handler can know: where a name leads in the end, and what it comes across in a folder. Everything
 * else about places is decided before a call runs, by the policy (src/policy/judge-file.ts).
 */

const ENDLESS_DEVICES = new Set(
  ["zero", "random", "urandom", "full", "stdin", "tty", "console", "stdout", "stderr"].map(
    (name) => `/dev/${name}`,
  ),
);
const DESCRIPTOR_ALIAS =
  /^(\/dev\/fd\/\d+|\/proc\/(self|thread-self|\d+)(\/task\/\d+)?\/fd\/\d+|\/proc\/(kmsg|kcore))$/;

export function refuseDevice({ path, real }: Location): void {
  for (const candidate of [path, real]) {
    if (ENDLESS_DEVICES.has(candidate) || DESCRIPTOR_ALIAS.test(candidate)) {
      throw new ToolError(`${path} is a device, not a file: reading it could block or never end.`, {
        code: "invalid_arguments",
        hint: "Name a regular file.",
      });
    }
  }
}

/** The homes that the table of places is asked with. */
export function homesOf(ctx: CallContext): Homes {
  const { files } = ctx.environment;
  const resolved = (path: string) => files.resolve(path, ctx.session.cwd);
  const configured = ctx.settings.hermes_home;
  const hermesHome =
    typeof configured === "string" && configured !== "" ? configured : process.env.HERMES_HOME || "~/.hermes";
  return { home: resolved("~"), hermesHome: resolved(hermesHome) };
}

/**
 * True for a file below the folder a call names that is not read with the rest of it: shown to nobody, or only to be
 * read when a person says so. Who names a folder of keys itself was asked about all of it.
 */
export function isSecretFile(path: string, { root, ctx }: { root: string; ctx: CallContext }): boolean {
  const homes = homesOf(ctx);
  const verdictOn = (place: string) => judgePlace({ path: place, operation: "read", ...homes }).verdict;
  if (verdictOn(path) === "deny") return true;
  if (verdictOn(root) !== "allow") return false;
  return ctx.refusal({ action: "file:read", resource: path, mode: "read", reversible: true }) !== undefined;
}

/** For files whose names turn up while a call runs, below a folder that the person has let it write to. */
export function refuseProtectedWrite(path: string, ctx: CallContext): void {
  const { verdict, words } = judgePlace({ path, operation: "write", ...homesOf(ctx) });
  if (verdict !== "deny") return;
  throw new ToolError(`Writing ${path} is refused: it is ${words}.`, {
    code: "denied",
    hint: "Tell the person what should change there; they can do it themselves.",
  });
}

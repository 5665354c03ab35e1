import { basename, delimiter, dirname, join } from "node:path";
import { foldPath, isAtOrBelow } from "../../base/path.js";
import { ToolError } from "../../tool/errors.js";
import type { CallContext, SessionInfo } from "../../tool/tool.js";
import type { Location } from "./paths.js";

/**
 * Second line of defence below the policy engine: targets that a file tool refuses whatever a profile
 * says. A shell can still reach them, so this stops mistakes, not an attacker who may run commands.
 */

const HOME_FILES = [".netrc", ".pgpass", ".npmrc", ".pypirc", ".git-credentials"];
const HOME_FOLDERS = [
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker",
  ".azure",
  join(".config", "gh"),
  join(".config", "gcloud"),
];
const SYSTEM_FILES = ["/etc/sudoers", "/etc/passwd", "/etc/shadow"];
const SYSTEM_FOLDERS = ["/etc/sudoers.d", "/etc/systemd"];
const HERMES_FILES = [".env", ".anthropic_oauth.json", "state.db", "state.db-wal", "state.db-shm"];
const HERMES_FOLDERS = ["mcp-tokens", "pairing", "sessions"];
const HERMES_SECRETS = [
  ".env",
  ".anthropic_oauth.json",
  "server.token",
  "approvals.key",
  "state.db",
  "state.db-wal",
  "mcp-tokens",
  "pairing",
];

const SECRET_FILE_NAMES = new Set([
  ".env",
  ".env.local",
  ".env.development",
  ".env.production",
  ".env.test",
  ".env.staging",
  ".envrc",
]);

/** File-name globs that a search must skip for the same reason. */
export const SECRET_FILE_GLOBS: readonly string[] = [...SECRET_FILE_NAMES];

const ENDLESS_DEVICES = new Set(
  ["zero", "random", "urandom", "full", "stdin", "tty", "console", "stdout", "stderr"].map(
    (name) => `/dev/${name}`,
  ),
);
const DESCRIPTOR_ALIAS =
  /^(\/dev\/fd\/\d+|\/proc\/(self|thread-self|\d+)(\/task\/\d+)?\/fd\/\d+|\/proc\/(kmsg|kcore))$/;
const PROCESS_ENVIRONMENT = /^\/proc\/(self|thread-self|\d+)(\/task\/\d+)?\/environ$/;

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

export function isSecretFile(path: string, ctx: CallContext): boolean {
  if (SECRET_FILE_NAMES.has(basename(path).toLowerCase()) || PROCESS_ENVIRONMENT.test(path)) return true;
  return hermesRoots(ctx).some((root) =>
    HERMES_SECRETS.some((name) => isWithinIgnoringCase(path, join(root, name))),
  );
}

const PRIVATE_KEY = /^id_(?:rsa|dsa|ecdsa|ed25519)$/i;

/**
 * True for what a search must pass by: files of secrets, and the places of credentials, unless the search
 * was begun inside of such a place (the policy has then asked for exactly that).
 */
export function isHiddenFromSearch(path: string, begun: string, ctx: CallContext): boolean {
  if (isSecretFile(path, ctx)) return true;
  if (PRIVATE_KEY.test(basename(path)) && path !== begun) return true;
  const home = ctx.environment.files.resolve("~", ctx.session.cwd);
  const place = [...HOME_FOLDERS, ...HOME_FILES]
    .map((name) => join(home, name))
    .find((candidate) => isWithinIgnoringCase(path, candidate));
  return place !== undefined && !isWithinIgnoringCase(begun, place);
}

/** Every place below which `isHiddenFromSearch` may say yes whatever the file is called. */
export function hiddenPlaces(ctx: CallContext): string[] {
  const home = ctx.environment.files.resolve("~", ctx.session.cwd);
  return [
    ...[...HOME_FOLDERS, ...HOME_FILES].map((name) => join(home, name)),
    ...hermesRoots(ctx).flatMap((root) => HERMES_SECRETS.map((name) => join(root, name))),
    "/proc",
  ];
}

export function refuseSecretRead({ path, real }: Location, ctx: CallContext): void {
  if (isSecretFile(path, ctx) || isSecretFile(real, ctx)) {
    throw new ToolError(`${path} holds credentials; file tools do not show them.`, {
      code: "denied",
      hint: "Ask the person for the value you need, or read an example file such as .env.example.",
    });
  }
}

export async function refuseProtectedWrite(
  location: Location,
  ctx: CallContext,
  options: { readonly crossProfile?: boolean } = {},
): Promise<void> {
  const home = ctx.environment.files.resolve("~", ctx.session.cwd);
  const rule = await protectingRule(location, home, ctx);
  if (rule !== undefined && !(await mayEditSshConfig(location, home, ctx))) {
    throw new ToolError(`Writing ${location.path} is refused: ${rule} is a protected place.`, {
      code: "denied",
      hint: "Tell the person what should change there; they can do it themselves.",
    });
  }
  refuseOtherProfile(location, ctx, options.crossProfile ?? false);
  await refuseOutsideSafeRoots(location, ctx);
}

async function protectingRule(
  { path, real }: Location,
  home: string,
  ctx: CallContext,
): Promise<string | undefined> {
  const hermes = hermesRoots(ctx);
  const files = [
    ...HOME_FILES.map((name) => join(home, name)),
    ...SYSTEM_FILES,
    ...hermes.flatMap((root) => HERMES_FILES.map((name) => join(root, name))),
  ];
  const folders = [
    ...HOME_FOLDERS.map((name) => join(home, name)),
    ...SYSTEM_FOLDERS,
    ...hermes.flatMap((root) => HERMES_FOLDERS.map((name) => join(root, name))),
  ];
  const rules = [
    ...files.map((rule) => ({ rule, isFolder: false })),
    ...folders.map((rule) => ({ rule, isFolder: true })),
  ];
  const protects = (rule: string, isFolder: boolean): boolean =>
    [path, real].some((candidate) =>
      isFolder ? isWithinIgnoringCase(candidate, rule) : candidate.toLowerCase() === rule.toLowerCase(),
    );
  const named = rules.find(({ rule, isFolder }) => protects(rule, isFolder));
  // A protected place may itself be a link. Elsewhere each lookup is a round trip, so only here.
  if (named !== undefined || ctx.environment.kind !== "local") return named?.rule;
  const targets = await linkTargets(
    rules.map(({ rule }) => rule),
    ctx,
  );
  return rules.find(({ rule, isFolder }) => {
    const target = targets.get(rule);
    return target !== undefined && protects(target, isFolder);
  })?.rule;
}

interface KnownTargets {
  readonly seen: string;
  readonly targets: ReadonlyMap<string, string>;
}

const knownTargets = new WeakMap<SessionInfo, KnownTargets>();

/** Where those of the places lead that are links. Looked up again only when a folder that holds them has changed. */
async function linkTargets(
  places: readonly string[],
  ctx: CallContext,
): Promise<ReadonlyMap<string, string>> {
  const { files } = ctx.environment;
  const folders = [...new Set(places.map((place) => dirname(place)))];
  const stats = await Promise.all(folders.map((folder) => files.stat(folder)));
  const seen = folders.map((folder, at) => `${folder}:${stats[at]?.inode}:${stats[at]?.mtimeMs}`).join("\n");
  const known = knownTargets.get(ctx.session);
  if (known?.seen === seen) return known.targets;
  const reals = await Promise.all(places.map((place) => files.realpath(place)));
  const targets = new Map(
    places.flatMap((place, at) => (reals[at] === place ? [] : [[place, reals[at] ?? place]])),
  );
  knownTargets.set(ctx.session, { seen, targets });
  return targets;
}

/** ~/.ssh/config holds no key but decides where connections go: only a person may let it change. */
async function mayEditSshConfig({ path, real }: Location, home: string, ctx: CallContext): Promise<boolean> {
  const config = join(home, ".ssh", "config");
  if (path !== config || real !== config) return false;
  const answer = await ctx.ask({ question: `Allow changing ${config}?`, choices: ["allow", "deny"] });
  return answer === "allow";
}

/** The Hermes home in use, and the root above it when that home is one of several profiles. */
function hermesRoots(ctx: CallContext): string[] {
  const configured = ctx.settings.hermes_home;
  const home =
    typeof configured === "string" && configured !== ""
      ? configured
      : process.env.HERMES_HOME || ctx.environment.files.resolve("~/.hermes", ctx.session.cwd);
  const absolute = ctx.environment.files.resolve(home, ctx.session.cwd);
  const profile = /^(.*)[/\\]profiles[/\\][^/\\]+$/.exec(absolute);
  return profile?.[1] === undefined ? [absolute] : [absolute, profile[1]];
}

function refuseOtherProfile({ path, real }: Location, ctx: CallContext, crossProfile: boolean): void {
  const [current = "", root = current] = hermesRoots(ctx);
  for (const candidate of [path, real]) {
    const profiles = join(root, "profiles");
    if (!isAtOrBelow(candidate, profiles) || candidate === profiles) continue;
    if (current !== root && isAtOrBelow(candidate, current)) continue;
    const inside = candidate.slice(profiles.length + 1).split(/[/\\]/);
    if (HERMES_FILES.includes(inside[1] ?? "") || HERMES_FOLDERS.includes(inside[1] ?? "")) {
      throw new ToolError(`Writing ${path} is refused: it is private state of the profile "${inside[0]}".`, {
        code: "denied",
        hint: "State of a profile is changed by the program itself, never by file tools.",
      });
    }
    if (!crossProfile) {
      throw new ToolError(`${path} belongs to another profile ("${inside[0]}").`, {
        code: "denied",
        hint: "If the person asked for exactly this, call again with cross_profile: true.",
      });
    }
  }
}

async function refuseOutsideSafeRoots({ path, real }: Location, ctx: CallContext): Promise<void> {
  const roots = safeRoots(ctx);
  if (roots.length === 0) return;
  for (const root of roots) {
    const absolute = ctx.environment.files.resolve(root, ctx.session.cwd);
    if (isAtOrBelow(real, await ctx.environment.files.realpath(absolute))) return;
  }
  throw new ToolError(`${path} is outside the folders where writing is allowed: ${roots.join(", ")}.`, {
    code: "denied",
    hint: "Write inside one of these folders.",
  });
}

function safeRoots(ctx: CallContext): string[] {
  const setting = ctx.settings.write_safe_root;
  const list = Array.isArray(setting) ? setting : typeof setting === "string" ? setting.split(delimiter) : [];
  return list.filter((root): root is string => typeof root === "string" && root !== "");
}

// Some file systems ignore case, and a refusal too many is cheaper than a leak.
function isWithinIgnoringCase(path: string, folder: string): boolean {
  return isAtOrBelow(foldPath(path), foldPath(folder));
}

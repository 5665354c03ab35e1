import { execFile, spawnSync } from "node:child_process";
import { constants, readFileSync } from "node:fs";
import { access } from "node:fs/promises";
import { findProgram } from "../find-program.js";
import { bwrapArguments } from "./bwrap-arguments.js";

/** Fixed folders: a search along PATH could find a program that a project brought with it. */
const FOLDERS = ["/usr/bin", "/bin", "/usr/local/bin", "/run/current-system/sw/bin"];
const TRIAL_TIMEOUT_MS = 5_000;

export interface WorkingBwrap {
  readonly program: string;
  /** Whether this version can limit the size of a folder in memory. */
  readonly sized: boolean;
}

export interface Unavailable {
  readonly unavailable: string;
  readonly fix: string;
}

const probes = new Map<string, Promise<WorkingBwrap | Unavailable>>();

/** Whether bubblewrap works here, found out once: it must be there and be allowed to do its work. */
export function probeBwrap(program?: string): Promise<WorkingBwrap | Unavailable> {
  const key = program ?? "";
  const known = probes.get(key) ?? probe(program);
  probes.set(key, known);
  return known;
}

/** Where bubblewrap is. */
export async function findBwrap(given: string | undefined): Promise<string | Unavailable> {
  if (process.platform !== "linux") {
    return { unavailable: `bubblewrap needs Linux, this is ${process.platform}`, fix: "use a container" };
  }
  const program = given ?? (await firstExecutable(FOLDERS.map((folder) => `${folder}/bwrap`)));
  if (program === undefined || (await firstExecutable([program])) === undefined) {
    return {
      unavailable: given === undefined ? "bubblewrap is not installed" : `${given} cannot be run`,
      fix: "install the package bubblewrap (program bwrap)",
    };
  }
  return program;
}

async function probe(given: string | undefined): Promise<WorkingBwrap | Unavailable> {
  const program = await findBwrap(given);
  if (typeof program !== "string") return program;
  const problem = await tryOut(program, 65_536);
  if (problem === undefined) return { program, sized: true };
  if (/unknown option --size/i.test(problem)) {
    const second = await tryOut(program, undefined);
    if (second === undefined) return { program, sized: false };
  }
  return explainBwrap(problem);
}

let knownProblem: { readonly problem: Unavailable | undefined } | undefined;

/** Why no sandbox works here, at once: for those who must answer before they can wait. Found out once. */
export function bwrapProblemNow(): Unavailable | undefined {
  knownProblem ??= { problem: findProblemNow() };
  return knownProblem.problem;
}

function findProblemNow(): Unavailable | undefined {
  if (process.platform !== "linux") {
    return { unavailable: `bubblewrap needs Linux, this is ${process.platform}`, fix: "use a container" };
  }
  const program = findProgram("bwrap", { PATH: FOLDERS.join(":") });
  if (program === undefined) {
    return {
      unavailable: "bubblewrap is not installed",
      fix: "install the package bubblewrap (program bwrap)",
    };
  }
  const args = bwrapArguments({ mounts: [], network: false, cwd: "/" });
  const tried = spawnSync(program, [...args, "/bin/sh", "-c", ":"], {
    env: {},
    timeout: TRIAL_TIMEOUT_MS,
    encoding: "utf8",
  });
  return tried.status === 0 ? undefined : explainBwrap(tried.stderr.trim() || String(tried.error));
}

async function firstExecutable(paths: readonly string[]): Promise<string | undefined> {
  for (const path of paths) {
    const ok = await access(path, constants.X_OK).then(
      () => true,
      () => false,
    );
    if (ok) return path;
  }
  return undefined;
}

/** What bubblewrap says against a sandbox like those used later; undefined when it works. */
function tryOut(program: string, temporaryBytes: number | undefined): Promise<string | undefined> {
  const args = bwrapArguments({
    mounts: [{ kind: "empty", path: "/tmp", writable: true }],
    network: false,
    cwd: "/",
    temporaryBytes,
  });
  return new Promise((resolve) => {
    execFile(
      program,
      [...args, "/bin/sh", "-c", ":"],
      { env: {}, timeout: TRIAL_TIMEOUT_MS, killSignal: "SIGKILL" },
      (error, _stdout, stderr) => resolve(error === null ? undefined : stderr.trim() || error.message),
    );
  });
}

/** The rule that Ubuntu has had since 23.10: only programs with a profile may make user namespaces. */
const APPARMOR_RULE = "/proc/sys/kernel/apparmor_restrict_unprivileged_userns";

export function explainBwrap(problem: string, ruleFile = APPARMOR_RULE): Unavailable {
  const lines = problem.split("\n");
  const first =
    ["bwrap:", ":"].flatMap((sign) => lines.find((line) => line.includes(sign)) ?? [])[0] ?? problem;
  if (/namespace|uid map|Operation not permitted|Permission denied|clone/i.test(problem)) {
    if (readQuietly(ruleFile).trim() === "1") {
      return {
        unavailable: `AppArmor's rule kernel.apparmor_restrict_unprivileged_userns keeps bubblewrap from making namespaces (${first})`,
        fix:
          "give bubblewrap a profile (sudo apt install apparmor-profiles && sudo ln -s " +
          "/usr/share/apparmor/extra-profiles/bwrap-userns-restrict /etc/apparmor.d/ && sudo systemctl reload apparmor), " +
          "or lift the rule for everybody (sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0)",
      };
    }
    return {
      unavailable: `bubblewrap may not make namespaces here (${first})`,
      fix:
        "allow unprivileged user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces, " +
        "an AppArmor profile for bwrap); inside a container, let it mount /proc",
    };
  }
  return {
    unavailable: `bubblewrap does not work here (${first})`,
    fix: `run ${"`bwrap --ro-bind / / true`"} to see why`,
  };
}

function readQuietly(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

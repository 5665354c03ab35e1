import { parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord } from "../types.js";
import { CLUSTERS } from "./clusters.js";
import { judgeContainerRun, RUN_TAKING } from "./container-run.js";
import { isCredentialFile, isStartupFile, isSystemPath } from "./places.js";
import { danger, forPrograms, has, verbRule } from "./verb-table.js";

const ENGINE_GLOBALS = (
  "H host c context config l log-level tlscacert tlscert tlskey connection url root runroot identity " +
  "storage-driver storage-opt tmpdir n namespace address a snapshotter cgroup-manager events-backend runtime"
).split(" ");
const COMPOSE_TAKING = (
  "f file p project-name profile env-file project-directory ansi parallel progress t timeout s signal scale " +
  "index e env w workdir u user"
).split(" ");

const STOPS = "stops a running container";
const REMOVES = "removes containers, images or what they store";

const engineVerbs = verbRule({
  family: "container",
  taking: [...ENGINE_GLOBALS, "t", "time", "s", "signal", "filter", "until", "format"],
  dry: ["dry-run"],
  verbs: [
    { path: "rm|rmi|kill", reason: REMOVES },
    { path: "stop|restart", reason: STOPS },
    { path: "container rm|remove|kill|prune", reason: REMOVES },
    { path: "container stop|restart", reason: STOPS },
    {
      path: "image|volume|network|system|builder|buildx|pod|secret|config|context|plugin|node|manifest|model prune",
      reason: REMOVES,
    },
    {
      path: "image|volume|network|buildx|pod|secret|config|context|plugin|node|service|stack|machine rm|remove",
      reason: REMOVES,
    },
    { path: "pod stop|restart|kill", reason: STOPS },
    { path: "stack down", reason: REMOVES },
    { path: "plugin disable", reason: STOPS },
    { path: "system reset", reason: REMOVES },
    { path: "machine stop|reset", reason: STOPS },
    { path: "kube down", reason: REMOVES },
    { path: "swarm leave", reason: "leaves the swarm" },
    { path: "service scale", reason: STOPS, when: ({ rest }) => rest.some(({ text }) => /=0$/.test(text)) },
    { path: "service rollback", reason: "rolls a service back" },
    {
      path: "node update|demote",
      reason: "takes a node out of service",
      when: (call) => has(call, "availability") || call.operands[1]?.text === "demote",
    },
    { path: "trust revoke", reason: "withdraws trust in images" },
  ],
});

const engine: Rule = (command) => {
  const globals = leadingOptions(command.args, ENGINE_GLOBALS);
  let [verb, ...rest] = command.args.slice(globals);
  if (verb === undefined) return undefined;
  if (verb.text === "compose") return compose({ ...command, args: rest });
  if (verb.text === "container" || verb.text === "image") {
    const inner = rest[0];
    if (inner !== undefined && /^(?:run|create|exec|cp)$/.test(inner.text)) [verb, ...rest] = rest;
  }
  if (verb === undefined) return undefined;
  if (/^(?:run|create|exec)$/.test(verb.text)) return judgeContainerRun(beforeImage(rest));
  if (verb.text === "cp") return judgeCopy(rest);
  return engineVerbs({ ...command, args: command.args.slice(globals) });
};

const compose = verbRule({
  family: "container",
  taking: COMPOSE_TAKING,
  dry: ["dry-run"],
  verbs: [
    { path: "down|rm|kill", reason: REMOVES },
    { path: "stop|restart|pause", reason: STOPS },
    {
      path: "up|scale",
      reason: STOPS,
      when: (call) =>
        [...(call.values.get("scale") ?? []), ...call.rest].some(({ text }) => /^[\w.-]+=0$/.test(text)),
    },
    {
      path: "run",
      reason: "gives the container full rights on the host",
      when: (call) => has(call, "privileged"),
    },
  ],
});

/** `cp` out of a container is judged by where it writes on this machine. */
function judgeCopy(args: readonly ShellWord[]): Finding | undefined {
  const { operands } = parseOptions(args);
  const target = operands.length > 1 ? operands.at(-1) : undefined;
  if (target === undefined || /^[\w.-]+:/.test(target.text)) return undefined;
  return isSystemPath(target) || isStartupFile(target) || isCredentialFile(target)
    ? danger("container.copy", "writes over a system or start-up file", target)
    : undefined;
}

/** How many words of options with their values stand before the sub-command. */
function leadingOptions(args: readonly ShellWord[], taking: readonly string[]): number {
  let index = 0;
  while (index < args.length) {
    const text = args[index]?.text ?? "";
    if (!text.startsWith("-")) break;
    index += !text.includes("=") && taking.includes(text.replace(/^--?/, "")) ? 2 : 1;
  }
  return index;
}

/** The options in front of the image; what follows is the command inside. */
function beforeImage(args: readonly ShellWord[]): ReturnType<typeof parseOptions> {
  let index = 0;
  while (index < args.length) {
    const text = args[index]?.text ?? "";
    if (!text.startsWith("-") || text === "--") break;
    index += takesNext(text) ? 2 : 1;
  }
  return parseOptions(args.slice(0, index), { taking: RUN_TAKING });
}

function takesNext(text: string): boolean {
  if (text.startsWith("--")) return !text.includes("=") && RUN_TAKING.includes(text.slice(2));
  for (let at = 1; at < text.length; at++)
    if (RUN_TAKING.includes(text[at] ?? "")) return at === text.length - 1;
  return false;
}

export const RULES: RuleSet = {
  family: "container",
  programs: {
    ...forPrograms(["docker", "podman", "nerdctl", "finch"], engine),
    ...forPrograms(["docker-compose", "podman-compose"], compose),
    ...CLUSTERS,
    dockerd: ({ args }) =>
      args.some(({ text }) => /tcp:\/\/(?:0\.0\.0\.0|\[::\])/.test(text))
        ? danger("container.open-engine", "opens the container engine to the network")
        : undefined,
  },
};

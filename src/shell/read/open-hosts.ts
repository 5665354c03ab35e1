import type { ShellWord, Wrapper } from "../types.js";
import { parseOptions } from "./options.js";
import {
  joinWords,
  local,
  type Opener,
  type Opening,
  readWrapper,
  type WrapperSpec,
  wordOf,
} from "./wrapper-spec.js";

/** Programs that run a command on another host or in a container. */

const SSH: WrapperSpec = {
  flags: "1 2 4 6 A a C f g K k M N n q s T t tt ttt V v vv vvv X x Y y",
  taking: "B b c D E e F I i J L l m O o P p Q R S W w",
  idle: "G V Q",
  operands: 1,
};
/** Settings of ssh whose value runs on this machine. */
const LOCAL_COMMANDS = /^(?:ProxyCommand|LocalCommand|KnownHostsCommand|Match\s+exec)\s*[=\s]\s*/i;

const openSsh: Opener = (args, { fed }) => {
  const read = readWrapper(args, SSH);
  const host = read?.operands[0];
  if (read === undefined || read.given.has("G") || read.given.has("Q")) return [];
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  for (const word of args) {
    const setting = word.text.replace(/^-o\s*/, "");
    if (!LOCAL_COMMANDS.test(setting)) continue;
    const text = setting.replace(LOCAL_COMMANDS, "");
    if (text !== "none" && text !== "")
      openings.push({ kind: "text", text: wordOf(text, word), wrapper: local("ssh") });
  }
  if (host === undefined) return openings;
  const wrapper: Wrapper = { program: `ssh ${host.text}`, kind: "remote" };
  for (const rest of read.rests) {
    if (rest.length > 0) openings.push({ kind: "text", text: joinWords(rest), wrapper });
    else if (fed && !read.given.has("N") && !read.given.has("n")) openings.push({ kind: "input", wrapper });
  }
  return openings;
};

/** Options of `docker` itself. */
const ENGINE =
  "H c l config context host log-level tlscacert tlscert tlskey url connection identity root runroot";
const EXEC: WrapperSpec = {
  flags: "d i t it ti detach interactive tty privileged D debug tls tlsverify latest remote r",
  taking: `e u w env env-file user workdir detach-keys preserve-fds ${ENGINE}`,
  verb: "exec",
  operands: 1,
  kind: "container",
};
/** Of the hundred options of `run`, nearly all take a value; these do not. */
const RUN_FLAGS =
  "d i t it ti dit P q rm detach interactive tty privileged init read-only no-healthcheck oom-kill-disable publish-all quiet sig-proxy disable-content-trust help replace rmi tls-verify systemd no-hosts no-hostname env-host http-proxy";
const RUN_TAKING = `a c e h l m p u v w add-host annotation attach blkio-weight cap-add cap-drop cgroup-parent cgroupns cidfile cpu-period cpu-quota cpu-shares cpus cpuset-cpus cpuset-mems device device-cgroup-rule dns dns-option dns-search domainname entrypoint env env-file expose gpus group-add health-cmd health-interval health-retries health-start-period health-timeout hostname ip ip6 ipc isolation label label-file link log-driver log-opt mac-address memory memory-reservation memory-swap memory-swappiness mount name network net network-alias oom-score-adj pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal stop-timeout storage-opt sysctl tmpfs ulimit user userns uts volume volume-driver volumes-from workdir secret pod authfile arch os umask timeout requires ${ENGINE}`;
const RUN: WrapperSpec = {
  flags: `${RUN_FLAGS} D debug tls tlsverify`,
  taking: RUN_TAKING,
  verb: "run|create",
  operands: 1,
};
const COMPOSE = "f p file project-name profile env-file project-directory ansi progress parallel";
const COMPOSE_EXEC: WrapperSpec = {
  flags: "d T i t detach no-TTY no-tty interactive privileged dry-run all-resources compatibility verbose",
  taking: `e u w env user workdir index ${COMPOSE}`,
  verb: "exec",
  operands: 1,
};
const COMPOSE_RUN: WrapperSpec = {
  flags:
    "d T i t P rm detach no-TTY interactive no-deps service-ports use-aliases build quiet-pull quiet-build quiet remove-orphans dry-run all-resources compatibility verbose q",
  taking: `e u w v p l env env-from-file user workdir volume publish name entrypoint label cap-add cap-drop pull ${COMPOSE}`,
  verb: "run",
  operands: 1,
};

const openDocker: Opener = (args, input) => {
  const compose = args.findIndex((word) => word.text === "compose");
  const first = args.findIndex((word) => /^(?:exec|run|create|container)$/.test(word.text));
  if (compose >= 0 && (first < 0 || compose < first)) {
    return openCompose(args.slice(compose + 1), { ...input, program: `${input.program} compose` });
  }
  const share = args.findIndex((word) => word.text === "unshare");
  if (/^(?:podman|buildah)$/.test(input.program) && share >= 0 && first < 0) {
    const argv = args
      .slice(share + 1)
      .filter((_word, index, all) => index > 0 || !/^-/.test(all[0]?.text ?? ""));
    const wrapper: Wrapper = { program: `${input.program} unshare`, kind: "root" };
    return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper }];
  }
  const words =
    args[first]?.text === "container" ? [...args.slice(0, first), ...args.slice(first + 1)] : args;
  return [...inContainer(words, EXEC, input), ...inContainer(words, RUN, input)];
};

const openCompose: Opener = (args, input) => [
  ...inContainer(args, COMPOSE_EXEC, input),
  ...inContainer(args, COMPOSE_RUN, input),
];

function inContainer(
  args: readonly ShellWord[],
  spec: WrapperSpec,
  { program, fed }: { readonly program: string; readonly fed: boolean },
): readonly Opening[] {
  const read = readWrapper(args, spec);
  if (read === undefined || read.given.has("help")) return [];
  const target = read.operands[0]?.text ?? "";
  const verb = spec === EXEC || spec === COMPOSE_EXEC ? "exec" : "run";
  const wrapper: Wrapper = { program: `${program} ${verb} ${target}`.trim(), kind: "container" };
  const openings: Opening[] = read.doubtful ? [{ kind: "opaque" }] : [];
  const entry = read.given.get("entrypoint");
  for (const rest of read.rests) {
    const argv = entry === undefined || entry.text === "" ? rest : [entry, ...rest];
    if (argv.length > 0) openings.push({ kind: "argv", argv, wrapper });
    else if (fed && verb === "run") openings.push({ kind: "input", wrapper });
  }
  return openings;
}

const KUBECTL_TAKING =
  "n c f s l namespace container context cluster user kubeconfig as as-group server token filename image pod-running-timeout request-timeout target profile";

const openKubectl: Opener = (args, { program }) => {
  const verb = args.find((word) => /^(?:exec|run|debug|rsh)$/.test(word.text))?.text;
  if (verb === undefined) return [];
  const dashes = args.findIndex((word) => word.text === "--");
  if (dashes >= 0) {
    const wrapper: Wrapper = { program: `${program} ${verb}`, kind: "container" };
    const argv = args.slice(dashes + 1);
    return argv.length === 0 ? [] : [{ kind: "argv", argv, wrapper }];
  }
  if (verb !== "exec" && verb !== "rsh") return [];
  const read = readWrapper(args, {
    verb,
    taking: KUBECTL_TAKING,
    flags: "i t it ti q stdin tty quiet",
    operands: 1,
    lenient: true,
  });
  const wrapper: Wrapper = {
    program: `${program} ${verb} ${read?.operands[0]?.text ?? ""}`.trim(),
    kind: "container",
  };
  return (read?.rests ?? [])
    .filter((rest) => rest.length > 0)
    .map((argv) => ({ kind: "argv", argv, wrapper }));
};

/** Programs whose option holds a command for the other side. */
function openTextOption(names: readonly string[], verb: string): Opener {
  return (args, { program }) => {
    if (!args.some((word) => word.text === verb)) return [];
    const wrapper: Wrapper = { program: `${program} ${verb}`, kind: "remote" };
    return args.flatMap((word, index): readonly Opening[] => {
      if (names.includes(word.text)) {
        const text = args[index + 1];
        return text === undefined ? [] : [{ kind: "text", text, wrapper }];
      }
      const name = names.find((one) => word.text.startsWith(`${one}=`));
      return name === undefined
        ? []
        : [{ kind: "text", text: wordOf(word.text.slice(name.length + 1), word), wrapper }];
    });
  };
}

const ANSIBLE_TAKING =
  "a args m module-name i inventory e extra-vars u user l limit f forks t tree B P M T c private-key";
const RUNS_TEXT =
  /^(?:(?:ansible\.)?(?:builtin|legacy|windows)\.)?(?:shell|command|raw|script|win_shell|win_command|expect)$/;

/** Tools for many hosts: the command is text for each of them. */
const openAnsible: Opener = (args, { program }) => {
  const { values } = parseOptions(args, { taking: ANSIBLE_TAKING.split(" "), long: ["args", "module-name"] });
  const module = [...(values.get("m") ?? []), ...(values.get("module-name") ?? [])].at(-1)?.text;
  if (!RUNS_TEXT.test(module ?? "command")) return [];
  const wrapper: Wrapper = { program, kind: "remote" };
  return [...(values.get("a") ?? []), ...(values.get("args") ?? [])].map((word) => ({
    kind: "text",
    text: wordOf(withoutSettings(word.text), word),
    wrapper,
    foreign: true,
  }));
};

/** `chdir=/srv cmd="ls -l"`: settings of the module in front of the command. */
function withoutSettings(text: string): string {
  const bare = text.replace(/^(?:(?!cmd=)\w+=\S+\s+)*/, "");
  return /^cmd=(["'])([\s\S]*)\1$/.exec(bare)?.[2] ?? bare.replace(/^cmd=/, "");
}

const SALT_RUNS = /^cmd\.(?:run|run_all|run_stdout|shell|script|exec_code|retcode|powershell|run_bg)$/;

const openSalt: Opener = (args, { program }) => {
  const at = args.findIndex((word) => SALT_RUNS.test(word.text));
  const words = at < 0 ? [] : args.slice(at + 1).filter((word) => !/^(?:-|\w+=)/.test(word.text));
  const wrapper: Wrapper = { program, kind: "remote" };
  return words.length === 0 ? [] : [{ kind: "text", text: joinWords(words), wrapper, foreign: true }];
};

const ENGINES = ["docker", "podman", "nerdctl", "docker.io", "finch"];

export const HOST_OPENERS: Readonly<Record<string, Opener>> = {
  ssh: openSsh,
  autossh: openSsh,
  ...Object.fromEntries([...ENGINES, "buildah"].map((engine) => [engine, openDocker])),
  "docker-compose": openCompose,
  "podman-compose": openCompose,
  kubectl: openKubectl,
  k: openKubectl,
  oc: openKubectl,
  vagrant: openTextOption(["-c", "--command"], "ssh"),
  gcloud: openTextOption(["--command"], "ssh"),
  fly: openTextOption(["-C", "--command"], "ssh"),
  flyctl: openTextOption(["-C", "--command"], "ssh"),
  ansible: openAnsible,
  salt: openSalt,
  "salt-call": openSalt,
  "salt-ssh": openSalt,
};

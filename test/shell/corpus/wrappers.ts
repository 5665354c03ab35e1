import type { Payload } from "./payloads.js";
import type { Random } from "./random.js";

/** A command on its way through wrappers; `setup` must run in the same shell before `command`. */
export interface Wrapped {
  readonly setup?: string;
  readonly command: string;
  readonly bashOnly: boolean;
  /** One program with words, so that `sudo` and the like can stand in front of it. */
  readonly simple: boolean;
  /** Starts with a word only a shell knows (`exec`, `eval`): another program cannot start it. */
  readonly shellWord: boolean;
}

interface Wrapper {
  readonly name: string;
  readonly fits: (inner: Wrapped, payload: Payload) => boolean;
  readonly wrap: (inner: Wrapped, random: Random) => Wrapped;
}

export function singleQuote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function doubleQuote(text: string): string {
  return `"${text.replace(/[\\"$`]/g, "\\$&")}"`;
}

export function wholeText(wrapped: Wrapped, separator = "; "): string {
  return wrapped.setup === undefined ? wrapped.command : `${wrapped.setup}${separator}${wrapped.command}`;
}

function quote(text: string, random: Random): string {
  return random.chance(0.7) ? singleQuote(text) : doubleQuote(text);
}

/** A program that starts the words after it. */
function prefix(name: string, words: readonly string[]): Wrapper {
  return {
    name,
    fits: (inner) => inner.simple && !inner.shellWord,
    wrap: (inner, random) => ({ ...inner, command: `${random.pick(words)} ${inner.command}` }),
  };
}

/** A shell word in front: nothing but a shell can be around it. */
function shellPrefix(name: string, words: readonly string[]): Wrapper {
  return {
    name,
    fits: (inner) => inner.simple && !inner.shellWord,
    wrap: (inner, random) => ({
      ...inner,
      command: `${random.pick(words)} ${inner.command}`,
      shellWord: true,
    }),
  };
}

/** A program that takes the command line as one text for a shell. */
function textWrapper(name: string, line: (quoted: string, random: Random) => string, bash = false): Wrapper {
  return {
    name,
    fits: (inner) => bash || !inner.bashOnly,
    wrap: (inner, random) => ({
      command: line(quote(wholeText(inner), random), random),
      bashOnly: false,
      simple: true,
      shellWord: false,
    }),
  };
}

/** `rm notes.txt` is harmless by hand, but not once a program repeats it. */
function removesOneFile(payload: Payload): boolean {
  return payload.label === "safe" && payload.text.startsWith("rm ");
}

const CONTAINER_FAMILIES = new Set(["recursive_delete", "sql_destructive", "everyday", "interpreter"]);

/** Inside a container a root folder is the container's own, so only rows below the floor go there. */
function inContainer(wrapper: Wrapper): Wrapper {
  return {
    ...wrapper,
    fits: (inner, payload) =>
      payload.label !== "hardline" && CONTAINER_FAMILIES.has(payload.family) && wrapper.fits(inner, payload),
  };
}

const WRAPPERS: readonly Wrapper[] = [
  prefix("sudo", ["sudo", "sudo -n", "sudo -E", "sudo -u root", "sudo -H -u deploy", "sudo --", "doas"]),
  prefix("env", ["env", "env FOO=1", "env -u LANG", "env A=1 B=2"]),
  {
    ...prefix("env -i", ["env -i PATH=/usr/bin:/bin", "env - PATH=/bin"]),
    // An empty environment would take the meaning out of $HOME.
    fits: (inner) => inner.simple && !inner.shellWord && !inner.command.includes("HOME"),
  },
  prefix("nohup", ["nohup"]),
  prefix("timeout", [
    "timeout 30",
    "timeout -k 5 60s",
    "timeout --signal=TERM 10",
    "timeout --foreground 5m",
  ]),
  prefix("nice", ["nice", "nice -n 10", "nice -5", "ionice -c 3", "chrt -b 0"]),
  prefix("stdbuf", ["stdbuf -oL", "stdbuf -o0 -e0"]),
  prefix("setsid", ["setsid", "setsid -f", "setsid --wait"]),
  prefix("time", ["/usr/bin/time -p", "/usr/bin/time"]),
  prefix("unbuffer", ["unbuffer", "taskset -c 0"]),
  shellPrefix("command", ["command", "command --", "exec", "exec -a x"]),
  {
    name: "assignment",
    fits: (inner) => inner.simple && !inner.shellWord,
    wrap: (inner, random) => ({
      ...inner,
      command: `${random.pick(["LANG=C", "A=1 B=2"])} ${inner.command}`,
      shellWord: true,
    }),
  },
  textWrapper("sh -c", (text, random) => `${random.pick(["sh", "/bin/sh", "dash"])} -c ${text}`),
  textWrapper(
    "bash -c",
    (text, random) =>
      `${random.pick(["bash", "/bin/bash", "bash --norc"])} ${random.pick(["-c", "-lc", "-ec", "-euo pipefail -c"])} ${text}`,
    true,
  ),
  {
    name: "eval",
    fits: () => true,
    wrap: (inner, random) => ({
      command: `eval ${quote(wholeText(inner), random)}`,
      bashOnly: inner.bashOnly,
      simple: true,
      shellWord: true,
    }),
  },
  textWrapper(
    "ssh",
    (text, random) =>
      `ssh ${random.pick(["web1", "root@db1", "-p 2222 deploy@web", "-o BatchMode=yes build"])} ${text}`,
  ),
  textWrapper("su -c", (text, random) =>
    random.pick([`su -c ${text} bob`, `su - root -c ${text}`, `su -c ${text}`]),
  ),
  textWrapper("watch", (text, random) => `watch ${random.pick(["-n1", "-n 5", "-d -n 2"])} ${text}`),
  textWrapper("script", (text) => `script -qc ${text} /dev/null`),
  {
    name: "xargs sh",
    fits: (inner, payload) => !inner.bashOnly && !inner.command.includes("{}") && !removesOneFile(payload),
    wrap: (inner, random) => ({
      command: `echo go | xargs -I{} sh -c ${quote(wholeText(inner), random)}`,
      bashOnly: false,
      simple: false,
      shellWord: false,
    }),
  },
  inContainer(
    prefix("docker exec", [
      "docker exec web",
      "docker exec -it -u root app",
      "podman exec web",
      "kubectl exec web-0 --",
    ]),
  ),
  inContainer(
    textWrapper(
      "docker exec sh",
      (text, random) => `${random.pick(["docker exec web", "kubectl exec -n prod web-0 --"])} sh -c ${text}`,
    ),
  ),
  {
    name: "find -exec",
    fits: (inner, payload) =>
      inner.simple && !inner.shellWord && !/;|\{\}/.test(inner.command) && !removesOneFile(payload),
    wrap: (inner) => ({ ...inner, command: `find . -maxdepth 0 -exec ${inner.command} \\;` }),
  },
];

/** Puts the command into one to three wrappers that fit around each other. */
export function wrapCommand(
  start: Wrapped,
  payload: Payload,
  random: Random,
): { readonly wrapped: Wrapped; readonly names: readonly string[] } {
  let wrapped = start;
  const names: string[] = [];
  const depth = random.pick([1, 1, 1, 2, 2, 3]);
  for (let level = 0; level < depth; level += 1) {
    const fitting = WRAPPERS.filter((wrapper) => wrapper.fits(wrapped, payload));
    if (fitting.length === 0) break;
    const wrapper = random.pick(fitting);
    wrapped = wrapper.wrap(wrapped, random);
    names.push(wrapper.name);
  }
  return { wrapped, names };
}

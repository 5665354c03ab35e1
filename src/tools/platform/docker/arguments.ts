import { quoteIfNeeded } from "../../../base/quote.js";

export const ACTIONS = [
  "ps",
  "images",
  "inspect",
  "logs",
  "stats",
  "run",
  "exec",
  "start",
  "stop",
  "rm",
  "pull",
  "build",
  "compose_up",
  "compose_down",
] as const;

export type Action = (typeof ACTIONS)[number];
export type EngineName = "docker" | "podman";

export interface DockerArguments {
  readonly action: Action;
  readonly engine: "auto" | EngineName;
  readonly container?: string | undefined;
  readonly image?: string | undefined;
  readonly command?: readonly string[] | undefined;
  readonly name?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly ports?: readonly string[] | undefined;
  readonly volumes?: readonly string[] | undefined;
  readonly network?: string | undefined;
  readonly workdir?: string | undefined;
  readonly user?: string | undefined;
  readonly detach?: boolean | undefined;
  readonly privileged?: boolean | undefined;
  readonly all?: boolean | undefined;
  readonly force?: boolean | undefined;
  readonly tail: number;
  readonly path?: string | undefined;
  readonly file?: string | undefined;
  readonly tag?: string | undefined;
  readonly timeout_seconds: number;
}

const READS: readonly Action[] = ["ps", "images", "inspect", "logs", "stats"];

export function onlyReads({ action }: Pick<DockerArguments, "action">): boolean {
  return READS.includes(action);
}

export function isCompose({ action }: Pick<DockerArguments, "action">): boolean {
  return action === "compose_up" || action === "compose_down";
}

/** Why these arguments cannot be carried out; undefined when they can. */
export function problemWith(args: DockerArguments): string | undefined {
  for (const field of [
    "container",
    "image",
    "name",
    "network",
    "workdir",
    "user",
    "path",
    "file",
    "tag",
  ] as const) {
    const problem = problemWithWord(args[field]);
    if (problem !== undefined) return `${field} ${problem}`;
  }
  for (const field of ["ports", "volumes"] as const)
    for (const value of args[field] ?? []) {
      const problem = problemWithWord(value);
      if (problem !== undefined) return `one of ${field} ${problem}`;
    }
  const variable = Object.keys(args.env ?? {}).find((key) => !/^[A-Za-z_]\w*$/.test(key));
  if (variable !== undefined) return `env has ${JSON.stringify(variable)}, which is no name of a variable`;
  return missingFor(args);
}

/** The engine takes what begins with a dash for an option. */
function problemWithWord(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value === "") return "is empty";
  if (value.startsWith("-")) return "begins with -, which the engine would take for an option";
  return /[\u0000-\u001f\u007f]/.test(value) ? "holds a control character" : undefined;
}

function missingFor({ action, container, image, command = [] }: DockerArguments): string | undefined {
  switch (action) {
    case "run":
    case "pull":
      return image === undefined ? `${action} needs image` : undefined;
    case "exec":
      if (container === undefined) return "exec needs container";
      return command.length === 0 ? "exec needs command" : undefined;
    case "logs":
    case "start":
    case "stop":
    case "rm":
      return container === undefined && !(action === "rm" && image !== undefined)
        ? `${action} needs container`
        : undefined;
    case "inspect":
      return (container ?? image) === undefined ? "inspect needs container or image" : undefined;
    default:
      return undefined;
  }
}

const option = (name: string, value: string | undefined) => (value === undefined ? [] : [name, value]);

/** The words behind the name of the engine; pure, so that they can be judged before they run. */
export function wordsFor(args: DockerArguments, engine: EngineName): readonly string[] {
  const { action, container = "", image = "", command = [] } = args;
  const json = ["--format", engine === "docker" ? "{{json .}}" : "json"];
  const inside = [
    ...Object.entries(args.env ?? {}).flatMap(([name, value]) => ["--env", `${name}=${value}`]),
    ...option("--workdir", args.workdir),
    ...option("--user", args.user),
    ...(args.privileged === true ? ["--privileged"] : []),
  ];
  switch (action) {
    case "ps":
      return ["ps", "--no-trunc", ...(args.all === true ? ["--all"] : []), ...json];
    case "images":
      return ["images", "--no-trunc", ...(args.all === true ? ["--all"] : []), ...json];
    case "inspect":
      return [
        "inspect",
        "--type",
        args.container === undefined ? "image" : "container",
        args.container ?? image,
      ];
    case "logs":
      return ["logs", "--tail", String(args.tail), container];
    case "stats":
      return ["stats", "--no-stream", ...json, ...(args.container === undefined ? [] : [container])];
    case "run":
      return [
        "run",
        "--pull=never",
        ...(args.detach === true ? ["--detach"] : ["--rm"]),
        ...option("--name", args.name),
        ...option("--network", args.network),
        ...inside,
        ...(args.ports ?? []).flatMap((port) => ["--publish", port]),
        ...(args.volumes ?? []).flatMap((volume) => ["--volume", volume]),
        image,
        ...command,
      ];
    case "exec":
      return ["exec", ...(args.detach === true ? ["--detach"] : []), ...inside, container, ...command];
    case "start":
    case "stop":
      return [action, container];
    case "rm": {
      // Podman would wait for programs that do not end when asked to, Docker does not.
      const now = engine === "podman" && args.container !== undefined ? ["--time", "0"] : [];
      return [
        args.container === undefined ? "rmi" : "rm",
        ...(args.force === true ? ["--force", ...now] : []),
        args.container ?? image,
      ];
    }
    case "pull":
      return ["pull", "--quiet", image];
    case "build":
      return ["build", ...option("--tag", args.tag), ...option("--file", args.file), args.path ?? "."];
    case "compose_up":
      return [...composeWords(args), "up", "--detach"];
    case "compose_down":
      return [...composeWords(args), "down"];
  }
}

function composeWords({ file, name }: DockerArguments): readonly string[] {
  return ["compose", ...option("--file", file), ...option("--project-name", name)];
}

/** Folders and files of this machine that a container would get; names of volumes are not among them. */
export function hostMounts(volumes: readonly string[] = []): readonly { path: string; readOnly: boolean }[] {
  return volumes.flatMap((volume) => {
    const [source = "", target, mode = ""] = volume.split(":");
    if (target === undefined || !/^[./~]/.test(source)) return [];
    return [{ path: source, readOnly: mode.split(",").includes("ro") }];
  });
}

/** Who is asked for an image. */
export function registryOf(image: string): string {
  const [first = "", ...rest] = image.split("/");
  const isHost = rest.length > 0 && (/[.:]/.test(first) || first === "localhost");
  return `https://${isHost ? first : "docker.io"}/`;
}

/** As a person would type it. */
export function lineOf(words: readonly string[]): string {
  return ["docker", ...words].map(quoteIfNeeded).join(" ");
}

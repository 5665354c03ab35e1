import { type ParsedOptions, parseOptions } from "../read/options.js";
import type { ShellWord } from "../types.js";
import { isForTests } from "./for-tests.js";
import { withHome } from "./mentioned-paths.js";
import {
  isBlockDevice,
  isCredentialFile,
  isCredentialStore,
  isHomeLike,
  isRootLike,
  isSomeonesHome,
  isStartupFile,
  isSystemPath,
} from "./places.js";
import { type Call, type Condition, carriedAfter, has, names, subject, valuesOf } from "./row.js";

const STOPS = "stops a running container";
const REMOVES = "removes containers, images or what they store";

/** Options of `run`, `create` and `exec` that take the next word; the first word after them is the image. */
const RUN_TAKING =
  "a add-host annotation attach blkio-weight blkio-weight-device c cap-add cap-drop cgroup-parent cgroupns " +
  "cidfile cpu-count cpu-percent cpu-period cpu-quota cpu-rt-period cpu-rt-runtime cpu-shares cpus cpuset-cpus " +
  "cpuset-mems detach-keys device device-cgroup-rule device-read-bps device-read-iops device-write-bps " +
  "device-write-iops dns dns-option dns-search domainname e entrypoint env env-file expose gpus group-add h " +
  "health-cmd health-interval health-retries health-start-period health-timeout hostname io-maxbandwidth ip " +
  "ip6 ipc isolation kernel-memory l label label-file link link-local-ip log-driver log-opt m mac-address " +
  "memory memory-reservation memory-swap memory-swappiness mount name net net-alias network network-alias " +
  "oom-score-adj p pid pids-limit platform publish pull restart runtime security-opt shm-size stop-signal " +
  "stop-timeout storage-opt sysctl tmpfs u ulimit user userns uts v volume volume-driver volumes-from w " +
  "workdir pod secret tz umask authfile arch variant systemd";
const RUN_VALUES = names(RUN_TAKING);

/** The options in front of the image; what follows is the command inside. */
function optionsBeforeImage({ args, operands }: Call): ParsedOptions {
  const verb = operands.findIndex(({ text }) => /^(?:run|create|exec)$/.test(text));
  const start = args.indexOf(operands[verb] as ShellWord) + 1;
  let index = start;
  while (index < args.length) {
    const text = args[index]?.text ?? "";
    if (!text.startsWith("-") || text === "--") break;
    index += takesNext(text) ? 2 : 1;
  }
  return parseOptions(args.slice(start, index), { taking: [...RUN_VALUES] });
}

function takesNext(text: string): boolean {
  if (text.startsWith("--")) return !text.includes("=") && RUN_VALUES.has(text.slice(2));
  for (let at = 1; at < text.length; at++) if (RUN_VALUES.has(text[at] ?? "")) return at === text.length - 1;
  return false;
}

const STARTS = "container? run|create|exec";
const starting =
  (check: (options: ParsedOptions) => ReturnType<Condition>): Condition =>
  (call) =>
    check(optionsBeforeImage(call));

/** Rights that reach past the container's walls. */
const STRONG_RIGHTS =
  /^(?:cap_)?(?:all|sys_admin|sys_ptrace|sys_module|sys_rawio|sys_boot|dac_read_search|sys_chroot|mac_admin|bpf)$/i;

const hostNamespace = (options: ParsedOptions): ReturnType<Condition> => {
  for (const name of ["pid", "ipc", "userns", "cgroupns"]) {
    const word = valuesOf(options, name).find(({ text }) => text === "host");
    if (word !== undefined) return { word, reason: `shares the host's ${name} space` };
  }
  return undefined;
};

const hostMount = (options: ParsedOptions): ReturnType<Condition> => {
  for (const word of valuesOf(options, "v", "volume", "mount")) {
    const mount = word.text.includes("=") ? readMount(word.text) : readVolume(word.text);
    if (mount === undefined) continue;
    const reason = riskOfMount({ ...word, text: mount.source }, mount.readOnly);
    if (reason !== undefined) return { word, reason };
  }
  return undefined;
};

function riskOfMount(source: ShellWord, readOnly: boolean): string | undefined {
  if (/\/(?:docker|containerd|podman|crio|cri-dockerd)\.sock$/.test(source.text))
    return "hands the container engine itself to the container";
  if (isRootLike(source)) return "mounts the whole host into the container";
  if (isHomeLike(source)) return "mounts the whole home folder into the container";
  if (isCredentialStore(source) || isCredentialFile(source))
    return "mounts keys or tokens into the container";
  if (readOnly || HARMLESS_MOUNT.test(source.text)) return undefined;
  return isSystemPath(source) ? "mounts a system folder of the host, writable" : undefined;
}
const HARMLESS_MOUNT =
  /^\/etc\/(?:localtime|timezone|hosts|resolv\.conf|ssl\/certs.*|ca-certificates.*)$|^\/(?:dev\/(?:shm|dri|snd|video\d*|net\/tun|kvm|fuse|bus\/usb)|lib\/modules|usr\/share\/zoneinfo)(?:\/|$)/;

interface Mount {
  readonly source: string;
  readonly readOnly: boolean;
}

function readVolume(text: string): Mount | undefined {
  const [source = "", target, mode = ""] = text.split(":");
  return target === undefined ? undefined : { source, readOnly: mode.split(",").includes("ro") };
}

function readMount(text: string): Mount | undefined {
  const fields = new Map(text.split(",").map((field) => field.split("=", 2) as [string, string | undefined]));
  const source = fields.get("source") ?? fields.get("src");
  if (source === undefined) return undefined;
  const readOnly = ["readonly", "ro"].some((name) => fields.has(name) && fields.get(name) !== "false");
  return { source, readOnly };
}

function isHostDevice(word: ShellWord): boolean {
  const device = { ...word, text: word.text.split(":")[0] ?? "" };
  return isBlockDevice(device) || /^\/dev\/(?:k?mem|port)$/.test(device.text);
}

/** Addresses of engines on other machines; a name without a dot is a neighbour in the same network. */
const REMOTE_ENGINE = /^=?tcp:\/\/(?!localhost\b|127\.|\[::1\])(?:[\w-]+\.[\w.-]+|\[[\da-f:]+\])/i;

/** What is built, run or copied goes to an engine that belongs to somebody else. */
const onOtherEngine: Condition = (call) =>
  call.given("H", "host", "url").find(({ text }) => REMOTE_ENGINE.test(text)) ??
  call.command.assignments.find(({ name, value }) => name === "DOCKER_HOST" && REMOTE_ENGINE.test(value.text))
    ?.value;

/** `build -o DIR`, `--output type=local,dest=DIR`: what the build made is laid over what is there. */
const buildsOver: Condition = (call) =>
  call.given("o", "output").find((word) => {
    const fields = word.text.split(",").map((field) => /^(?:dest=)?(.*)$/s.exec(field)?.[1] ?? "");
    return fields.some((text) => {
      const place = { ...word, text };
      return (
        isHomeLike(place) ||
        isSomeonesHome(place) ||
        isRootLike(place) ||
        isSystemPath(place) ||
        isStartupFile(place) ||
        isCredentialStore(place)
      );
    });
  });

const STRONG_SERVICE =
  /\bprivileged["']?\s*:\s*["']?true|\b(?:pid|ipc|userns_mode|cgroup)["']?\s*:\s*["']?host\b|\bseccomp[:=]unconfined/i;

/** What a compose file says that is given as text, or was written by the same line. */
const strongService: Condition = ({ command: { input } }) => {
  if (input.kind !== "text") return undefined;
  const text = withHome(input.text.text.slice(0, LONGEST_FILE));
  const added = [...text.matchAll(/\bcap_add["']?\s*:\s*(\[[^\]]*\]|(?:\s*-\s*["']?\w+["']?)+)/g)];
  const rights = added.flatMap(([, names = ""]) => names.match(/\w+/g) ?? []);
  if (STRONG_SERVICE.test(text) || rights.some((right) => STRONG_RIGHTS.test(right))) return input.text;
  const mounts = [
    ...[...text.matchAll(/(?:-\s|["'])([~/][^\s"']*:\/[^\s"',\]]*)/g)].map(([, volume = ""]) =>
      readVolume(volume),
    ),
    ...[...text.matchAll(/\bsource["']?\s*:\s*["']?([~/][^\s"',}]*)/g)].map(([, source = ""]) => ({
      source,
      readOnly: true,
    })),
  ];
  const isRisky = (mount: Mount | undefined): boolean =>
    mount !== undefined && riskOfMount({ ...input.text, text: mount.source }, mount.readOnly) !== undefined;
  return mounts.some(isRisky) ? input.text : undefined;
};
const LONGEST_FILE = 20_000;

/** `cp` out of a container is judged by where it writes on this machine. */
const copiesOverSystem: Condition = ({ rest }) => {
  const target = rest.length > 1 ? rest.at(-1) : undefined;
  if (target === undefined || /^[\w.-]+:/.test(target.text)) return undefined;
  return isSystemPath(target) || isStartupFile(target) || isCredentialFile(target) ? target : undefined;
};

/** `docker build /`, `--build-context root=/`, `--allow security.insecure`. */
const buildsWithHost: Condition = ({ args }) => {
  const at = args.slice(0, 3).findIndex(({ text }) => /^(?:build|bud|bake)$/.test(text));
  if (at < 0) return undefined;
  const isWhole = (word: ShellWord): boolean => isRootLike(word) || isHomeLike(word) || isSomeonesHome(word);
  return args.slice(at + 1).find((word, index, rest) => {
    const before = rest[index - 1]?.text ?? "";
    const [, option = /^-/.test(before) ? before : "", value = word.text] =
      /^(--[\w-]+)=(.*)$/s.exec(word.text) ?? [];
    const named = { ...word, text: value };
    if (option === "--allow") return /insecure|network\.host/.test(value);
    if (option === "--build-context") return isWhole({ ...word, text: value.replace(/^[\w-]+=/, "") });
    if (/^(?:-v|--volume)$/.test(option)) return isWhole({ ...word, text: value.replace(/:.*/s, "") });
    return index === rest.length - 1 && !/^-/.test(word.text) && isWhole(named);
  });
};

/** Containers that are named, one by one, and not all of them for tests. */
const notForTests: Condition = ({ rest }) => rest.length === 0 || !rest.every(isForTests);

/**
 * Stopping what a file on this machine starts costs nothing that `up` does not bring back; elsewhere, or where the line
 * speaks of production, somebody may rely on it.
 */
const reliedOn: Condition = (call) => {
  if (call.has("v", "volumes", "rmi")) return true;
  if (call.command.wrappers.some(({ kind }) => kind === "remote")) return true;
  if (call.command.assignments.some(({ name }) => /^(?:DOCKER_HOST|DOCKER_CONTEXT)$/.test(name))) return true;
  return call.find(/(?:^|[^a-z])(?:prod|prd|production|live|stag\w*|hermes)(?:$|[^a-z])/i);
};

/** Engines that run containers on this machine. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("container", [
  { dry: "dry-run", tools: [
    { program: "docker|podman|nerdctl|finch",
      taking: "H host c context config l log-level tlscacert tlscert tlskey connection url root runroot identity " +
        "storage-driver storage-opt tmpdir n namespace address a snapshotter cgroup-manager events-backend runtime " +
        "t time s signal filter until format o output secret",
      carries: carriedAfter("compose", "docker-compose"), not_match: ["docker stack ls", "docker image ls"],
      rows: [
      { path: STARTS, when: starting((options) =>
            has(options, "privileged") && valuesOf(options, "privileged")[0]?.text !== "false" ? {} : undefined,
          ),
        rule: "container.privileged", reason: "gives the container full rights on the host",
        match: ["podman run --privileged alpine"], not_match: ["docker run --gpus all pytorch"] },
      { path: STARTS, when: starting((options) =>
            valuesOf(options, "net", "network").some(({ text }) => text === "host") && valuesOf(options, "restart").some(({ text }) => text !== "no") ? {} : undefined,
          ),
        rule: "container.host-namespace", reason: "keeps a container on the network of the host for good",
        match: ["docker run -d --restart=always --net=host x"],
        not_match: ["docker run --rm --network host alpine", "docker run -d --restart unless-stopped -p 5432:5432 postgres:16"] },
      { path: STARTS, when: starting(hostNamespace), rule: "container.host-namespace",
        reason: "shares a name space of the host", match: ["docker run --pid=host alpine"],
        not_match: ["docker run --env-file .env app"] },
      { path: STARTS, when: starting((options) =>
            valuesOf(options, "cap-add").find(({ text }) =>
              text.split(",").some((one) => STRONG_RIGHTS.test(one)),
            ),
          ),
        rule: "container.capability", reason: "gives the container strong rights",
        match: ["docker run --cap-add=ALL alpine"], not_match: ["docker run --network host nginx"] },
      { path: STARTS, when: starting((options) =>
            valuesOf(options, "security-opt").find(({ text }) => /unconfined|label[=:]disable/i.test(text)),
          ),
        rule: "container.unconfined", reason: "switches off the container's confinement",
        match: ["docker run --security-opt seccomp=unconfined alpine"],
        not_match: ["docker run --device /dev/dri app"] },
      { path: STARTS, when: starting((options) => valuesOf(options, "device").find(isHostDevice)),
        rule: "container.device", reason: "gives the container a disk of the host",
        match: ["docker run --device /dev/sda alpine"], not_match: ["docker run --cap-drop=ALL alpine"] },
      { path: STARTS, when: starting(hostMount), rule: "container.host-mount",
        reason: "mounts a part of the host into the container", match: ["docker run -v /etc:/etc alpine"],
        not_match: ["docker run -e MODE=rm -p 80:80 nginx"] },
      { path: "buildx|image|builder? build|bake", when: buildsOver, rule: "container.output",
        reason: "writes what a build made over a home, keys or the system", match: ["docker build -o ~ .", "docker buildx build --output type=local,dest=/usr ."],
        not_match: ["docker build -o out .", "docker build --output type=local,dest=dist ."] },
      { path: "build|run|create|cp|load|import|exec|compose|buildx|container|image|stack|service|push|commit", when: onOtherEngine, rule: "container.remote-engine",
        reason: "sends files to, or runs something on, an engine of another machine", match: ["docker -H tcp://203.0.113.9:2375 build ."],
        not_match: ["docker -H tcp://203.0.113.9:2375 ps", "docker -H tcp://dind:2375 build .", "docker -H ssh://me@host run alpine"] },
      { path: "buildx|image|builder? build|bake", when: (call) => call.given("secret").find((word) => {
            const source = /(?:^|,)(?:src|source)=([^,]+)/.exec(word.text)?.[1];
            return source !== undefined && isCredentialStore({ ...word, text: source });
          }),
        rule: "container.host-mount", reason: "hands keys or tokens to what a build runs", match: ["docker build --secret id=k,src=$HOME/.ssh/id_rsa ."],
        not_match: ["docker build --secret id=npm,src=.npmrc ."] },
      { path: "kube|play play|kube", when: strongService, rule: "container.privileged", reason: "gives the container rights on the host",
        match: ["podman kube play - <<< '{\"privileged\": true}'"], not_match: ["podman kube play pod.yaml"] },
      { path: "swarm init|join|update|ca|unlock|join-token", rule: "container.swarm", reason: "lets other machines start containers on this one", match: ["docker swarm join --token x 203.0.113.4:2377"], not_match: ["docker swarm unlock-key --help"] },
      { path: "service create|update", rule: "container.swarm", reason: "changes what runs on many machines", match: ["docker service create --mount type=bind,src=/,dst=/h alpine"], not_match: ["docker service ps web"] },
      { path: "stack deploy|up", rule: "container.swarm", reason: "changes what runs on many machines", match: ["docker stack deploy -c a.yaml x"], not_match: ["docker stack ps x"] },
      { path: "container? update", options: "restart", rule: "container.restart", reason: "makes a container start by itself", match: ["docker update --restart=always web"], not_match: ["docker update --cpus 2 web"] },
      { path: "plugin install", options: "grant-all-permissions", rule: "container.privileged", reason: "gives a plug-in every right it asks for",
        match: ["docker plugin install --grant-all-permissions x/y"], not_match: ["docker plugin ls"] },
      { path: "container? cp", when: copiesOverSystem, rule: "container.copy",
        reason: "writes over a system or start-up file", match: ["docker cp web:/etc/passwd /etc/passwd"],
        not_match: ["docker cp dist web:/app"] },
      { path: "rmi", reason: REMOVES, match: ["docker rmi a"] },
      { path: "container? rm|remove|kill", when: notForTests, reason: REMOVES, match: ["podman rm -af", "docker rm -f web app_test"],
        not_match: ["docker rm -f app_test_1", "docker kill e2e-db"] },
      { path: "container prune", reason: REMOVES, match: ["docker container prune -f"] },
      { path: "container? stop|restart", when: notForTests, reason: STOPS,
        match: ["docker container stop $(docker container ls -q)", "docker stop web"], not_match: ["docker stop test-redis"] },
      { path: "image|volume|network|system|builder|buildx|pod|secret|config|context|plugin|node|manifest|model prune",
        reason: REMOVES, match: ["docker system prune"] },
      { path: "image|volume|network|buildx|pod|secret|config|context|plugin|node|service|stack|machine rm|remove",
        reason: REMOVES, match: ["podman machine rm"] },
      { path: "pod stop|restart|kill", reason: STOPS, match: ["podman pod stop web"] },
      { path: "stack|kube down", reason: REMOVES, match: ["docker stack down shop"] },
      { path: "plugin disable", reason: STOPS, match: ["docker plugin disable x"] },
      { path: "system reset", reason: REMOVES, match: ["podman system reset -f"] },
      { path: "machine stop|reset", reason: STOPS, match: ["podman machine stop"] },
      { path: "swarm leave", reason: "leaves the swarm", match: ["docker swarm leave -f"] },
      { path: "service scale", when: ({ rest }) => rest.some(({ text }) => /=0$/.test(text)), reason: STOPS,
        match: ["docker service scale api=0"], not_match: ["docker service scale api=3"] },
      { path: "service rollback", reason: "rolls a service back", match: ["docker service rollback"] },
      { path: "node update", options: "availability", reason: "takes a node out of service",
        match: ["docker node update --availability drain n1"], not_match: ["docker node update --label-add a=b n1"] },
      { path: "node demote", reason: "takes a node out of service", match: ["docker node demote"] },
      { path: "trust revoke", reason: "withdraws trust in images", match: ["docker trust revoke"] },
    ] },
    { program: "docker-compose|podman-compose",
      taking: "f file p project-name profile env-file project-directory ansi parallel progress t timeout s signal scale " +
        "index e env w workdir u user",
      not_match: ["docker-compose build"], rows: [
      { path: "up|run|create|start|exec|watch", when: strongService, rule: "container.privileged", reason: "gives the containers of a file rights on the host",
        match: ["docker compose -f - up <<< '{\"services\":{\"a\":{\"privileged\":true}}}'", "docker-compose -f - run x <<< '{\"volumes\":[\"/:/h\"]}'",
          "printf 'services:\\n a:\\n  pid: host\\n' > c.yml; docker compose -f c.yml up"],
        not_match: ["docker compose -f - up <<< '{\"services\":{\"a\":{\"volumes\":[\"./a:/a\"]}}}'", "docker compose up -d"] },
      { path: "rm|kill", reason: REMOVES, match: ["docker-compose rm --force", "docker-compose rm -fsv", "docker compose kill api"] },
      { path: "down", when: reliedOn, reason: REMOVES,
        match: ["docker-compose down --volumes", "docker compose -f compose.prod.yml down", "ssh web docker compose down", "DOCKER_HOST=ssh://me@host docker compose down"],
        not_match: ["docker compose down", "docker compose down --remove-orphans", "docker compose -f compose.test.yml down -t 5"] },
      { path: "stop|restart|pause", when: reliedOn, reason: STOPS, match: ["docker-compose -p prod stop", "docker compose restart hermes"],
        not_match: ["docker compose restart api", "docker-compose stop"] },
      { path: "up|scale",
        when: (call) => [...call.given("scale"), ...call.rest].find(({ text }) => /^[\w.-]+=0$/.test(text)),
        reason: STOPS, match: ["docker compose up -d --scale worker=0"],
        not_match: ["docker compose up -d --scale worker=3"] },
      { path: "run", options: "privileged", reason: "gives the container full rights on the host",
        match: ["docker-compose run --privileged web"], not_match: ["docker-compose run"] },
    ] },
    { program: "dockerd", word: /tcp:\/\/(?:0\.0\.0\.0|\[::\])/, rule: "container.open-engine",
      reason: "opens the container engine to the network", match: ["dockerd tcp://0.0.0.0"],
      not_match: ["dockerd list"] },
    { program: "buildah", path: "rm|rmi|prune", reason: "deletes objects of a cluster",
      match: ["buildah rm"], not_match: ["buildah list"] },
    { program: "skopeo|crane|regctl", reason: "deletes an image from a registry",
      not_match: ["reg query 'HKCU\\Software'"], rows: [
      { path: "delete|rm", match: ["skopeo delete docker://r/app:1"] },
      { path: "tag|image|manifest delete|rm", match: ["skopeo tag delete"] },
    ] },
  ] },
  { program: "docker|podman|nerdctl|buildah|buildctl|img|kaniko", dry: "check", when: buildsWithHost, rule: "container.host", reason: "gives a build the whole machine, a home, or rights over them",
    match: ["docker build -f D /", "docker build -t x ~", "docker buildx build --allow security.insecure .", "docker build --build-context root=/ .", "podman build -v /:/host ."],
    not_match: ["docker build -t a .", "docker build --build-context lib=../lib .", "docker buildx build --platform linux/amd64 -t a .", "podman build -v ./cache:/cache ."] },
]);

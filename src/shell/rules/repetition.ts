import { exhaustionOf } from "../code/endless.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isOwnHost } from "./addresses.js";
import { producersOf, runsCode } from "./flows.js";
import { isVital } from "./places.js";
import { type Condition, names, subject } from "./row.js";
import { farEnd, HTTP, MAILERS, POSTS } from "./sent-data.js";

const AGAIN =
  "does again and again, without end or in great number, what grows, costs money or reaches people";
const EXHAUST = "abuse.exhaust";

/** From here on nobody does it by hand, and a mistake is no small one. */
const MANY = 50;
/** Requests that only read are bearable for longer. */
const VERY_MANY = 1_000;
const COUNTLESS = 100_000;

const ANNOYS = names(
  "say notify-send terminal-notifier wall write espeak zenity kdialog xmessage xdg-open beep spd-say growlnotify",
);
/** Programs whose things live elsewhere, are paid for, or run on when the line is over. */
const CREATORS = names(
  "gh glab hub tea aws gcloud az doctl hcloud linode-cli vultr-cli oci ibmcloud scw civo exo openstack aliyun tccli fly flyctl heroku railway " +
    "render vercel netlify wrangler firebase supabase kubectl oc nomad argocd argo tkn helm twilio stripe slack jira acli linear pscale " +
    "neonctl atlas lxc incus multipass virsh vboxmanage vagrant eas circleci bk drone travis ray sbatch qsub bsub condor_submit modal runpodctl vastai",
);
const CREATES =
  /^(?:[\w-]+[.:])*(?:create|new|add|run|start|launch|invoke|trigger|dispatch|send|publish|post|put|insert|comment|note|reply|submit|upload|scale|provision|deploy|install|clone|fork|review|rerun|retry|(?:run|create|send|start|invoke|publish|put|allocate|request|purchase|submit)-[\w-]+)$/;
const LOOKS =
  /^(?:get|list|ls|show|describe|status|view|logs?|info|top|wait|watch|search|diff|explain|checks?|inspect|ps)$|^(?:get|list|describe)-/;
/** Where people write to each other. */
const TRACKERS = /^(?:gh|glab|hub|tea|jira|acli|linear|slack)$/;
const SUBMITTERS = /^(?:sbatch|qsub|bsub|condor_submit)$/;
const ENGINES = /^(?:docker|podman|nerdctl)$/;
const STARTERS =
  /^(?:systemd-run|daemonize|start-stop-daemon|at|batch|xterm|gnome-terminal|konsole|kitty|alacritty|firefox|chromium|google-chrome)$/;
const MAKES =
  /^(?:mkdir|mktemp|mkfifo|mknod|g?cp|install|dd|fallocate|truncate|csplit|split|ln|tar|zip|rsync|ssh-keygen|wget)$/;

const subCommands = ({ args }: SimpleCommand): readonly ShellWord[] =>
  args.filter(({ text }) => !text.startsWith("-")).slice(0, 4);
const says = ({ args }: SimpleCommand, pattern: RegExp): boolean =>
  args.some(({ text }) => pattern.test(text));

function reachesPeople(command: SimpleCommand): boolean {
  const { program } = command;
  return MAILERS.has(program) || POSTS.has(program) || ANNOYS.has(program);
}

/** An address on this machine. */
const HERE = /^(?:[\w-]+=)?(?:https?:\/\/)?(?:localhost|127\.|\[::1\]|0\.0\.0\.0|host\.docker|:\d)/;

/** A request that writes, or very many that read, to another machine than this one. */
function requests(command: SimpleCommand): boolean {
  const { program, rounds } = command;
  if (!HTTP.has(program) || says(command, HERE)) return false;
  const end = farEnd(command);
  if (end === undefined || isOwnHost(end.text)) return false;
  const writes = says(
    command,
    /^(?:-X(?:POST|PUT|PATCH|DELETE)?|--request(?:=.*)?|POST|PUT|PATCH|DELETE|-[a-zA-Z]*[dFT]|--(?:data|form|json|upload|post|body)[\w-]*(?:=.*)?)$/,
  );
  return writes || rounds >= VERY_MANY;
}

function createsElsewhere(command: SimpleCommand): boolean {
  const { program } = command;
  if (says(command, HERE)) return false;
  if (ENGINES.test(program))
    return (
      subCommands(command).some(({ text }) => /^(?:run|create|start)$/.test(text)) &&
      (command.rounds === Number.POSITIVE_INFINITY || says(command, /^(?:-[a-z]*d[a-z]*|--detach|create)$/))
    );
  return (
    CREATORS.has(program) &&
    (SUBMITTERS.test(program) ||
      (!subCommands(command).some(({ text }) => LOOKS.test(text)) &&
        subCommands(command).some(({ text }) => CREATES.test(text))))
  );
}

function startsOthers(command: SimpleCommand): boolean {
  const { program } = command;
  if (/^(?:screen|tmux)$/.test(program)) return says(command, /^-[a-zA-Z]*d[a-zA-Z]*$/);
  return STARTERS.test(program);
}

function fills(command: SimpleCommand): boolean {
  const { program, args, redirects } = command;
  if (program === "mkdir" && says(command, /^-[a-z]*p|^--parents$/)) return args.some(({ known }) => !known);
  if (MAKES.test(program)) return true;
  if (program === "touch") return args.some(({ known }) => !known);
  if (program === "tee") return says(command, /^-[a-z]*a|^--append$/);
  if (program === "git")
    return subCommands(command).some(({ text }) => /^(?:commit|branch|tag|clone|worktree|stash)$/.test(text));
  return redirects.some(
    ({ kind, target }) =>
      !/^\/dev\//.test(target.text) && (kind === "append" || (kind === "write" && !target.known)),
  );
}

const copiesTree: Condition = ({ command }) =>
  /^(?:g?cp|tar|rsync|zip)$/.test(command.program)
    ? command.args.find((word) => /^[/~]/.test(word.text) && isVital(word))
    : undefined;

/** For each line of a list: nobody can tell how many there are, and each is a person or what people read. */
function writesToEach(command: SimpleCommand): boolean {
  const { program, repeated, rounds } = command;
  if (!repeated || rounds !== 1) return false;
  return MAILERS.has(program) || POSTS.has(program) || (TRACKERS.test(program) && createsElsewhere(command));
}

const repeatsHarm: Condition = (call) => {
  const { command } = call;
  const { rounds, program } = command;
  if (writesToEach(command)) return command.name;
  if (rounds < MANY || program === "" || program.includes(" ")) return undefined;
  if (program === "git" && subCommands(command)[0]?.text === "push") return command.name;
  if (reachesPeople(command) || requests(command) || createsElsewhere(command) || startsOthers(command))
    return command.name;
  if (rounds >= COUNTLESS && fills(command)) return command.name;
  return copiesTree(call);
};

/** `find / … | xargs -P0 …`: as many programs at once as the disk has files. */
const takesWholeDisk: Condition = ({ command }) => {
  const many = command.args.find(({ text }, index) => {
    const value = /^(?:-[Pj]|--(?:max-procs|jobs)=)(\d+)$/.exec(text)?.[1];
    const isNext = /^(?:-P|-j|--max-procs|--jobs)$/.test(command.args[index - 1]?.text ?? "");
    const count = value ?? (isNext && /^\d+$/.test(text) ? text : undefined);
    return count !== undefined && (count === "0" || Number(count) >= 64);
  });
  const isAll = producersOf(command).some(
    ({ program, args }) =>
      /^(?:find|gfind|fd|fdfind|du|ls)$/.test(program) &&
      args.some((word) => /^[/~]/.test(word.text) && isVital(word)),
  );
  return isAll ? many : undefined;
};

/** `mongosh --eval 'for(;;) db.a.insertOne({})'`: code for programs that are no interpreters. */
const codeWithoutEnd: Condition = ({ args, command }) =>
  runsCode(command.program)
    ? undefined
    : args.find(
        ({ text }, index) =>
          text.includes("(") &&
          /^(?:--?(?:eval|exec|execute|expr|js|e)|eval)$/i.test(args[index - 1]?.text ?? "") &&
          exhaustionOf(text) !== undefined,
      );

const HOUR: Readonly<Record<string, number>> = { s: 1 / 3600, m: 1 / 60, h: 1, d: 24, w: 168 };
/** A measurement of a disk that takes hours. */
const measuresForHours: Condition = (call) => {
  const [, count = "0", unit = "s"] =
    /^(\d+)([smhdw]?)$/.exec(call.given("runtime").at(-1)?.text ?? "") ?? [];
  return Number(count) * (HOUR[unit || "s"] ?? 1) >= 1 ? (call.given("runtime")[0] ?? {}) : undefined;
};

/** Things that one command may do, and thousands in a row may not. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("abuse", [
  { program: "*", when: repeatsHarm, rule: EXHAUST, reason: AGAIN,
    match: ["for i in {1..5000}; do gh issue create -t $i -b x; done", "while docker run -d alpine sleep 99; do :; done", "while mkdir d && cd d; do :; done",
      "while :; do curl -s https://api.example.com -d '{}' & sleep .05; done", "while read m; do for i in $(seq 500); do echo x | sendmail $m; done; done < l",
      "seq 2000 | xargs -P50 -I{} glab ci run -b main", "for ((i=0;i<99999;i++)); do curl -X POST https://x.example; done", "i=0; while :; do mkdir d$i; i=$((i+1)); done",
      "while read -r k; do jira issue comment add $k hi; done < keys", "while read -r m; do echo x | sendmail \"$m\"; done < staff.txt",
      "while true; do date >> log; done", "for i in {1..40}; do for j in {1..40}; do cp -r /usr u$i$j; done; done", "until false; do screen -dm yes; done"],
    not_match: ["for i in 1 2 3; do gh issue view $i; done", "for r in a b; do gh repo clone acme/$r; done", "for u in $(cat urls); do curl -X POST $u; done",
      "for i in $(seq 1 30); do curl -X POST https://x.example && break; sleep 1; done", "for i in {1..200}; do curl -X POST localhost:3000 -d $i; done",
      "while true; do date >> log; sleep 5; done", "while npm test; do :; done", "until docker run -d alpine; do sleep 1; done", "for i in {1..100}; do mkdir d$i; done",
      "while true; do curl -s https://x.example/health; sleep 5; done", "for i in {1..9}; do docker run -d alpine; done", "while read f; do cp $f out; done < list"] },
  { program: "xargs|parallel|rush", dry: "", when: takesWholeDisk, rule: EXHAUST, reason: "starts a program for every file of the disk at once", match: ["find / -type f -print0 | xargs -0 -n1 -P0 sha512sum"],
    not_match: ["find src | xargs -P0 wc -l", "find / -name a | xargs -P4 ls"] },
  { program: "*", when: codeWithoutEnd, rule: EXHAUST, reason: AGAIN, match: ["mongosh x --eval 'for(;;){db.a.insertOne({})}'", "redis-cli EVAL 'while true do redis.call(\"RPUSH\",\"l\",\"x\") end' 0"],
    not_match: ["mongosh x --eval 'for(let i=0;i<9;i++) db.a.insertOne({i})'"] },
  { program: "fio", taking: "", when: measuresForHours, rule: EXHAUST, reason: "keeps the disk busy for hours", match: ["fio --name=w --rw=randwrite --size=2G --runtime=7d"], not_match: ["fio --name=w --rw=randread --size=1G --runtime=60"] },
]);

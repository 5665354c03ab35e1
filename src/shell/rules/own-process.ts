import { parseOptions } from "../read/options.js";
import type { Finding, Rule, RuleSet, ShellWord, SimpleCommand } from "../types.js";
import { producersOfWord } from "./flows.js";
import { answersByRequest, asOwnProgram, readsOwnSecrets } from "./own-secrets.js";
import { danger, forPrograms, has, verbRule } from "./verb-table.js";

const STOPS = "stops the runtime that is carrying out this command";
const LOOSENS = "changes what the runtime allows";

const names = (word: ShellWord): boolean => /hermes/i.test(word.text);

/** `pkill -f hermes`, `killall hermes`. */
const killByName: Rule = (command) => {
  const target = command.args.find((word) => !/^-/.test(word.text) && names(word));
  return target === undefined ? undefined : danger("own-process.kill", STOPS, target);
};

/** `kill $(pgrep hermes)`, `kill "$(cat ~/.hermes/gateway.pid)"`, the shell's own parent. */
const kill: Rule = (command) => {
  if (command.args.some(({ text }) => /^-(?:l|L|0|-list|s0)$/.test(text))) return undefined;
  for (const word of command.args) {
    const found = producersOfWord(word).some((producer) => producer.args.some(names));
    if (found) return danger("own-process.kill", STOPS, word);
    if (word.variables?.includes("PPID") === true) return danger("own-process.kill", STOPS, word);
  }
  return command.input.kind === "commands" && command.input.from.some((producer) => producer.args.some(names))
    ? danger("own-process.kill", STOPS)
    : undefined;
};

const service: Rule = (command) => {
  const changes = command.args.find(({ text }) =>
    /^(?:stop|restart|disable|mask|kill|reload|unload|bootout|remove|try-restart|condrestart|force-reload|kickstart|rm|pause|delete|down|edit|set-property|revert)$/.test(
      text,
    ),
  );
  const target = command.args.find(names);
  return changes !== undefined && target !== undefined
    ? danger("own-process.service", STOPS, target)
    : undefined;
};

const terminal: Rule = (command) => {
  const ends = command.args.some(({ text }) =>
    /^(?:kill-(?:session|window|pane|server)|quit|kill|respawn-\w+|send-keys|stuff)$/.test(text),
  );
  const target = command.args.find(names);
  return ends && target !== undefined ? danger("own-process.kill", STOPS, target) : undefined;
};

const hermesVerbs = verbRule({
  family: "own-process",
  taking: ["config", "profile", "session", "m", "model", "home"],
  verbs: [
    { path: "gateway|serve|server|daemon|service stop|restart|kill|uninstall", reason: STOPS },
    { path: "update|upgrade|uninstall|self-update|downgrade", reason: "replaces or removes the runtime" },
    { path: "config set|unset|add|remove|edit|reset|import|trust|untrust", reason: LOOSENS },
    {
      path: "approvals approve|deny|allow|grant|resume|revoke|set|clear|mode|add|remove|answer",
      reason: "answers the runtime's own questions",
    },
    { path: "tools|toolsets|toolset enable", reason: LOOSENS },
    { path: "grants|allowlist add|approve|set|import", reason: LOOSENS },
    { path: "permissions use|set|allow|add|edit|import|reset", reason: LOOSENS },
    {
      path: "trust *",
      reason: LOOSENS,
      when: ({ rest, operands }) =>
        !/^(?:list|show|status)$/.test(operands[1]?.text ?? "") && rest.length >= 0,
    },
    // What is switched off may be what watches calls.
    { path: "plugins|hooks|mcp install|add|enable|trust|disable", reason: LOOSENS },
    { path: "yolo", reason: LOOSENS },
  ],
});

const hermes: Rule = (command) => {
  const options = parseOptions(command.args, {});
  const yolo = command.args.find(({ text }) =>
    /^--(?:yolo|dangerously-\w[\w-]*|no-approvals?|auto-approve|approve-all|accept-all)$/.test(text),
  );
  if (yolo !== undefined) return danger("own-process.approvals", LOOSENS, yolo);
  return has(options, "help") ? undefined : hermesVerbs(command);
};

/** The same program under the name of its file, or of the package it comes from. */
const hermesByFile: Rule = (command) => {
  if (/^hermes(?:-agent|-tools)?$/.test(command.program)) return undefined;
  const own = asOwnProgram(command);
  return own === undefined ? undefined : hermes(own);
};

/** Variables that switch safeguards off or move them elsewhere; unsetting or reading them does nothing. */
const VARIABLES =
  /^HERMES_(?:YOLO(?:_MODE)?|HOME|CONFIG|APPROVALS?(?:_\w+)?|PERMISSIONS?(?:_\w+)?|SANDBOX|SESSION_KEY|UNSAFE\w*|ALLOW\w*|DISABLE\w*|PROFILE)$/;

const assignments: Rule = (command) => {
  for (const { name, value } of command.assignments) {
    if (!VARIABLES.test(name) || /^(?:|0|false|no|off)$/i.test(value.text)) continue;
    return danger("own-process.variable", `${LOOSENS} through ${name}`, value);
  }
  return /^(?:export|declare|typeset|setx|set|launchctl|setenv)$/.test(command.program)
    ? exported(command)
    : undefined;
};

function exported(command: SimpleCommand): Finding | undefined {
  for (const word of command.args) {
    const [name = "", value = ""] = word.text.split("=", 2);
    if (VARIABLES.test(name) && word.text.includes("=") && !/^(?:|0|false|no|off)$/i.test(value))
      return danger("own-process.variable", `${LOOSENS} through ${name}`, word);
  }
  return undefined;
}

export const RULES: RuleSet = {
  family: "own-process",
  programs: {
    ...forPrograms(["pkill", "killall", "skill", "snice", "xkill"], killByName),
    kill,
    ...forPrograms(
      [
        "systemctl",
        "service",
        "launchctl",
        "rc-service",
        "sv",
        "supervisorctl",
        "pm2",
        "docker",
        "podman",
        "kubectl",
        "brew",
        "s6-svc",
        "initctl",
        "loginctl",
      ],
      service,
    ),
    ...forPrograms(["tmux", "screen", "byobu"], terminal),
    ...forPrograms(["hermes", "hermes-agent", "hermes-tools"], hermes),
  },
  any: [assignments, readsOwnSecrets, answersByRequest, hermesByFile],
};

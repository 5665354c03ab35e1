import type { Finding, Rule, RuleSet, ShellWord, SimpleCommand } from "../types.js";
import { placeOf } from "./segments.js";
import { danger, explainsAnywhere, forPrograms, hardline, names, operandsOf, verbRule } from "./words.js";

const STOPS = "stops, restarts or switches off a service";
const stopsWith = (verbs: string, options: { readonly at?: number; readonly taking?: string } = {}): Rule =>
  verbRule({ rule: "service.stop", reason: STOPS, verbs, ...options });

const POWER = names("poweroff reboot halt kexec");
const POWER_TARGETS = /^(?:poweroff|reboot|halt|kexec|shutdown|runlevel[06])(?:\.target)?$/;
const SYSTEMCTL_STOPS = names(
  "stop restart try-restart reload-or-restart reload-or-try-restart try-reload-or-restart condrestart condstop " +
    "force-reload disable mask kill isolate emergency rescue default set-default set-property edit revert link " +
    "preset preset-all daemon-reexec soft-reboot suspend hibernate hybrid-sleep suspend-then-hibernate sleep exit " +
    "switch-root freeze clean bind mount-image import-environment set-environment",
);
const SYSTEMCTL_TAKING =
  "-t --type --state -p --property -P -H --host -M --machine -n --lines -o --output -s --signal --kill-who " +
  "--kill-whom --root --job-mode --what --when --message --check-inhibitors";

const systemctl: Rule = ({ args }) => {
  if (explainsAnywhere(args) || args.some(({ text }) => text === "--dry-run")) return undefined;
  const [verb, ...units] = operandsOf(args, SYSTEMCTL_TAKING);
  if (verb === undefined) return undefined;
  const name = verb.text.toLowerCase();
  if (POWER.has(name)) return hardline("power.systemctl", "stops or restarts the machine", verb);
  const target = /^(?:start|isolate|restart)$/.test(name)
    ? units.find(({ text }) => POWER_TARGETS.test(text))
    : undefined;
  if (target !== undefined) return hardline("power.systemctl", "stops or restarts the machine", target);
  return SYSTEMCTL_STOPS.has(name) || !verb.known ? danger("service.stop", STOPS, verb) : undefined;
};

const SERVICE_STOPS = names(
  "stop restart force-restart condrestart try-restart full-restart force-stop forcestop onestop onerestart " +
    "faststop stop-server shutdown kill zap graceful-stop",
);

function serviceVerb(verb: ShellWord | undefined): Finding | undefined {
  return verb !== undefined && (SERVICE_STOPS.has(verb.text.toLowerCase()) || !verb.known)
    ? danger("service.stop", STOPS, verb)
    : undefined;
}

const service: Rule = ({ args }) => serviceVerb(operandsOf(args)[1]);

/** `/etc/init.d/nginx stop`: the script is the program. */
const initScript: Rule = ({ name, args }) => {
  if (!name.text.includes(".d/")) return undefined;
  const { anchor, segments } = placeOf(name);
  const isScript =
    anchor === "root" && segments.slice(0, -1).some((part) => /^(?:init|rc)\d?\.d$/.test(part));
  return isScript ? serviceVerb(args[0]) : undefined;
};

const signalled =
  (option: string, verbs: string): Rule =>
  ({ args }) => {
    const at = args.findIndex(({ text }) => text === option);
    const verb = at < 0 ? undefined : args[at + 1];
    return verb !== undefined && names(verbs).has(verb.text)
      ? danger("service.stop", STOPS, verb)
      : undefined;
  };

const apache: Rule = (command) =>
  signalled("-k", "stop restart graceful-stop")(command) ??
  stopsWith("stop restart graceful-stop fullstatus-stop")(command);

const launchctl: Rule = ({ args }) => {
  const [verb] = operandsOf(args);
  if (verb === undefined) return undefined;
  if (verb.text === "reboot") return danger("service.stop", "restarts the machine or a part of it", verb);
  if (/^(?:load|bootstrap|submit|enable)$/.test(verb.text))
    return danger("persistence.service", "makes a program start by itself", verb);
  if (verb.text === "kickstart")
    return args.some(({ text }) => /^-[a-z]*k/.test(text)) ? danger("service.stop", STOPS, verb) : undefined;
  return /^(?:unload|bootout|remove|disable|stop|kill|setenv|unsetenv|limit)$/.test(verb.text)
    ? danger("service.stop", STOPS, verb)
    : undefined;
};

const daemontools: Rule = ({ args }) => {
  const stop = args.find(({ text }) => /^-[a-zA-Z]*[dkxtphi]/.test(text));
  return stop === undefined ? undefined : danger("service.stop", STOPS, stop);
};

const withOption =
  (options: RegExp, reason = STOPS): Rule =>
  ({ args }) => {
    const option = args.find(({ text }) => options.test(text));
    return option === undefined || explainsAnywhere(args)
      ? undefined
      : danger("service.stop", reason, option);
  };

/** The agent may not stop, replace or loosen the runtime that watches it. */
const hermes: Rule = ({ args }) => {
  if (explainsAnywhere(args)) return undefined;
  const [group, verb] = operandsOf(args, "--home --profile --config").map(({ text }) => text);
  const loosens =
    /^(?:update|uninstall|reset|trust)$/.test(group ?? "") ||
    (/^(?:gateway|server|serve|daemon)$/.test(group ?? "") &&
      /^(?:stop|restart|kill|uninstall)$/.test(verb ?? "")) ||
    (group === "config" && /^(?:set|unset|edit|import|reset)$/.test(verb ?? "")) ||
    (/^(?:approvals?|grants?|permissions?)$/.test(group ?? "") &&
      /^(?:approve|allow|grant|add|set|edit|import|always|clear|revoke|remove|deny)$/.test(verb ?? "")) ||
    group === "grant" ||
    group === "approve" ||
    args.some(({ text }) => text === "--yolo");
  return loosens ? danger("agent.self", "stops or loosens the runtime that guards this agent") : undefined;
};

const guest = (verbs: string, at = 0): Rule =>
  verbRule({ rule: "service.machine", reason: "stops or deletes a virtual machine", verbs, at });

function programs(): Record<string, Rule> {
  return {
    systemctl,
    ...forPrograms("service rc-service invoke-rc.d", service),
    "update-rc.d": stopsWith("disable remove", { at: 1 }),
    "rc-update": stopsWith("del delete"),
    chkconfig: (command) => withOption(/^--del$/)(command) ?? stopsWith("off", { at: -1 })(command),
    ...forPrograms("initctl", stopsWith("stop restart")),
    ...forPrograms("stop restart", ({ args }) =>
      args.length > 0 ? danger("service.stop", STOPS, args[0]) : undefined,
    ),
    sv: stopsWith(
      "stop down d exit e x kill k restart force-stop force-restart force-shutdown shutdown term t",
    ),
    ...forPrograms("svc s6-svc", daemontools),
    "s6-rc": withOption(/^-[a-zA-Z]*d/),
    supervisorctl: stopsWith("stop restart shutdown remove reload update clear signal", {
      taking: "-c --configuration -s --serverurl -u --username -p --password",
    }),
    monit: stopsWith("stop restart quit unmonitor", { taking: "-g -c" }),
    circusctl: stopsWith("stop quit rm restart"),
    ...forPrograms("pm2 pm2-dev", stopsWith("stop delete del kill restart flush unstartup")),
    forever: stopsWith("stop stopall restart restartall"),
    launchctl,
    brew: (command) =>
      operandsOf(command.args)[0]?.text === "services"
        ? stopsWith("stop restart kill cleanup", { at: 1 })(command)
        : undefined,
    ...forPrograms("nginx openresty angie", signalled("-s", "stop quit")),
    ...forPrograms("httpd apache2 apachectl apache2ctl httpd2", apache),
    ...forPrograms("caddy varnishadm", stopsWith("stop")),
    pg_ctl: stopsWith("stop restart kill promote", { taking: "-D --pgdata -m --mode -l --log -t -o" }),
    pg_ctlcluster: stopsWith("stop restart promote", { at: 2 }),
    pg_dropcluster: () => danger("service.stop", "deletes a database server with its data"),
    ...forPrograms(
      "mysqladmin mariadb-admin",
      stopsWith("shutdown kill", { at: -1, taking: "-u -h -P --user --host -S" }),
    ),
    mongod: withOption(/^--shutdown$/),
    ...forPrograms(
      "rabbitmqctl",
      stopsWith("stop stop_app shutdown reset force_reset delete_vhost delete_queue", { taking: "-n -p" }),
    ),
    ...forPrograms("redis-cli valkey-cli", stopsWith("shutdown", { taking: "-h -p -a -n -u --user --pass" })),
    snap: stopsWith("stop restart disable"),
    machinectl: guest("poweroff terminate reboot kill remove stop disable"),
    loginctl: (command) => loginctl(command),
    virsh: guest(
      "destroy shutdown reboot undefine reset vol-delete pool-delete pool-destroy net-destroy snapshot-delete",
      -1,
    ),
    vboxmanage: guest("controlvm unregistervm closemedium discardstate"),
    vagrant: guest("destroy halt"),
    multipass: guest("delete stop purge"),
    ...forPrograms("lxc incus", guest("delete stop")),
    ...forPrograms("lxc-destroy lxc-stop", () => danger("service.machine", "stops or deletes a container")),
    ...forPrograms("qm pct xl", guest("destroy stop shutdown reboot reset")),
    tmux: stopsWith("kill-server", { taking: "-L -S -f" }),
    ...forPrograms("hermes hermes-tools hermes-agent", hermes),
  };
}

function loginctl(command: SimpleCommand): Finding | undefined {
  const [verb] = operandsOf(command.args);
  if (/^(?:poweroff|reboot|halt)$/.test(verb?.text ?? ""))
    return hardline("power.loginctl", "stops or restarts the machine", verb);
  if (verb?.text === "enable-linger")
    return danger("persistence.service", "lets programs run on after the user is gone", verb);
  return /^(?:terminate|kill)-/.test(verb?.text ?? "")
    ? danger("service.stop", "ends the session of a user", verb)
    : undefined;
}

export const RULES: RuleSet = { family: "services", programs: programs(), any: [initScript] };

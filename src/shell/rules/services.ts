import { type Condition, names, subject } from "./row.js";
import { placeOf } from "./segments.js";

const STOPS = "stops, restarts or switches off a service";
const POWER = "stops or restarts the machine";
const STOP = "service.stop";
const RELIED_ON = "deletes data or a thing others rely on";
const SERVICE_VERBS =
  "stop|restart|force-restart|condrestart|try-restart|full-restart|force-stop|forcestop|onestop|onerestart|faststop|stop-server|shutdown|kill|zap|graceful-stop";
const SERVICE_STOPS = names(SERVICE_VERBS.replaceAll("|", " "));

/** `/etc/init.d/nginx stop`: the script is the program. */
const initScript: Condition = ({ command: { name, args } }) => {
  if (!name.text.includes(".d/")) return undefined;
  const { anchor, segments } = placeOf(name);
  if (anchor !== "root" || !segments.slice(0, -1).some((part) => /^(?:init|rc)\d?\.d$/.test(part)))
    return undefined;
  const [verb] = args;
  return verb !== undefined && (SERVICE_STOPS.has(verb.text.toLowerCase()) || !verb.known) ? verb : undefined;
};

/** `nginx -s stop`: the verb is the value of an option. */
const signalled =
  (option: RegExp, verbs: RegExp): Condition =>
  (call) => {
    const verb = call.after(option);
    return verbs.test(verb?.text ?? "") ? verb : undefined;
  };

/** Programs that start, watch and stop other programs. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("services", [
  { program: "systemctl",
    taking: "t type state p property P H host M machine n lines o output s signal kill-who kill-whom root job-mode what when message check-inhibitors",
    dry: "dry-run", unknownVerb: true, not_match: ["systemctl status stop", "systemctl stop --help"], rows: [
    { path: "poweroff|reboot|halt|kexec", when: ({ operands }) => operands[0]?.known, level: "hardline",
      rule: "power.systemctl", reason: POWER, match: ["systemctl kexec"] },
    { path: "start|isolate|restart", when: ({ operands, rest }) =>
        operands[0]?.known === true
          ? rest.find(({ text }) =>
              /^(?:poweroff|reboot|halt|kexec|shutdown|runlevel[06])(?:\.target)?$/.test(text),
            )
          : undefined,
      level: "hardline", rule: "power.systemctl", reason: POWER, match: ["systemctl isolate reboot.target"],
      not_match: ["systemctl start nginx"] },
    { path: "stop|restart|try-restart|reload-or-restart|reload-or-try-restart|try-reload-or-restart|condrestart|condstop|force-reload|disable|mask|kill|isolate|emergency|rescue|default|set-default|set-property|edit|revert|link|preset|preset-all|daemon-reexec|soft-reboot|suspend|hibernate|hybrid-sleep|suspend-then-hibernate|sleep|exit|switch-root|freeze|clean|bind|mount-image|import-environment|set-environment",
      rule: STOP, reason: STOPS, match: ["systemctl rescue"] },
  ] },
  { unknownVerb: true, rule: STOP, reason: STOPS, tools: [
    { program: "service|rc-service|invoke-rc.d", path: `* ${SERVICE_VERBS}`, match: ["service nginx stop"],
      not_match: ["service nginx status"] },
    { program: "update-rc.d", path: "* disable|remove", match: ["update-rc.d nginx disable"] },
    { program: "rc-update", path: "del|delete", match: ["rc-update del nginx"] },
    { program: "initctl", path: "stop|restart", match: ["initctl stop nginx"] },
    { program: "sv",
      path: "stop|down|d|exit|e|x|kill|k|restart|force-stop|force-restart|force-shutdown|shutdown|term|t",
      match: ["sv stop nginx"], not_match: ["sv status nginx"] },
    { program: "supervisorctl", taking: "c configuration s serverurl u username p password",
      path: "stop|restart|shutdown|remove|reload|update|clear|signal", match: ["supervisorctl stop all"],
      not_match: ["supervisorctl status"] },
    { program: "monit", taking: "g c", path: "stop|restart|quit|unmonitor", match: ["monit stop all"],
      not_match: ["monit summary"] },
    { program: "circusctl", path: "stop|quit|rm|restart", match: ["circusctl quit"] },
    { program: "pm2|pm2-dev", path: "stop|delete|del|kill|restart|flush|unstartup", match: ["pm2 kill"],
      not_match: ["pm2 list"] },
    { program: "pm2|pm2-dev", path: "save|dump|startup|resurrect|set|install|module:install|link|plus|deploy", rule: "persistence.service", reason: "makes programs start by themselves, or gives them to others",
      match: ["pm2 startup", "pm2 save"], not_match: ["pm2 logs"] },
    { program: "forever", path: "stop|stopall|restart|restartall", match: ["forever stopall"] },
    { program: "httpd|apache2|apachectl|apache2ctl|httpd2", not_match: ["apachectl configtest"], rows: [
      { when: signalled(/^-k$/, /^(?:stop|restart|graceful-stop)$/), match: ["httpd -k stop"],
        not_match: ["apachectl graceful"] },
      { path: "stop|restart|graceful-stop|fullstatus-stop", match: ["apachectl stop"] },
    ] },
    { program: "caddy|varnishadm", path: "stop", match: ["caddy stop"] },
    { program: "tmux", taking: "L S f", path: "kill-server", match: ["tmux kill-server"],
      not_match: ["tmux ls"] },
  ] },
  { program: "*", when: initScript, rule: STOP, reason: STOPS, match: ["/etc/init.d/nginx stop"] },
  { program: "chkconfig", rule: STOP, reason: STOPS, rows: [
    { word: /^--del$/, match: ["sudo chkconfig --del httpd"] },
    { path: "** off", match: ["chkconfig nginx off"] },
  ] },
  { program: "stop|restart", word: /./, rule: STOP, reason: STOPS, match: ["stop x"] },
  { program: "svc|s6-svc", dry: "", word: /^-[a-zA-Z]*[dkxtphi]/, rule: STOP, reason: STOPS,
    match: ["svc -d /service/x"] },
  { program: "s6-rc", word: /^-[a-zA-Z]*d/, rule: STOP, reason: STOPS, match: ["s6-rc -d change web"] },
  { program: "launchctl", not_match: ["launchctl list", "launchctl print system"], rows: [
    { path: "reboot", rule: STOP, reason: "restarts the machine or a part of it", match: ["launchctl reboot"] },
    { path: "load|bootstrap|submit|enable", rule: "persistence.service",
      reason: "makes a program start by itself", match: ["launchctl load -w x.plist"] },
    { path: "kickstart", options: "k", rule: STOP, reason: STOPS,
      match: ["launchctl kickstart -k gui/501/x"], not_match: ["launchctl kickstart"] },
    { path: "unload|bootout|remove|disable|stop|kill|setenv|unsetenv|limit", rule: STOP, reason: STOPS,
      match: ["launchctl unload x"] },
  ] },
  { program: "loginctl", not_match: ["loginctl list-sessions", "loginctl show-user bob"], rows: [
    { path: "poweroff|reboot|halt", level: "hardline", rule: "power.loginctl", reason: POWER,
      match: ["loginctl reboot"] },
    { path: "enable-linger", rule: "persistence.service",
      reason: "lets programs run on after the user is gone", match: ["loginctl enable-linger"] },
    { path: "terminate-session|terminate-user|terminate-seat|kill-session|kill-user", rule: STOP,
      reason: "ends the session of a user", match: ["loginctl kill-session 4"] },
  ] },
  { program: "nginx|openresty|angie", when: signalled(/^-s$/, /^(?:stop|quit)$/), rule: STOP, reason: STOPS,
    match: ["nginx -s stop"], not_match: ["nginx -t"] },
  { program: "postsuper", word: /^-[dr]$/, rule: "rare.option", reason: RELIED_ON, match: ["postsuper -d"] },
  { program: "exim|exim4", word: /^-(?:Mrm|Mg|Mf)$/, rule: "rare.option", reason: RELIED_ON,
    match: ["exim -Mrm"] },
  { program: "mailq-rm|qmail-remove", word: /./, rule: "rare.use", reason: RELIED_ON, match: ["mailq-rm x"] },
  { program: "lpadmin", word: /^-[xpdu]/, rule: "rare.option", reason: "changes or removes a printer",
    match: ["lpadmin -x"] },
  { program: "cancel", word: /^-a$/, rule: "rare.option", reason: "cancels every print job",
    match: ["cancel -a"] },
  { program: "lprm", word: /^-a?$/, rule: "rare.option", reason: "cancels every print job", match: ["lprm -"] },
]);

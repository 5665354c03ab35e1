/** A family of commands that a person should see first, or that never run at all. */
export interface DangerRule {
  readonly id: string;
  readonly reason: string;
  readonly pattern: RegExp;
}

const START = String.raw`(?:^|[;&|(){}\n\x60]|\$\()\s*(?:(?:sudo|env|exec|nohup|time|command|nice|ionice|xargs|timeout\s+\S+)\s+(?:-\S+\s+|\w+=\S*\s+)*)*(?:\S*/)?`;
const ROOTS = String.raw`(?:/|/\*|~|~/|\$HOME/?|\$\{HOME\}/?|/(?:home|root|etc|usr|var|bin|sbin|boot|lib)(?:/\*?)?)`;

const rule = (id: string, reason: string, source: string, flags = "i"): DangerRule => ({
  id,
  reason,
  pattern: new RegExp(source, flags),
});

/** Refused always: no approval and no flag opens them. */
export const HARDLINE: readonly DangerRule[] = [
  rule(
    "hardline.rm-root",
    "recursive delete of a system or home folder",
    String.raw`${START}rm\s+(?:-\S+\s+|--\s+)*-\S*[rR]\S*\s+(?:\S+\s+)*${ROOTS}(?=\s|$|[;&|])`,
  ),
  rule(
    "hardline.rm-root-long",
    "recursive delete of a system or home folder",
    String.raw`${START}rm\s+(?:\S+\s+)*--recursive\s+(?:\S+\s+)*${ROOTS}(?=\s|$|[;&|])`,
  ),
  rule(
    "hardline.mkfs",
    "formats a disk",
    String.raw`${START}(?:mkfs(?:\.\w+)?|mke2fs|wipefs\s+-a|blkdiscard)\b`,
  ),
  rule(
    "hardline.dd-device",
    "writes over a disk",
    String.raw`${START}dd\b[^;&|\n]*\bof=/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`,
  ),
  rule(
    "hardline.device-redirect",
    "writes over a disk",
    String.raw`>\s*/dev/(?:sd|hd|vd|xvd|nvme|mmcblk|disk)`,
  ),
  rule("hardline.fork-bomb", "fork bomb", String.raw`(\S+)\s*\(\)\s*\{\s*\1\s*\|\s*\1\s*&\s*\}\s*;?\s*\1`),
  rule("hardline.kill-all", "kills every process", String.raw`${START}kill\s+(?:-\S+\s+)*-1(?=\s|$|[;&|])`),
  rule(
    "hardline.shutdown",
    "stops the machine",
    String.raw`${START}(?:shutdown|reboot|halt|poweroff|(?:init|telinit)\s+[06]|systemctl\s+(?:poweroff|reboot|halt|kexec))\b`,
  ),
];

/** Needs a person's yes. */
export const DANGEROUS: readonly DangerRule[] = [
  rule("danger.rm-recursive", "recursive delete", String.raw`${START}rm\s+[^;&|\n]*(?:-\S*[rR]|--recursive)`),
  rule(
    "danger.find-delete",
    "deletes what find matches",
    String.raw`${START}find\b[^;|\n]*(?:-delete\b|-exec(?:dir)?\s+rm\b)`,
  ),
  rule("danger.xargs-rm", "deletes what is piped in", String.raw`\bxargs\b[^;|\n]*\brm\b`),
  rule(
    "danger.chmod-world",
    "lets everybody write",
    String.raw`${START}chmod\s+[^;&|\n]*(?:\b0?[0-7]?(?:777|666)\b|[oa]\+\S*w)`,
  ),
  rule("danger.chown-root", "hands files to root", String.raw`${START}chown\s+[^;&|\n]*-\S*R\S*\s+root`),
  rule(
    "danger.disk",
    "writes raw data to disk or device",
    String.raw`${START}(?:dd\b[^;&|\n]*\bif=|mkswap\b|shred\b)`,
  ),
  rule(
    "danger.sql",
    "destroys database content",
    String.raw`\b(?:DROP\s+(?:TABLE|DATABASE|SCHEMA)|TRUNCATE\s+(?:TABLE\s+)?\w|DELETE\s+FROM\s+\S+\s*(?:;|"|'|$))`,
  ),
  rule(
    "danger.system-config",
    "writes system configuration",
    String.raw`(?:>>?\s*|\b(?:tee(?:\s+-a)?|cp|mv|install|sed\s+-i|perl\s+-i)\b[^;&|\n]*\s)/etc/`,
  ),
  rule(
    "danger.credentials",
    "touches keys or start-up files",
    String.raw`(?:>>?\s*|\b(?:tee|cp|mv|sed\s+-i)\b[^;&|\n]*\s)(?:~|\$HOME|/home/\w+|/root)/\.(?:ssh|aws|gnupg|kube|bashrc|bash_profile|profile|zshrc|netrc|npmrc)`,
  ),
  rule(
    "danger.service",
    "stops or changes services",
    String.raw`${START}(?:systemctl\s+(?:stop|restart|disable|mask)|service\s+\S+\s+(?:stop|restart)|launchctl\b)`,
  ),
  rule(
    "danger.kill",
    "kills processes by force",
    String.raw`${START}(?:pkill\s+[^;&|\n]*-(?:9|KILL|SIGKILL)|killall\s+[^;&|\n]*-(?:9|r|KILL)|kill\s+[^;&|\n]*\$\()`,
  ),
  rule(
    "danger.remote-code",
    "runs code from the network",
    String.raw`\b(?:curl|wget|fetch)\b[^;\n]*\|\s*(?:sudo\s+)?(?:\S*/)?(?:ba|z|k|da|fi)?sh\b|(?:ba|z)?sh\s+<\(\s*(?:curl|wget)|eval\s+["']?\$\(\s*(?:curl|wget)`,
  ),
  rule(
    "danger.decoded-code",
    "runs decoded text as code",
    String.raw`\b(?:base64\s+(?:-d|--decode|-D)|xxd\s+-r|openssl\s+(?:enc|base64))\b[^;\n]*\|\s*(?:\S*/)?(?:ba|z|k|da)?sh\b`,
  ),
  rule(
    "danger.git",
    "throws away work in git",
    String.raw`${START}git\s+(?:-\S+\s+\S+\s+)*(?:reset\s+--hard|push\s+[^;&|\n]*(?:--force\b|-f\b)|clean\s+-\S*f|branch\s+-D)`,
    "",
  ),
  rule(
    "danger.shell-code",
    "runs code given as text",
    String.raw`${START}(?:ba|z|k|da)?sh\s+(?:-\S+\s+)*-\S*c\b|${START}(?:python[\d.]*|perl|ruby|node|php)\s+(?:-\S+\s+)*-(?:c|e)\b|${START}eval\b`,
  ),
  rule(
    "danger.sudo-stdin",
    "feeds a password to sudo",
    String.raw`${START}sudo\s+(?:-\S+\s+)*-(?:S|A|s)\b`,
    "",
  ),
  rule(
    "danger.metadata",
    "reads cloud credentials",
    String.raw`169\.254\.169\.254|metadata\.google\.internal|100\.100\.100\.200`,
  ),
  rule(
    "danger.packages",
    "removes packages",
    String.raw`${START}(?:apt(?:-get)?|dnf|yum|pacman|brew|snap)\s+(?:-\S+\s+)*(?:remove|purge|autoremove|uninstall|-R\S*)\b`,
  ),
];

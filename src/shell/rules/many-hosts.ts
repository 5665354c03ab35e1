import { subject } from "./row.js";

const CHANGES = "changes or stops something on many machines";

/** Tools that act on many machines at once; commands they are given as text are judged for themselves. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("remote", [
  { program: "ansible", rule: "remote.change", reason: CHANGES,
    not_match: ["ansible all -m ping", "ansible web -m service -a 'name=nginx state=started'"], rows: [
    { when: (call) =>
        call.after(/^(?:-m|--module-name)$/)?.text.match(/(?:^|\.)(?:reboot|win_reboot|script)$/) != null,
      match: ["ansible all -m reboot"] },
    { when: (call) =>
        call.after(/^(?:-m|--module-name)$/)?.text.match(
          /(?:^|\.)(?:cron|at|authorized_key|user|group|sudoers|sysctl|mount|filesystem|parted|lvol|iptables|ufw|firewalld|seboolean|selinux|win_user|win_scheduled_task|known_hosts|deb822_repository|apt_repository|yum_repository|alternatives|kernel_blacklist|pam_limits|blockinfile|lineinfile)$/,
        ) != null,
      match: ["ansible localhost -m ansible.builtin.cron -a 'name=u special_time=reboot job=/x'", "ansible all -m authorized_key -a 'user=x key=y'"] },
    { word: /\bstate=(?:absent|stopped|restarted|removed|killed)\b/,
      match: ["ansible web -m service -a 'name=nginx state=stopped'"] },
    { word: /\b(?:dest|path)=\/(?:etc|usr|boot|root)\b/,
      match: ["ansible all -m copy -a 'src=x dest=/etc/passwd'"] },
  ] },
  { program: "salt|salt-call|salt-ssh",
    word: /^(?:system\.(?:reboot|shutdown|halt|poweroff|init)|file\.(?:remove|write|append|replace|manage_file)|service\.(?:stop|restart|disable|mask)|pkg\.(?:remove|purge)|user\.(?:add|delete)|ps\.(?:p?kill\w*)|mount\.umount|disk\.wipe|disk\.format|\w+\.db_remove|key\.\w*delete\w*)$/,
    rule: "remote.change", reason: CHANGES, match: ["salt '*' service.stop nginx"],
    not_match: ["salt '*' test.ping"] },
]);

import { inlineCode } from "../code/inline.js";
import { actsItself, openerOf } from "../read/wrappers.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { TAKES_DATA } from "./data-programs.js";
import { isShell } from "./flows.js";
import { type Condition, names, subject } from "./row.js";

/**
 * What root is asked to run every day: programs that look, and programs whose other uses have rules of their own. Whatever
 * is not here may do to the machine what nobody has thought of, so a person is asked.
 */
const EVERYDAY = names(
  // They look.
  "ll du df zcat zless zgrep batcat xxd od hexdump strings base64 md5sum sha1sum sha256sum sha512sum shasum cksum b2sum " +
    "gsed fdfind plocate updatedb namei groups users last lastlog lastb uptime uname arch hostname hostnamectl timedatectl " +
    "localectl loginctl printenv getent getfacl lsattr getcap lsof fuser btop atop iotop iftop nethogs nload bmon glances " +
    "vmstat iostat mpstat pidstat sar free slabtop numactl dmesg journalctl lsblk blkid lscpu lsmem lspci lsusb lsmod lshw " +
    "inxi hwinfo dmidecode sensors smartctl hdparm fdisk sfdisk parted gdisk findmnt mount umount swapon mountpoint " +
    "blockdev modinfo sysctl nproc pstree pgrep pidof pmap ldd nvidia-smi rocm-smi losetup rfkill i2cdetect i2cget i2cdump " +
    "gpioinfo gpiodetect py-spy rbspy locale fio ss netstat ip ifconfig arp route iw iwconfig iwlist nmcli resolvectl " +
    "systemd-resolve ethtool ping ping6 arping fping traceroute mtr tracepath nslookup dig host whois nmap arp-scan tcpdump " +
    "tshark ngrep nc ncat conntrack iptables ip6tables iptables-save ip6tables-save nft ufw firewall-cmd brctl bridge wg " +
    "tailscale strace ltrace perf bpftrace trace-cmd bpftool ausearch aureport auditctl aa-status getenforce sestatus " +
    "matchpathcon chronyc ntpq atq mandb lvs vgs pvs lvdisplay vgdisplay pvdisplay zpool zfs mdadm btrfs xfs_info dumpe2fs " +
    "multipath system_profiler sw_vers powermetrics spindump fs_usage dtruss vm_stat sysdiagnose diskutil mdutil " +
    "dscacheutil scutil xcode-select xcodebuild softwareupdate " +
    // They handle files, services, packages and containers.
    "rmdir chgrp truncate dd gtar gunzip xz zstd 7z setfacl chattr setcap sync split patch visudo crontab pkill killall apt " +
    "apt-get apt-cache apt-mark apt-file aptitude dpkg dpkg-query dpkg-reconfigure add-apt-repository apt-key dnf dnf5 yum " +
    "microdnf rpm zypper pacman yay paru apk emerge xbps-install xbps-query snap flatpak brew port pkg nix nix-env opkg " +
    "corepack n pip pip3 pipx uv gem bundle composer cpan cpanm update-alternatives update-rc.d needrestart unattended-upgrade " +
    " locale-gen localedef fc-cache ldconfig update-ca-certificates update-ca-trust update-desktop-database update-mime-database " +
    " gtk-update-icon-cache systemctl service rc-service rcctl rc-update launchctl supervisorctl initctl sv " +
    "nginx apachectl apache2ctl a2ensite a2dissite a2enmod a2dismod a2query httpd haproxy caddy certbot postfix postqueue " +
    "mailq named-checkconf sshd logrotate monit fail2ban-client pm2 phpenmod phpdismod systemd-analyze docker-compose " +
    "podman-compose nerdctl crictl ctr buildah skopeo kubeadm k3s k3d microk8s minikube kind lxc lxd incus virsh vagrant " +
    "machinectl mysqladmin mysqldump mariadb pg_ctlcluster pg_lsclusters rabbitmqctl tofu ansible ansible-playbook " +
    // They are what projects are made with.
    "gpg gpg2 ssh-keygen ssh-keyscan openssl history fc shopt tput pulumi heroku vercel cdk doctl eksctl restic rclone " +
    "conda mongodump mongorestore pg_dump pg_restore alembic flyway pg_isready hermes dir flask dotnet mix cc g++ clang-format " +
    " java ansible-lint xmllint latexmk jupyter hugo pre-commit protoc buf zig elm pyenv shuf unlink lslogins chage " +
    "passwd poetry pipenv " +
    // What they run is judged for itself.
    "runuser builtin gtimeout nice ionice chrt taskset stdbuf setsid unbuffer sh bash zsh dash flock let shift jobs return " +
    "exit break continue mapfile ulimit umask",
);
/** Others take data, but root's data are the system's; and from some a person gets to a shell, which is root's then. */
const NOT_FOR_ROOT = names("man screen tmux start sqlite3");
/** Package runners: what they start is a tool of the project. */
const PROJECT_TOOLS = /^(?:npx|npm|pnpm|yarn|bunx|uv|uvx|poetry|pipenv|pipx|bundle|composer|cargo|make|go)$/;
/** Where programs of the system lie; anything else that is named by its path is a file of somebody. */
const SYSTEM_FOLDER = /^(?:\/(?:usr|opt|snap|nix|run\/current-system)\/|\/s?bin\/|\uFFFC)/;

/** Programs under the rights of root, here and not inside a container or on another machine. */
function hasRootRights({ wrappers }: SimpleCommand): boolean {
  const at = wrappers.findLastIndex(({ kind }) => kind === "root");
  const last = wrappers[at];
  return (
    last !== undefined &&
    last.user === undefined &&
    wrappers.every(({ kind }) => kind !== "remote" && kind !== "container") &&
    !wrappers.slice(at).some(({ program }) => PROJECT_TOOLS.test(program))
  );
}

/** `sudo bash setup.sh`: what the file says is no part of the line. */
function isScript({ text }: ShellWord, before: ShellWord | undefined): boolean {
  return (
    !/^[-+]/.test(text) &&
    text !== "" &&
    !/^-[a-z]*[co]$|^--(?:rcfile|init-file)$/.test(before?.text ?? "") &&
    /\/|\.(?:sh|bash|zsh)$/.test(text)
  );
}

/** What a program does nothing but start is judged for itself. */
function carries({ program, args, assignments }: SimpleCommand): boolean {
  const opener = openerOf(program);
  if (opener === undefined || actsItself(program)) return false;
  const openings = opener(args, {
    program,
    stdin: undefined,
    fed: false,
    assignments,
    fileText: () => undefined,
  });
  return openings.some(({ kind }) => kind === "argv" || kind === "text");
}

const runsUnusual: Condition = ({ command }) => {
  const { program, name, wrappers } = command;
  if (wrappers.length === 0 || program.trim() === "" || program.includes(" ") || !hasRootRights(command))
    return undefined;
  // An alias for `sudo` itself says nothing of what will be run.
  if (name.text.includes("/") && !SYSTEM_FOLDER.test(name.text))
    return /^(?:alias|abbr)$/.test(wrappers[0]?.program ?? "") ? undefined : name;
  if (isShell(program)) return command.args.find((word, index, all) => isScript(word, all[index - 1]));
  if (carries(command)) return undefined;
  return EVERYDAY.has(program) ||
    (TAKES_DATA.has(program) && !NOT_FOR_ROOT.has(program)) ||
    program.endsWith("-bpfcc") ||
    inlineCode(command) !== undefined ||
    ONLY_SHOWS.test(command.args[0]?.text ?? "")
    ? undefined
    : name;
};
const ONLY_SHOWS = /^(?:--?help|-h|--?version|-V|-v|version|status|show|list)$/;

// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("account", [
  { program: "*", when: runsUnusual, rule: "account.as-root", reason: "runs with the rights of root what root does not run every day",
    match: ["sudo update-crypto-policies --set LEGACY", "sudo sqlite3 a.db 'delete from t'", "doas ./a.out", "su -c './x' root",
      "sudo /tmp/x", "sudo env A=1 fips-mode-setup --disable", "pkexec screen", "run0 ./setup"],
    not_match: ["sudo -u postgres createdb x", "sudo apt-get install -y jq", "sudo /usr/sbin/nginx -t", "sudo docker exec web ./migrate",
      "su - app -c './run'", "sudo node server.js", "gosu app ./server", "sudo mokutil --version"] },
]);

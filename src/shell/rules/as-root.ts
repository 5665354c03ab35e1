import { inlineCode } from "../code/inline.js";
import type { ShellWord, SimpleCommand } from "../types.js";
import { isShell } from "./flows.js";
import { type Condition, names, subject } from "./row.js";

/**
 * What root is asked to run every day: programs that look, and programs whose other uses have rules of their own. Whatever
 * is not here may do to the machine what nobody has thought of, so a person is asked.
 */
const EVERYDAY = names(
  // They look.
  "ls ll exa eza lsd tree stat file wc du df cd pwd cat tac nl head tail zcat zless zgrep less more bat batcat xxd od hexdump " +
    "strings base64 md5sum sha1sum sha256sum sha512sum shasum cksum b2sum cut sort uniq diff cmp comm grep egrep fgrep rg ag ack " +
    "jq yq sed gsed awk gawk tr look find fd fdfind locate plocate updatedb readlink realpath basename dirname namei test [ [[ " +
    "true false : sleep echo printf yes which whereis type id whoami groups users who w last lastlog lastb uptime date cal uname arch " +
    "hostname hostnamectl timedatectl localectl loginctl env printenv getent getfacl lsattr getcap lsof fuser ps top htop btop " +
    "atop iotop iftop nethogs nload bmon glances vmstat iostat mpstat pidstat sar free slabtop numactl dmesg journalctl lsblk " +
    "blkid lscpu lsmem lspci lsusb lsmod lshw inxi hwinfo dmidecode sensors smartctl hdparm fdisk sfdisk parted gdisk findmnt " +
    "mount umount swapon mountpoint blockdev modinfo sysctl nproc pstree pgrep pidof pmap ldd nvidia-smi rocm-smi losetup rfkill i2cdetect i2cget i2cdump gpioinfo gpiodetect py-spy rbspy locale fio " +
    "ss netstat ip ifconfig arp route iw iwconfig iwlist nmcli resolvectl systemd-resolve ethtool ping ping6 arping fping " +
    "traceroute mtr tracepath nslookup dig host whois nmap arp-scan tcpdump tshark ngrep nc ncat curl wget http conntrack " +
    "iptables ip6tables iptables-save ip6tables-save nft ufw firewall-cmd brctl bridge wg tailscale strace ltrace perf bpftrace " +
    "trace-cmd bpftool ausearch aureport auditctl aa-status getenforce sestatus matchpathcon chronyc ntpq atq mandb lvs vgs pvs " +
    "lvdisplay vgdisplay pvdisplay zpool zfs mdadm btrfs xfs_info dumpe2fs multipath system_profiler sw_vers powermetrics " +
    "spindump fs_usage dtruss vm_stat sysdiagnose diskutil mdutil dscacheutil scutil xcode-select xcodebuild softwareupdate " +
    // They handle files, services, packages and containers.
    "cp mv ln mkdir rmdir rm touch chmod chown chgrp tee install truncate dd rsync scp tar gtar gzip gunzip zip unzip xz zstd 7z " +
    "setfacl chattr setcap mktemp sync split patch vim vi nvim nano visudo crontab kill pkill killall nohup " +
    "apt apt-get apt-cache apt-mark apt-file aptitude dpkg dpkg-query dpkg-reconfigure add-apt-repository apt-key dnf dnf5 yum " +
    "microdnf rpm zypper pacman yay paru apk emerge xbps-install xbps-query snap flatpak brew port pkg nix nix-env opkg npm npx " +
    "pnpm yarn bun corepack n pip pip3 pipx uv gem bundle cargo go composer cpan cpanm playwright update-alternatives " +
    "update-rc.d needrestart unattended-upgrade locale-gen localedef fc-cache ldconfig update-ca-certificates update-ca-trust " +
    "update-desktop-database update-mime-database gtk-update-icon-cache systemctl service rc-service rcctl rc-update launchctl " +
    "supervisorctl initctl sv nginx apachectl apache2ctl a2ensite a2dissite a2enmod a2dismod a2query httpd haproxy caddy certbot " +
    "postfix postqueue mailq named-checkconf sshd logrotate monit fail2ban-client pm2 phpenmod phpdismod systemd-analyze " +
    "docker docker-compose podman podman-compose nerdctl crictl ctr buildah skopeo kubectl kubeadm k3s k3d microk8s minikube " +
    "kind helm lxc lxd incus virsh vagrant machinectl mysql mysqladmin mysqldump mariadb psql pg_ctlcluster pg_lsclusters " +
    "redis-cli rabbitmqctl git gh make gmake cmake ninja meson pytest terraform tofu ansible ansible-playbook aws gcloud az " +
    // What they run is judged for itself.
    "sudo doas su runuser eval exec command builtin time timeout gtimeout nice ionice chrt taskset stdbuf setsid unbuffer xargs " +
    "watch sh bash zsh dash flock source .",
);
/** Where programs of the system lie; anything else that is named by its path is a file of somebody. */
const SYSTEM_FOLDER = /^(?:\/(?:usr|opt|snap|nix|run\/current-system)\/|\/s?bin\/|\uFFFC)/;

/** Programs under the rights of root, here and not inside a container or on another machine. */
function hasRootRights({ wrappers }: SimpleCommand): boolean {
  const at = wrappers.findLastIndex(({ kind }) => kind === "root");
  const last = wrappers[at];
  return (
    last !== undefined &&
    last.user === undefined &&
    wrappers.slice(at).every(({ kind }) => kind !== "remote" && kind !== "container")
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

const runsUnusual: Condition = ({ command }) => {
  const { program, name, wrappers } = command;
  if (wrappers.length === 0 || program.trim() === "" || program.includes(" ") || !hasRootRights(command))
    return undefined;
  // An alias for `sudo` itself says nothing of what will be run.
  if (name.text.includes("/") && !SYSTEM_FOLDER.test(name.text))
    return /^(?:alias|abbr)$/.test(wrappers[0]?.program ?? "") ? undefined : name;
  if (isShell(program)) return command.args.find((word, index, all) => isScript(word, all[index - 1]));
  return EVERYDAY.has(program) ||
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

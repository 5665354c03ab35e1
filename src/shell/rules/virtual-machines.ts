import { isDisk } from "./places.js";
import { type Condition, subject } from "./row.js";

const STOPS = "stops or deletes a virtual machine";
const DESTROYS = "stops or destroys a virtual machine";
const STATE = "service.machine";

/** A disk among the words, also as a part of one: `file=/dev/sda,format=raw`. */
const takesDisk: Condition = ({ args }) =>
  args.find(
    (word) =>
      !/\b(?:readonly|read-only|ro)(?:=on|=true)?(?:,|$)/.test(word.text) &&
      word.text
        .split(/[,=:]/)
        .some(
          (text) => text.startsWith("/dev/") && !text.startsWith("/dev/nbd") && isDisk({ ...word, text }),
        ),
  );

/** Virtual machines and system containers. */
// biome-ignore format: a table; what belongs to a row stands together
export const RULES = subject("container", [
  { dry: "dry-run", tools: [
    { program: "lxc|incus", unknownVerb: true, not_match: ["lxc list"], rows: [
      { path: "delete|stop", rule: STATE, reason: STOPS, match: ["lxc stop web"] },
      { path: "rm|restart|rebuild", reason: DESTROYS, match: ["lxc rm"] },
      { word: /^source=\/(?:etc|root|home|var|run|dev)?\/?$|^security\.privileged=(?:true|1)$|^raw\.lxc=/, rule: "container.mount",
        reason: "gives the container full rights on the host", match: ["lxc config device add c d disk source=/ path=/h"],
        not_match: ["lxc config device add c d disk source=/srv/data path=/d"] },
    ] },
    { program: "lxc-destroy|lxc-stop", rule: STATE, reason: "stops or deletes a container",
      match: ["lxc-destroy"] },
    { program: "vagrant", unknownVerb: true, not_match: ["vagrant up", "vagrant status"], rows: [
      { path: "destroy|halt", rule: STATE, reason: STOPS, match: ["vagrant halt"] },
      { path: "suspend|reload", reason: DESTROYS, match: ["vagrant suspend"] },
    ] },
    { program: "virsh", taking: "c connect", not_match: ["virsh list --all", "virsh dominfo vm"], rows: [
      { path: "** destroy|shutdown|reboot|undefine|reset|vol-delete|pool-delete|pool-destroy|net-destroy|snapshot-delete",
        rule: STATE, reason: STOPS, match: ["virsh destroy vm1"] },
      { path: "** qemu-agent-command|qemu-monitor-command|set-user-password|send-key|attach-disk|attach-device", rule: "container.exec",
        reason: "reaches into a virtual machine past its walls", match: ["virsh qemu-agent-command vm x"] },
      { path: "vol-wipe|net-undefine|snapshot-revert|managedsave-remove", reason: DESTROYS,
        match: ["virsh vol-wipe"] },
    ] },
    { program: "vboxmanage", unknownVerb: true, not_match: ["VBoxManage list vms"], rows: [
      { path: "controlvm|unregistervm|closemedium|discardstate", rule: STATE, reason: STOPS,
        match: ["VBoxManage controlvm x poweroff"] },
      { word: /^-+rawdisk$/, rule: "disk.machine", reason: "gives a disk of this machine to a virtual one, which may write over it",
        match: ["VBoxManage internalcommands createrawvmdk -filename d.vmdk -rawdisk /dev/sda"], not_match: ["VBoxManage list vms"] },
      { path: "snapshot * delete|restore", reason: DESTROYS, match: ["vboxmanage snapshot web delete"] },
    ] },
    { program: "multipass", unknownVerb: true, not_match: ["multipass list"], rows: [
      { path: "delete|stop|purge", rule: STATE, reason: STOPS, match: ["multipass delete vm --purge"] },
      { path: "restart", reason: DESTROYS, match: ["multipass restart"] },
    ] },
    { program: "qm|pct|xl", unknownVerb: true, rows: [
      { path: "destroy|stop|shutdown|reboot|reset", rule: STATE, reason: STOPS, match: ["qm stop 100"] },
      { path: "rollback|delsnapshot", reason: DESTROYS, match: ["qm rollback"] },
    ] },
    { program: "machinectl", unknownVerb: true, path: "poweroff|terminate|reboot|kill|remove|stop|disable",
      rule: STATE, reason: STOPS, match: ["machinectl poweroff c1"] },
    { program: "colima|limactl|lima|orb", path: "delete|stop|reset", reason: DESTROYS,
      match: ["colima delete"] },
    { program: "qemu-system-x86_64|qemu-system-i386|qemu-system-aarch64|qemu-system-arm|qemu-system-riscv64|qemu-system-ppc64|qemu-system-s390x|qemu-kvm|kvm|qemu-img|qemu-io|qemu-nbd|qemu-storage-daemon|virt-install|virt-resize|virt-customize|guestfish|cloud-hypervisor|firecracker|bhyve|crosvm|kvmtool|lkvm|bochs|vmware-vdiskmanager",
      dry: "", unless: /^(?:-snapshot|--ro|info|check|measure|compare|map)$/, when: takesDisk, rule: "disk.machine",
      reason: "gives a disk of this machine to a virtual one, which may write over it",
      match: ["qemu-system-x86_64 -drive file=/dev/sdb,format=raw", "qemu-img convert -O raw a.qcow2 /dev/sdb", "virt-install --disk path=/dev/nvme0n1"],
      not_match: ["qemu-system-x86_64 -hda disk.qcow2", "qemu-system-x86_64 -drive file=/dev/sdb,readonly=on", "qemu-img info /dev/sdb", "qemu-nbd -c /dev/nbd0 a.qcow2"] },
    { program: "qemu-img", taking: "f O o s b F l", rows: [
      { path: "convert|dd|create", word: /^(?:if=|of=)?\/dev\/(?:null|zero|u?random)$/, reason: "replaces the disk of a virtual machine by nothing", match: ["qemu-img convert -O raw /dev/null vm.qcow2"], not_match: ["qemu-img convert -O qcow2 a.vmdk b.qcow2"] },
      { path: "resize", options: "shrink", reason: "cuts off the disk of a virtual machine", match: ["qemu-img resize --shrink a.qcow2 1G"], not_match: ["qemu-img resize a.qcow2 +10G"] },
      { path: "snapshot", options: "d a", reason: DESTROYS, match: ["qemu-img snapshot -d s1 a.qcow2"], not_match: ["qemu-img snapshot -l a.qcow2"] },
    ] },
    { program: "virt-customize|virt-edit|virt-sysprep|virt-rescue|virt-win-reg", dry: "n dry-run ro r", rule: "container.exec", reason: "changes what is inside a virtual machine", match: ["virt-customize -a a.qcow2 --root-password password:x"], not_match: ["virt-customize --help"] },
    { program: "docker-machine", path: "rm|stop|kill|restart", reason: DESTROYS,
      match: ["docker-machine rm default"] },
  ] },
]);

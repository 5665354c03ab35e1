/** Processors the filter knows, by node's name for them. */
export type FilterArch = "x64" | "arm64";

/** The kernel's name for a processor's calls (AUDIT_ARCH_*). */
export const AUDIT_ARCH: Readonly<Record<FilterArch, number>> = { x64: 0xc000003e, arm64: 0xc00000b7 };

/** Numbers of a system call on [x64, arm64]; one that a processor does not have is left out. */
type Numbers = readonly [x64: number, arm64?: number];

/**
 * Calls no developer's command needs, and through which sandboxes were left before: looking into other
 * processes, mounting, new namespaces, the kernel's own machinery, and rings that do file and socket work
 * where no filter sees it.
 */
export const REFUSED_CALLS: Readonly<Record<string, Numbers>> = {
  ptrace: [101, 117],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  kcmp: [312, 272],
  pidfd_getfd: [438, 438],
  io_uring_setup: [425, 425],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  keyctl: [250, 219],
  add_key: [248, 217],
  request_key: [249, 218],
  bpf: [321, 280],
  perf_event_open: [298, 241],
  userfaultfd: [323, 282],
  fanotify_init: [300, 262],
  mount: [165, 40],
  umount2: [166, 39],
  pivot_root: [155, 41],
  chroot: [161, 51],
  open_tree: [428, 428],
  move_mount: [429, 429],
  fsopen: [430, 430],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fspick: [433, 433],
  mount_setattr: [442, 442],
  open_tree_attr: [467, 467],
  open_by_handle_at: [304, 265],
  setns: [308, 268],
  unshare: [272, 97],
  swapon: [167, 224],
  swapoff: [168, 225],
  reboot: [169, 142],
  init_module: [175, 105],
  finit_module: [313, 273],
  delete_module: [176, 106],
  kexec_load: [246, 104],
  kexec_file_load: [320, 294],
  acct: [163, 89],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  syslog: [103, 116],
  settimeofday: [164, 170],
  clock_settime: [227, 112],
  clock_adjtime: [305, 266],
  adjtimex: [159, 171],
  vhangup: [153, 58],
  iopl: [172],
  ioperm: [173],
  modify_ldt: [154],
  uselib: [134],
  sysfs: [139],
  lookup_dcookie: [212, 18],
  nfsservctl: [180, 42],
  migrate_pages: [256, 238],
  move_pages: [279, 239],
};

/** Calls that give a file its mode: which argument that is, and the one whose O_CREAT says that it counts. */
export const MODE_CALLS: readonly {
  readonly numbers: readonly [x64: number | undefined, arm64: number | undefined];
  readonly mode: number;
  readonly flags?: number;
}[] = [
  { numbers: [90, undefined], mode: 1 }, // chmod
  { numbers: [91, 52], mode: 1 }, // fchmod
  { numbers: [268, 53], mode: 2 }, // fchmodat
  { numbers: [452, 452], mode: 2 }, // fchmodat2
  { numbers: [85, undefined], mode: 1 }, // creat
  { numbers: [2, undefined], mode: 2, flags: 1 }, // open
  { numbers: [257, 56], mode: 3, flags: 2 }, // openat
  { numbers: [133, undefined], mode: 1 }, // mknod
  { numbers: [259, 33], mode: 2 }, // mknodat
];
/** Takes the mode in memory, which a filter cannot read; programs fall back to openat. */
export const OPENAT2 = 437;
export const IO_URING_SETUP = 425;

/** Calls that are judged by an argument. */
export const JUDGED_CALLS = {
  clone: [56, 220],
  clone3: [435, 435],
  ioctl: [16, 29],
  socket: [41, 198],
  personality: [135, 92],
} as const satisfies Readonly<Record<string, Numbers>>;

export function callNumber(numbers: Numbers, arch: FilterArch): number | undefined {
  return arch === "x64" ? numbers[0] : numbers[1];
}

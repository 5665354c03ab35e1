import type { WrapperSpec } from "./wrapper-options.js";

const PLAIN: WrapperSpec = { lenient: true };
const ONE_OPERAND: WrapperSpec = { lenient: true, operands: 1 };
const BEHIND_DASHES: WrapperSpec = { lenient: true, afterDashes: true };

/** Terminals, queues, project tools and sandboxes that run a command given in their own words. */
export const TOOL_WRAPPERS: Readonly<Record<string, WrapperSpec>> = {
  // Other rights, other roots, other places.
  run0: { kind: "root", lenient: true, taking: "u g D user group chdir unit property setenv nice slice" },
  "s6-setuidgid": { kind: "root", operands: 1 },
  "s6-applyuidgid": { kind: "root", lenient: true, taking: "u g G" },
  "systemd-nspawn": {
    kind: "container",
    lenient: true,
    taking:
      "D i M u U p directory image machine user bind bind-ro tmpfs setenv uuid slice property template root-hash",
  },
  lima: { kind: "container", lenient: true },
  orb: { kind: "container", lenient: true, taking: "m u w p machine user workdir" },
  "distrobox-enter": { kind: "container", lenient: true, afterDashes: true },
  crictl: { kind: "container", verb: "exec", lenient: true, operands: 1 },
  buildah: { kind: "container", verb: "run", lenient: true, operands: 1, taking: "v e volume env user" },
  adb: { kind: "remote", verb: "shell|exec-out", lenient: true, joined: true, taking: "s t H P L" },
  plink: { kind: "remote", lenient: true, operands: 1, joined: true, taking: "P l pw i m" },
  fab: { kind: "remote", lenient: true, afterDashes: true },
  knife: { kind: "remote", verb: "ssh", lenient: true, operands: 1, joined: true, taking: "x P i a" },
  // Priorities, limits and clocks.
  choom: { taking: "n p adjust pid", lenient: true },
  schedtool: { flags: "B F R N I D e v", taking: "p n a M", lenient: true },
  trickle: { lenient: true, taking: "d u w t l n p L" },
  trickled: PLAIN,
  rr: { verb: "record", lenient: true },
  heaptrack: PLAIN,
  coz: { verb: "run", lenient: true, afterDashes: true },
  coreutils: PLAIN,
  uutils: PLAIN,
  // Again and again, or later.
  lckdo: ONE_OPERAND,
  sem: { lenient: true, taking: "j id jobs" },
  retry: { lenient: true, taking: "t d m times delay max min until while" },
  "until-fail": PLAIN,
  xe: { lenient: true, taking: "N j I a s" },
  tsp: { lenient: true, taking: "L D W N E" },
  ts: { lenient: true, taking: "L D W N E" },
  nq: { flags: "c q" },
  pueue: { verb: "add", lenient: true, joined: true, taking: "g a w l d group after label delay" },
  onchange: BEHIND_DASHES,
  // Terminals.
  xterm: { lenient: true, joined: true, flags: "e hold", taking: "T title geometry bg fg fn fa fs" },
  urxvt: { lenient: true, joined: true, flags: "e hold", taking: "T title geometry" },
  konsole: { lenient: true, joined: true, flags: "e noclose", taking: "p profile workdir" },
  alacritty: { lenient: true, joined: true, flags: "e hold", taking: "t title o working-directory command" },
  kitty: { lenient: true, taking: "d o title directory config override" },
  "gnome-terminal": { ...BEHIND_DASHES, text: "e command" },
  "xfce4-terminal": { text: "e command", lenient: true, flags: "x execute" },
  dtach: { lenient: true, flags: "n", taking: "c A N e r", operands: 1 },
  abduco: { lenient: true, flags: "n c A", taking: "e", operands: 1 },
  zellij: { verb: "run", lenient: true, afterDashes: true },
  // Tools of projects and languages.
  devbox: { verb: "run", lenient: true, joined: true },
  pixi: { verb: "run", lenient: true, taking: "e environment manifest-path" },
  nodenv: { verb: "exec" },
  fnm: { verb: "exec", lenient: true, taking: "using" },
  lerna: { verb: "exec", lenient: true, joined: true, taking: "scope ignore concurrency since" },
  nx: { verb: "exec", lenient: true, joined: true },
  turbo: { verb: "exec", lenient: true },
  composer: { verb: "exec", lenient: true },
  guix: { verb: "shell|environment", lenient: true, afterDashes: true },
  shx: PLAIN,
  zx: { text: "e eval", lenient: true, afterDashes: true },
  bolt: { verb: "command run", lenient: true, joined: true, kind: "remote" },
};

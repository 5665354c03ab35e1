import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, test } from "vitest";
import { isAtOrBelow } from "../../src/base/path.js";
import { readReport } from "../../src/env/local/command-line.js";
import { bwrapArguments } from "../../src/env/sandbox/bwrap-arguments.js";
import {
  arrange,
  isVisible,
  type Mount,
  mountOver,
  socketMounts,
  socketPaths,
} from "../../src/env/sandbox/mounts.js";
import { holdPlace, isPlaceholder, releasePlace } from "../../src/env/sandbox/placeholders.js";
import { homesOfPeople } from "../../src/env/sandbox/plan.js";
import { findDenial } from "../../src/env/sandbox/report.js";
import { filterArch, seccompFilter } from "../../src/env/sandbox/seccomp.js";
import {
  AUDIT_ARCH,
  callNumber,
  type FilterArch,
  JUDGED_CALLS,
  OPENAT2,
  REFUSED_CALLS,
} from "../../src/env/sandbox/syscalls.js";

const folder = mkdtempSync(join(tmpdir(), "hermes-plan-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("people are who can log in", () => {
  const table = join(folder, "passwd");
  writeFileSync(
    table,
    "root:x:0:0:root:/root:/bin/bash\ndaemon:x:1:1::/usr/sbin:/usr/sbin/nologin\nsync:x:4:65534::/bin:/bin/sync\npostgres:x:105:109::/var/lib/postgresql:/bin/bash\nada:x:1000:1000:,,,:/home/ada:/usr/bin/zsh\n\n",
  );
  expect(homesOfPeople(table)).toEqual(["/root", "/home/ada"]);
  expect(homesOfPeople(join(folder, "none"))).toEqual([]);
});

describe("mounts", () => {
  const segment = fc.constantFrom("a", "b", "c");
  const path = fc.array(segment, { minLength: 1, maxLength: 4 }).map((parts) => `/${parts.join("/")}`);
  const mount: fc.Arbitrary<Mount> = fc.oneof(
    fc.record({ kind: fc.constantFrom("read" as const, "write" as const), path }),
    fc.record({ kind: fc.constant("empty" as const), path, writable: fc.boolean() }),
    fc.record({ kind: fc.constant("blank" as const), path }),
  );

  test("what lies above is made first, and each path once", () => {
    fc.assert(
      fc.property(fc.array(mount, { maxLength: 12 }), (mounts) => {
        const arranged = arrange(mounts);
        for (const [index, upper] of arranged.entries()) {
          for (const lower of arranged.slice(0, index)) {
            expect(isAtOrBelow(lower.path, upper.path)).toBe(false);
          }
        }
      }),
    );
  });

  test("leaving mounts out changes neither what is writable nor what is hidden", () => {
    const meaning = (mounts: readonly Mount[], at: string) => {
      const over = mountOver(mounts, at);
      return over === undefined || over.kind === "read"
        ? "read"
        : over.kind === "blank"
          ? "hidden"
          : over.kind;
    };
    fc.assert(
      fc.property(fc.array(mount, { maxLength: 12 }), path, (mounts, at) => {
        const last = [...new Map(mounts.map((each) => [each.path, each])).values()];
        const full = meaning(last, at);
        const kept = meaning(arrange(mounts), at);
        // Inside a hidden folder it makes no difference how it is hidden.
        const same = full === kept || (full === "hidden" && kept === "empty");
        expect([full, kept, same]).toEqual([full, kept, true]);
      }),
      { numRuns: 2_000 },
    );
  });

  test("a folder below a private one is not visible unless it was put there", () => {
    const mounts = arrange([
      { kind: "empty", path: "/tmp", writable: true },
      { kind: "write", path: "/tmp/project" },
    ]);
    expect(["/tmp", "/tmp/project/x", "/tmp/other", "/etc"].map((at) => isVisible(mounts, at))).toEqual([
      true,
      true,
      false,
      true,
    ]);
  });
});

describe("arguments for bubblewrap", () => {
  const mounts: Mount[] = [
    { kind: "empty", path: "/tmp", writable: true },
    { kind: "empty", path: "/home/u/.ssh", writable: false },
    { kind: "blank", path: "/home/u/.netrc" },
    { kind: "write", path: "/project" },
    { kind: "read", path: "/project/.git/config" },
  ];
  const args = bwrapArguments({
    mounts,
    network: false,
    cwd: "/project",
    filterDescriptor: 4,
    temporaryBytes: 99,
  });
  const joined = args.join(" ");

  test("close everything first and open little", () => {
    for (const part of [
      "--unshare-user",
      "--unshare-pid",
      "--unshare-ipc",
      "--unshare-uts",
      "--unshare-net",
      "--die-with-parent",
      "--cap-drop ALL",
      "--ro-bind / / --dev /dev --proc /proc",
      "--ro-bind-try /proc/sys /proc/sys",
      "--size 99 --tmpfs /tmp",
      "--tmpfs /home/u/.ssh",
      "--ro-bind /dev/null /home/u/.netrc",
      "--bind /project /project",
      "--ro-bind /project/.git/config /project/.git/config",
      "--remount-ro /home/u/.ssh",
      "--seccomp 4 --chdir /project --",
    ]) {
      expect(joined).toContain(part);
    }
    expect(args.indexOf("--ro-bind")).toBeLessThan(args.indexOf("--bind"));
    expect(args.at(-1)).toBe("--");
  });

  test("share the network only when it is allowed", () => {
    expect(bwrapArguments({ mounts, network: true, cwd: "/" })).not.toContain("--unshare-net");
  });
});

/** What the kernel would do with a call, by running the filter as it does. */
function judged(
  filter: Buffer,
  call: { arch: number; number: number; args?: readonly number[] },
): "allow" | number {
  const data = Buffer.alloc(64);
  data.writeUInt32LE(call.number >>> 0, 0);
  data.writeUInt32LE(call.arch, 4);
  for (const [index, value] of (call.args ?? []).entries())
    data.writeBigUInt64LE(BigInt(value), 16 + 8 * index);
  let accumulator = 0;
  for (let at = 0; ; at += 1) {
    const code = filter.readUInt16LE(at * 8);
    const operand = filter.readUInt32LE(at * 8 + 4);
    const jump = (condition: boolean) => {
      at += filter.readUInt8(at * 8 + (condition ? 2 : 3));
    };
    if (code === 0x20) accumulator = data.readUInt32LE(operand);
    else if (code === 0x15) jump(accumulator === operand);
    else if (code === 0x35) jump(accumulator >= operand);
    else if (code === 0x45) jump((accumulator & operand) !== 0);
    else if (code === 0x06) return operand === 0x7fff0000 ? "allow" : operand & 0xffff;
    else throw new Error(`unknown instruction ${code}`);
  }
}

describe.each<FilterArch>(["x64", "arm64"])("the filter of system calls on %s", (arch) => {
  const filter = seccompFilter(arch);
  const ask = (number: number, ...args: number[]) => judged(filter, { arch: AUDIT_ARCH[arch], number, args });
  const refused = new Set(Object.values(REFUSED_CALLS).map((numbers) => callNumber(numbers, arch)));
  const looked = new Set([
    ...Object.values(JUDGED_CALLS).map((numbers) => callNumber(numbers, arch)),
    OPENAT2,
  ]);

  test("refuses what is listed and lets every other call pass", () => {
    for (let number = 0; number < 600; number += 1) {
      if (looked.has(number)) continue;
      expect([number, ask(number)]).toEqual([number, refused.has(number) ? 1 : "allow"]);
    }
  });

  test("lets no file be made that makes others its owner", () => {
    const [chmodat, openat] = arch === "x64" ? [268, 257] : [53, 56];
    expect([ask(chmodat, 0, 0, 0o755), ask(chmodat, 0, 0, 0o4755), ask(chmodat, 0, 0, 0o2755)]).toEqual([
      "allow",
      1,
      1,
    ]);
    expect([ask(openat, 0, 0, 0o100, 0o4755), ask(openat, 0, 0, 0, 0o4755)]).toEqual([1, "allow"]);
    expect(ask(OPENAT2)).toBe(38);
  });

  test("judges clone, ioctl, socket and personality by what they ask for", () => {
    const call = (name: keyof typeof JUDGED_CALLS, ...args: number[]) =>
      ask(callNumber(JUDGED_CALLS[name], arch) ?? -1, ...args);
    expect(call("clone", 0x11)).toBe("allow");
    expect(call("clone", 0x3d0f00)).toBe("allow");
    for (const flag of [0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000]) {
      expect(call("clone", flag | 0x11)).toBe(1);
    }
    expect(call("clone3")).toBe(38);
    expect([call("ioctl", 0, 0x5401), call("ioctl", 0, 0x5412), call("ioctl", 0, 0x541c)]).toEqual([
      "allow",
      1,
      1,
    ]);
    expect(call("ioctl", 0, 0x5423)).toBe(1);
    expect([0, 8, 0xffffffff].map((kind) => call("personality", kind))).toEqual(["allow", "allow", "allow"]);
    expect([0x40000, 0x400000, 0x400008].map((kind) => call("personality", kind))).toEqual([1, 1, 1]);
    // The kernel looks at the lower half only, so the upper one must not help.
    expect(call("ioctl", 0, 0x1_0000_5412)).toBe(1);
    expect([1, 2, 10, 16, 17, 38, 40].map((family) => call("socket", family))).toEqual([
      "allow",
      "allow",
      "allow",
      "allow",
      97,
      97,
      97,
    ]);
  });

  test("refuses the calls of other architectures", () => {
    for (const other of [0x40000003, 0x40000028, AUDIT_ARCH[arch === "x64" ? "arm64" : "x64"]]) {
      expect(judged(filter, { arch: other, number: 1 })).toBe(1);
    }
    if (arch === "x64") expect(ask(0x40000000 + 1)).toBe(1);
  });
});

test("the numbers of the calls are the system's own", () => {
  expect(filterArch("mips")).toBe(undefined);
  const arch = filterArch();
  const header =
    arch === "x64" ? "/usr/include/x86_64-linux-gnu/asm/unistd_64.h" : "/usr/include/asm-generic/unistd.h";
  // Without the headers, the escape tests still show each call refused on this machine.
  if (arch === undefined || !existsSync(header)) return;
  const text = readFileSync(header, "utf8");
  for (const [name, numbers] of Object.entries({ ...REFUSED_CALLS, ...JUDGED_CALLS })) {
    const number = callNumber(numbers, arch);
    const defined = new RegExp(`define __NR(?:3264)?_${name} (\\d+)`).exec(text)?.[1];
    if (number !== undefined && defined !== undefined)
      expect([name, number]).toEqual([name, Number(defined)]);
  }
});

describe("sockets of the machine", () => {
  const table = [
    "Num       RefCount Protocol Flags    Type St Inode Path",
    "0000000000000000: 00000002 00000000 00010000 0001 01 19001 /run/docker.sock",
    "0000000000000000: 00000002 00000000 00010000 0001 01 19002 @abstract",
    "0000000000000000: 00000003 00000000 00000000 0001 03 19003",
    "0000000000000000: 00000002 00000000 00010000 0001 01 19004 /srv/with space.sock",
  ].join("\n");

  test("are those with a path", () => {
    expect(socketPaths(table)).toEqual(["/run/docker.sock", "/srv/with space.sock"]);
  });

  test("are covered only where they exist and can be seen", async () => {
    const list = join(folder, "unix");
    writeFileSync(list, `${table}\n0000: 2 0 0 1 1 7 ${list}\n`);
    expect(await socketMounts(() => false, list)).toEqual([]);
  });
});

describe("stand-ins for missing names", () => {
  test("last as long as somebody uses them", async () => {
    const path = join(folder, ".hermes");
    const first = holdPlace(path);
    const second = holdPlace(path);
    if (first === undefined || second === undefined) throw new Error("no place was made");
    expect(isPlaceholder(path)).toBe(true);
    await releasePlace(first);
    expect(existsSync(path)).toBe(true);
    await releasePlace(second);
    expect(existsSync(path)).toBe(false);
    expect(readdirSync(folder).filter((name) => name.startsWith(".hermes"))).toEqual([]);
  });

  test("of a runtime that died are cleared away", async () => {
    const path = join(folder, ".vscode");
    mkdirSync(join(path, ".hermes-in-use.999999999.1"), { recursive: true });
    const place = holdPlace(path);
    if (place !== undefined) await releasePlace(place);
    expect(existsSync(path)).toBe(false);
  });

  test("never take the place of somebody's own folder", async () => {
    const path = join(folder, ".idea");
    mkdirSync(path);
    writeFileSync(join(path, "mine"), "");
    expect(holdPlace(path)).toBe(undefined);
    expect(readdirSync(path)).toEqual(["mine"]);
    expect(readdirSync(folder).filter((name) => name.startsWith(".hermes-place"))).toEqual([]);
  });
});

describe("a refusal is recognised by its words", () => {
  test.each([
    ["touch: cannot touch '/etc/x': Read-only file system", { denied: "write", deniedPath: "/etc/x" }],
    ["bash: line 1: /opt/a b/c: Read-only file system", { denied: "write" }],
    [
      "Error: EROFS: read-only file system, open '/srv/out.js'",
      { denied: "write", deniedPath: "/srv/out.js" },
    ],
    ["error: could not lock config file .git/config: Read-only file system", { denied: "write" }],
    ["curl: (6) Could not resolve host: example.org", { denied: "network" }],
    ["getaddrinfo EAI_AGAIN registry.npmjs.org", { denied: "network" }],
    ["connect: Network is unreachable", { denied: "network" }],
    ["fatal: unable to access: Could not resolve host: github.com", { denied: "network" }],
    ["unshare: unshare failed: Operation not permitted", { denied: "other" }],
    ["1 test failed: expected 2 to be 3", undefined],
  ])("%s", (output, denial) => {
    const found = findDenial(output, false);
    if (denial === undefined) expect(found).toBe(undefined);
    else expect(found).toMatchObject(denial);
  });

  test("with the network open, nothing about it was refused", () => {
    expect(findDenial("curl: (6) Could not resolve host: example.org", true)).toBe(undefined);
  });
});

test("what the shell reports is read back, whatever the folder is called", () => {
  const secret = "5ec2e7";
  const report = (text: string) => ({ text: text.replaceAll("S", secret), secret });
  expect(readReport(report('S+S/a\nb\n\0declare -x A="b"\n\0sleep/node/S'), true)).toEqual({
    begun: true,
    cwd: "/a\nb",
    exports: 'declare -x A="b"\n',
    ended: ["sleep", "node"],
  });
  expect(readReport(report(""), true)).toEqual({ begun: false, cwd: undefined, ended: [] });
  const cutShort = { begun: true, cwd: undefined, ended: [] };
  expect(readReport(report("S/x\n\0declare"), false)).toEqual(cutShort);
  expect(readReport(report("/evil\n\0declare -x PATH=/evil\n\0"), false)).toEqual(cutShort);
  expect(readReport(report("/evil\n\0S/x\n\0\0S/evil\n\0"), false)).toEqual({
    ...cutShort,
    cwd: "/x",
    exports: "",
  });
});

// @needs bwrap perl git prlimit setpriv
import { readdirSync, readFileSync, statSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type Cage, noCage, openCage } from "./attack/cage.js";

const reason = noCage();
let cage: Cage;
beforeAll(async () => {
  cage = await openCage();
});
afterAll(() => cage.close());

const OUTSIDE = ["/etc/passwd", "/etc/hosts", "/root/.bashrc", "/root/.profile", "/usr/bin/env", import.meta.filename];

function outside(): string {
  return OUTSIDE.map((path) => {
    const stats = statSync(path, { throwIfNoEntry: false });
    return `${path} ${stats?.mtimeMs} ${stats?.ctimeMs} ${stats?.size}`;
  }).join("\n");
}

describe("the cage", () => {
  test.each([
    ["files outside cannot be changed", "for f in /etc/hosts /usr/bin/env /root/.bashrc; do echo x >> $f; done; rm -f /etc/hosts; touch /x /usr/x /tmp/x /var/x; ls /x /usr/x /var/x"],
    ["nothing outside can be signalled or seen", "kill -0 $PPID && ls /proc | grep -c '^[0-9]'; kill -CONT -1"],
    ["the kernel's settings cannot be changed", "echo x > /proc/sys/kernel/core_pattern; echo b > /proc/sysrq-trigger; mount -o remount,rw /; mount -t tmpfs none /mnt"],
    ["there is no network", "exec 3<>/dev/tcp/1.1.1.1/53; cat /proc/net/dev"],
  ])("%s", (name, script) => {
    const before = outside();
    const { output } = cage.probe(script);
    console.log(name, output);
    expect(outside()).toBe(before);
  });
});

import { expect, it } from "vitest";
import { farPlacesIn, isFar } from "../../src/env/local/far-disks.js";

const MOUNTS = `/dev/sda1 / ext4 rw,relatime 0 0
nas:/home /mnt/my\\040files nfs4 rw,vers=4.2 0 0
me@host: /home/me/far fuse.sshfs rw 0 0
tmpfs /tmp tmpfs rw 0 0
overlay /containers fuse.fuse-overlayfs rw 0 0
`;

it("disks of other machines are told from this one's", () => {
  const places = farPlacesIn(MOUNTS);
  expect(places).toEqual(["/mnt/my files", "/home/me/far"]);
  const far = ["/mnt/my files/a.txt", "/home/me/far", "/home/me/far/x", "/home/me/farther", "/tmp/x", "/"];
  expect(far.map((path) => isFar(path, places))).toEqual([true, true, true, false, false, false]);
});

it("where the whole disk is far, and where nobody can tell, everything is", () => {
  expect(isFar("/etc", farPlacesIn("host:/ / nfs rw 0 0"))).toBe(true);
  expect(isFar("/etc", undefined)).toBe(true);
});

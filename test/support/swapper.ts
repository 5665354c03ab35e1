import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { onTestEnd } from "./runtime.js";

/** Seconds a race is run; the longer, the surer. */
export const RACE_SECONDS = Number(process.env.HERMES_RACE_SECONDS ?? 3);

/**
 * Exchanges two names for ever, as fast as the kernel can, or by renaming where a file system cannot
 * exchange. perl is in every base system.
 */
const SWAP_FOR_EVER = `
my ($one, $two) = @ARGV;
my $number = \`uname -m\` =~ /aarch64/ ? 276 : 316;
$| = 1; print "swapping\\n";
while (1) {
  next if syscall($number, -100, $one, -100, $two, 2) == 0;
  next unless $! == 22 or $! == 38;
  rename($one, "$one.swap"); rename($two, $one); rename("$one.swap", $two);
}`;

/** A process of its own that swaps two names until the test ends. */
export async function startSwapper(one: string, two: string): Promise<ChildProcess> {
  const swapper = spawn("perl", ["-e", SWAP_FOR_EVER, one, two], { stdio: ["ignore", "pipe", "inherit"] });
  const over = once(swapper, "close");
  onTestEnd(async () => {
    swapper.kill("SIGKILL");
    await over;
  });
  await once(swapper.stdout ?? swapper, "data");
  return swapper;
}

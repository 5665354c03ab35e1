// Writes the process's peak memory in kilobytes to the file HERMES_BENCH_PEAK names.
const { readFileSync, writeFileSync } = require("node:fs");

process.on("exit", () => {
  writeFileSync(process.env.HERMES_BENCH_PEAK, String(peakKilobytes()));
});

function peakKilobytes() {
  try {
    // Belongs to this program alone, unlike maxRSS, which starts with the memory of whoever forked it.
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync("/proc/self/status", "utf8"))[1]);
  } catch {
    return process.resourceUsage().maxRSS;
  }
}

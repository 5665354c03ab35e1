// A trainer that learns nothing: node toy-trainer.mjs CONFIG.json, as docs/rl.md describes it. Its configuration says
// how many steps it takes, how long each lasts, whether it fails, starts a helper, or refuses to end.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";

const { mode, environment, config, metrics_file, output_folder, num_steps } = JSON.parse(
  readFileSync(process.argv[2], "utf8"),
);
const steps = mode === "test" ? num_steps : config.steps;
console.log(`training ${environment} in mode ${mode} with key ${process.env.WANDB_API_KEY ?? "none"}`);
if (config.stubborn) process.on("SIGTERM", () => console.log("not now"));
if (config.helper) {
  const helper = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "ignore" });
  writeFileSync(join(output_folder, "helper.pid"), String(helper.pid));
}
for (let step = 1; step <= steps; step += 1) {
  await delay(config.step_ms);
  appendFileSync(metrics_file, `${JSON.stringify({ step, reward: step / steps, loss: 1 / step })}\n`);
}
if (config.fails) {
  console.error("out of memory");
  process.exit(7);
}
writeFileSync(join(output_folder, "weights.bin"), Buffer.alloc(16));
process.exit(0);

import type { Rule, RuleSet, ShellWord } from "../types.js";
import { KERNELS } from "./kernel.js";
import { NETWORKS } from "./network.js";
import { isBlockDevice, isRootLike, isSystemConfig, isSystemPath } from "./places.js";
import { placeOf } from "./segments.js";
import { danger, hardline, operandsOf } from "./words.js";
import { writesOf } from "./writes.js";

/** Every way of writing a file that ends in the operating system's own folders. */
const writesSystem: Rule = (command) => {
  for (const write of writesOf(command)) {
    const { word } = write;
    if (isMachineStop(word))
      return hardline("power.trigger", "tells the kernel to stop or restart the machine", word);
    if (isBlockDevice(word)) continue;
    if (isSystemConfig(word))
      return danger("system.config", "writes to the settings of the operating system", word);
    if (isSystemPath(word))
      return danger("system.files", "writes into the folders of the operating system", word);
    if (isRootLike(word)) return danger("system.files", "writes over the root of the file system", word);
  }
  return undefined;
};

function isMachineStop(word: ShellWord): boolean {
  const { anchor, segments } = placeOf(word);
  return anchor === "root" && segments[0] === "proc" && segments.at(-1) === "sysrq-trigger";
}

const makesFolder: Rule = ({ args }) => {
  const system = operandsOf(args, "-m --mode -Z").find(isSystemConfig);
  return system === undefined
    ? undefined
    : danger("system.config", "writes to the settings of the operating system", system);
};

export const RULES: RuleSet = {
  family: "system",
  programs: { mkdir: makesFolder, ...KERNELS, ...NETWORKS },
  any: [writesSystem],
};

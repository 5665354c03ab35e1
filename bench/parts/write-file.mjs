// A file of 1 MB replaced by write_file, through the whole path and with everything written down, beside plain
// write, fsync and rename of the same text into the same folder.
import { takeTurns, withSubjects } from "../coordinate.mjs";
import { inMicroseconds, ratios } from "../statistics.mjs";

export function measureWriteFile({ dist, effort }) {
  return withSubjects(async ({ start }) => {
    const journaled = await start("write-file", { dist });
    const unjournaled = await start("write-file", { dist, journal: false });
    const samples = await takeTurns(
      {
        "write-by-hand": { subject: journaled, operation: "byHand" },
        write_file: { subject: journaled, operation: "writeFileTool" },
        "write_file-unjournaled": { subject: unjournaled, operation: "writeFileTool" },
      },
      effort,
    );
    return {
      microseconds: inMicroseconds(samples),
      ratios: {
        ...ratios(samples, "write_file", ["write-by-hand"]),
        ...ratios(samples, "write_file-unjournaled", ["write-by-hand"]),
      },
    };
  });
}

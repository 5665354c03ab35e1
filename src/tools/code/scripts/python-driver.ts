import { PYTHON_CHANNEL } from "./python-channel.js";
import { PYTHON_FAILURES } from "./python-failures.js";
import { PYTHON_CELLS, PYTHON_SCRIPT } from "./python-run.js";
import { PYTHON_TOOLS } from "./python-tools.js";

export { PYTHON_BOOTSTRAP } from "./python-channel.js";

const COMMON = [PYTHON_CHANNEL, PYTHON_TOOLS, PYTHON_FAILURES].join("\n");

export const PYTHON_SCRIPT_DRIVER = `${COMMON}${PYTHON_SCRIPT}\nrun_script()\n`;
export const PYTHON_CELLS_DRIVER = `${COMMON}${PYTHON_CELLS}\nrun_cells()\n`;

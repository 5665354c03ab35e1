import { NODE_PROTOCOL } from "./node-protocol.js";
import { NODE_CELLS, NODE_SCRIPT } from "./node-run.js";

export { NODE_BOOTSTRAP } from "./node-protocol.js";

export const NODE_SCRIPT_DRIVER = `${NODE_PROTOCOL}${NODE_SCRIPT}`;
export const NODE_CELLS_DRIVER = `${NODE_PROTOCOL}${NODE_CELLS}`;

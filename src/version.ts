/** Kept equal to package.json by a test; a constant because reading a file at every start costs time. */
export const VERSION = "0.1.0";

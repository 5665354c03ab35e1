import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** `HERMES_DEV=http://127.0.0.1:9119` lets `npx vite web` show a running server's data. */
const server = process.env.HERMES_DEV;

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react()],
  build: {
    outDir: "../dist/web",
    emptyOutDir: true,
    target: "es2022",
    // The policy of the page allows files of its own origin and nothing inside others.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    chunkSizeWarningLimit: 1_000,
  },
  ...(server !== undefined && {
    server: { proxy: { "/v1": { target: server, changeOrigin: true } } },
  }),
});

import { defineConfig } from "vite";
import react from "@vitejs/plugin-react";

// In development the API is another process: `patra serve`, or wherever PATRA says it is.
const api = process.env.PATRA ?? "http://127.0.0.1:8080";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../internal/web/dist/app",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy of the server allows fonts and scripts from files only
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": api } },
});

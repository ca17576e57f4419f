import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { defineConfig, type Plugin } from "vite";
import react from "@vitejs/plugin-react";

// In development the API is another process: `patra serve`, or wherever PATRA says it is.
const api = process.env.PATRA ?? "http://127.0.0.1:8080";

const out = "../internal/web/dist/app";

// Files go into the binary packed, and out of it as they are; fonts and pictures are packed already.
const pack: Plugin = {
  name: "pack",
  apply: "build",
  closeBundle() {
    for (const entry of readdirSync(out, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile() || entry.name === "index.html") continue;
      const path = join(entry.parentPath, entry.name);
      const plain = readFileSync(path);
      const packed = gzipSync(plain, { level: 9 });
      if (packed.length > plain.length * 0.9) continue;
      writeFileSync(path + ".gz", packed);
      rmSync(path);
    }
  },
};

export default defineConfig({
  plugins: [react(), pack],
  build: {
    outDir: out,
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy of the server allows fonts and scripts from files only
    sourcemap: false,
    chunkSizeWarningLimit: 900,
  },
  server: { proxy: { "/api": api } },
});

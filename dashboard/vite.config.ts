import { gzipSync } from "node:zlib";
import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig, type Plugin } from "vite";

/** A compressed copy beside each text file: the server sends it to whoever takes it. */
const compressed: Plugin = {
  name: "compressed-copies",
  apply: "build",
  generateBundle: {
    order: "post",
    handler(_, bundle) {
      for (const [fileName, file] of Object.entries(bundle)) {
        if (!/\.(js|css|html)$/.test(fileName)) continue;
        const source = file.type === "chunk" ? file.code : file.source;
        this.emitFile({
          type: "asset",
          fileName: `${fileName}.gz`,
          source: gzipSync(source, { level: 9 }),
        });
      }
    },
  },
};

export default defineConfig({
  base: "./", // the page works behind any prefix
  plugins: [svelte(), compressed],
  build: {
    outDir: "../src/holdfast/api/dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy allows no data: addresses
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
  },
});

import { svelte } from "@sveltejs/vite-plugin-svelte";
import { defineConfig } from "vite";

export default defineConfig({
  base: "./", // the page works behind any prefix
  plugins: [svelte({ compilerOptions: { cssHash: ({ name }) => name } })],
  build: {
    outDir: "../src/holdfast/api/dashboard",
    emptyOutDir: true,
    assetsInlineLimit: 0, // the policy allows no data: addresses
    cssCodeSplit: false,
    modulePreload: { polyfill: false },
    reportCompressedSize: false,
    target: "es2022",
    rolldownOptions: {
      output: {
        codeSplitting: { groups: [{ name: "shared", test: /svelte|lib|parts/, minShareCount: 2 }] },
      },
    },
  },
});

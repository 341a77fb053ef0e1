import { createHash } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { defineConfig, type Plugin } from "vite";
import solid from "vite-plugin-solid";

// Where the page goes: the one that the C++ side puts its data into, unless told otherwise.
const target = process.env.PCTALLY_PAGE ?? resolve(__dirname, "../src/report/html/page.html");

const hash = (text: string) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

function once(text: string, part: string | RegExp, by: string): string {
  const pieces = text.split(part);
  if (pieces.length !== 2) throw new Error(`${part}: ${pieces.length - 1} times in the page, not once`);
  return pieces.join(by);
}

// Script and style become parts of one page that may load, send and run nothing else: its policy names both by their hash.
function onePage(): Plugin {
  return {
    name: "one-page",
    enforce: "post",
    generateBundle(_options, bundle) {
      let page = "", script = "", style = "";
      for (const [name, file] of Object.entries(bundle)) {
        if (file.type === "chunk") script += file.code.trim();
        else if (name.endsWith(".css")) style += String(file.source).trim();
        else if (name.endsWith(".html")) page = String(file.source);
        delete bundle[name];
      }
      if (/<\/script|<!--/i.test(script) || /<\/style/i.test(style)) throw new Error("the page would end within a script or a style");
      const policy =
        `default-src 'none'; script-src ${hash(script)}; style-src ${hash(style)}; base-uri 'none'; form-action 'none'`;
      page = page.replace(/\s*<link rel="stylesheet"[^>]*>/, "").replace(/\s*<script type="module"[^>]*><\/script>/, "");
      page = once(page, '<meta charset="utf-8">',
                  `<meta charset="utf-8">\n<meta http-equiv="Content-Security-Policy" content="${policy}">`);
      page = once(page, "</head>", `<style>${style}</style>\n</head>`);
      page = once(page, "</body>", `<script type="module">${script}</script>\n</body>`);
      mkdirSync(dirname(target), { recursive: true });
      writeFileSync(target, page);
    },
  };
}

export default defineConfig({
  plugins: [solid(), onePage()],
  build: {
    target: "es2021",
    outDir: "build",
    modulePreload: false,
    assetsInlineLimit: 0,
    rollupOptions: { output: { format: "es", inlineDynamicImports: true } },
  },
});

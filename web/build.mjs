// SPDX-License-Identifier: Apache-2.0

// Writes the bundle into dist, or, with --test, the tests into .test.
import { build } from "esbuild";
import { createHash } from "node:crypto";
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const common = { bundle: true, format: "esm", jsx: "automatic", jsxImportSource: "preact", logLevel: "warning" };

if (process.argv.includes("--test")) {
  rmSync(".test", { recursive: true, force: true });
  const entryPoints = readdirSync("test").map((name) => join("test", name));
  await build({ ...common, entryPoints, outdir: ".test", outExtension: { ".js": ".mjs" }, platform: "node" });
} else {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist");
  const { metafile } = await build({ ...common, entryPoints: ["src/app.tsx", "src/app.css"], outdir: "dist", minify: true, target: "es2022", legalComments: "none", metafile: true });
  for (const name of ["index.html", "icon.svg"]) {
    copyFileSync(join("src", name), join("dist", name));
  }
  writeFileSync("dist/LICENSES", licenses(Object.keys(metafile.inputs)));
  writeFileSync("dist/sources.txt", sources());
}

// licenses are those of the libraries in the bundle, which their copies must carry.
function licenses(inputs) {
  const folders = inputs.map((path) => /^node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path)?.[0]).filter(Boolean);
  return [...new Set(folders)]
    .sort()
    .map((folder) => {
      const { name, version } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      return `${name} ${version}\n\n${readFileSync(join(folder, "LICENSE"), "utf8").trim()}\n`;
    })
    .join("\n---\n\n");
}

// sources is the hash of everything that the bundle is made of. A test compares it, so that the bundle is as new as its sources.
function sources() {
  const hash = createHash("sha256");
  const files = readdirSync("src", { recursive: true, withFileTypes: true })
    .filter((f) => f.isFile())
    .map((f) => join(f.parentPath ?? f.path, f.name).replaceAll("\\", "/"));
  for (const file of [...files, "build.mjs", "package.json", "package-lock.json"].sort()) {
    hash.update(`${file}\n`).update(readFileSync(file));
  }
  return `${hash.digest("hex")}\n`;
}

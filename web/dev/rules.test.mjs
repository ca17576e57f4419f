// Rules that the compiler does not know, each with its reason. Run by `npm test`.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";

const here = new URL("..", import.meta.url).pathname;
function files(dir) {
  return readdirSync(join(here, dir), { withFileTypes: true }).flatMap((e) => (e.isDirectory() ? files(join(dir, e.name)) : [join(dir, e.name)]));
}

const rules = [
  [/dangerouslySetInnerHTML|\.innerHTML|\.outerHTML|insertAdjacentHTML|document\.write/, "data enters the page as text only"],
  [/\beval\(|new Function\(/, "the server's policy allows no code made of text"],
  [/<style[\s>]|createElement\("style"\)/, "the server's policy allows no style elements"],
  [/import\s*\{[^}]*\b(AppShell|Grid|SimpleGrid|Flex|ColorSchemeScript|MantineCssVariables)\b[^}]*\}\s*from "@mantine\/core"/, "these make style elements, which the server's policy forbids: use the classes of styles.css"],
  [/<ScrollRestoration/, "it makes a script within the page, which the server's policy forbids"],
  [/\b(p|m|px|py|mx|my|mt|mb|ml|mr|w|h|fz|display|gap|visibleFrom|hiddenFrom|lightHidden|darkHidden)=\{\{/, "responsive props make style elements, which the server's policy forbids"],
  [/https?:\/\/(?!127\.0\.0\.1|www\.w3\.org\/2000\/svg)[a-z0-9.]+/i, "nothing is loaded from elsewhere"],
  [/target="_blank"(?![^>]*noopener)/, "a page that is opened must not reach back"],
  [/(?<!<LinkOut )href=\{(?!href)/, "addresses that come with data go through LinkOut", ["src/components/LinkOut.tsx"]],
];

test("sources keep the rules", () => {
  const broken = [];
  for (const name of [...files("src"), "index.html"].filter((n) => /\.(tsx?|html|css)$/.test(n) && !n.endsWith("schema.d.ts"))) {
    const text = readFileSync(join(here, name), "utf8");
    for (const [pattern, why, except] of rules) if (pattern.test(text) && !except?.includes(name)) broken.push(`${name}: ${pattern.exec(text)[0]}: ${why}`);
  }
  assert.deepEqual(broken, []);
});

test("versions are exact, and no registry is named", () => {
  const pkg = JSON.parse(readFileSync(join(here, "package.json"), "utf8"));
  for (const [name, v] of Object.entries({ ...pkg.dependencies, ...pkg.devDependencies })) assert.match(v, /^\d+\.\d+\.\d+$/, name);
  assert.doesNotMatch(readFileSync(join(here, "package-lock.json"), "utf8"), /"resolved"|registry\./);
});

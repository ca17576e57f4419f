// For development: screenshots of pages, wide and narrow, light and dark, with what the browser complained about, what axe
// finds and whether the page scrolls sideways.   node dev/look.mjs http://127.0.0.1:8400 /tmp/shots / /plans/1 ...
import { mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium } from "playwright-core";

const [base, out, ...paths] = process.argv.slice(2);
mkdirSync(out, { recursive: true });
const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ["--no-sandbox"] });
for (const [width, scheme] of process.env.QUICK ? [[1280, "light"], [390, "dark"]] : [[1280, "light"], [1280, "dark"], [390, "light"], [390, "dark"]]) {
  const ctx = await browser.newContext({ viewport: { width, height: 800 }, colorScheme: scheme });
  const page = await ctx.newPage();
  const said = [];
  page.on("console", (m) => { if (["error", "warning"].includes(m.type())) said.push(m.text()); });
  page.on("pageerror", (e) => said.push(String(e)));
  for (const path of paths) {
    said.length = 0;
    await page.goto(base + path, { waitUntil: "load" });
    await page.waitForTimeout(1500);
    const name = `${out}/${path.replace(/\W+/g, "_")}-${width}-${scheme}.png`;
    await page.screenshot({ path: name, fullPage: true });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    const cdp = await ctx.newCDPSession(page); // an evaluation by the debugger is not subject to the page's policy
    await cdp.send("Runtime.evaluate", { expression: axe });
    const found = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ["violations"] })).violations.map((v) => `${v.impact} ${v.id}: ${v.nodes.slice(0, 3).map((n) => n.html.slice(0, 140)).join(" | ")}`));
    console.log(path, width, scheme, wide > 0 ? `SIDEWAYS ${wide}` : "", said.length ? "SAID " + [...new Set(said)].slice(0, 4).join(" || ") : "", found.length ? "\n  AXE " + found.join("\n  AXE ") : "");
  }
  await ctx.close();
}
await browser.close();

// A world for the tests of the dashboard: a simulated provider, a store that was harvested from it, and a server, all of them
// real processes of the built program, and a real browser.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { chromium } from 'playwright-core';

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), '../..');
const program = process.env.PATRA_TEST_BINARY ?? path.join(root, 'bin/patra');
const browserPath = process.env.PATRA_TEST_CHROMIUM ?? '/usr/bin/chromium';

// What is set for us is not for the program: it takes variables of its own seriously.
const env = { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('PATRA_'))), NO_COLOR: '1' };

/** A folder with a configuration, and everything that was started in it. */
export class World {
  constructor() {
    this.dir = mkdtempSync(path.join(tmpdir(), 'patra-e2e-'));
    this.running = [];
    this.config('');
  }

  /** Writes patra.yaml; more is added to what every world has. */
  config(more) {
    mkdirSync(path.join(this.dir, 'sources'), { recursive: true });
    writeFileSync(path.join(this.dir, 'patra.yaml'), `contact: test@example.org\nsources: {dir: ./sources}\nexecutor: {lease: 5s, heartbeat: 1s}\n${more}\n`);
  }

  /** Puts a shipped source file into the world without its politeness, so that nobody waits; change may change more of it. */
  source(code, change = (text) => text) {
    const text = readFileSync(path.join(root, 'sources', code + '.yaml'), 'utf8')
      .replace(/^ {2}rate:.*$/m, '  rate: {perSecond: 5000, burst: 100}\n  retry: {maxAttempts: 3, backoff: {initial: 5ms, max: 20ms}}')
      .replace(/^ {2}retry: (?!\{maxAttempts: 3, backoff: \{initial: 5ms).*$/m, '')
      .replace('pageSize: 200', 'pageSize: 50');
    this.file(code, change(text));
  }

  file(code, text) {
    writeFileSync(path.join(this.dir, 'sources', code + '.yaml'), text);
  }

  /** Starts the program and waits for a line that says that it is ready; gives what the line says. */
  start(args, ready) {
    const child = spawn(program, args, { cwd: this.dir, env });
    this.running.push(child);
    return new Promise((resolve, reject) => {
      let said = '';
      const hear = (chunk) => {
        said += chunk;
        const found = said.match(ready);
        if (found) resolve({ child, found });
      };
      child.stdout.on('data', hear);
      child.stderr.on('data', hear);
      child.on('exit', (code) => reject(new Error(`patra ${args.join(' ')} ended with ${code}: ${said}`)));
    });
  }

  /** Runs the program to its end and gives what it said. */
  run(...args) {
    const child = spawn(program, args, { cwd: this.dir, env });
    let out = '';
    child.stdout.on('data', (chunk) => (out += chunk));
    child.stderr.on('data', (chunk) => (out += chunk));
    return new Promise((resolve) => child.on('exit', (code) => resolve({ code, out })));
  }

  /** A simulated provider; gives its address. */
  async sim(...args) {
    const { found } = await this.start(['sim', '--listen', '127.0.0.1:0', '--from', '2026-05-01', '--to', '2026-06-01', '--exact', ...args], /(http:\/\/127\.0\.0\.1:\d+)/);
    return found[1];
  }

  /** A server with its dashboard; gives its address. */
  async serve(...args) {
    const { child, found } = await this.start(['serve', ...args], /dashboard is at (https?:\/\/\S+?)\//);
    this.server = child;
    this.url = found[1];
    return this.url;
  }

  /** Ends a process, as a person would. */
  async stop(child) {
    if (child.exitCode !== null) return;
    child.removeAllListeners('exit');
    const over = new Promise((resolve) => child.on('exit', resolve));
    child.kill('SIGTERM');
    await over;
  }

  async close() {
    for (const child of this.running.reverse()) await this.stop(child);
    rmSync(this.dir, { recursive: true, force: true });
  }
}

let shared;

/** The browser of this process. */
export async function browser() {
  if (!existsSync(browserPath)) throw new Error(`there is no Chromium at ${browserPath}: scripts/with-chromium installs one, or name one in PATRA_TEST_CHROMIUM`);
  shared ??= await chromium.launch({ executablePath: browserPath, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
  return shared;
}

export async function closeBrowser() {
  await shared?.close();
  shared = undefined;
}

/** A tab that complains about everything that a person would see in the console. */
export async function tab({ width = 1280, height = 900, scheme = 'light' } = {}) {
  const context = await (await browser()).newContext({ viewport: { width, height }, colorScheme: scheme, reducedMotion: 'reduce' });
  const page = await context.newPage();
  page.complaints = [];
  page.on('pageerror', (err) => page.complaints.push(String(err)));
  page.on('console', (m) => {
    if (m.type() === 'error' && !/Failed to load resource|ERR_CONNECTION|ERR_INCOMPLETE/.test(m.text())) page.complaints.push(m.text());
  });
  page.setDefaultTimeout(20_000);
  return page;
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.env.PATRA_TEST_SHOTS && path.resolve('..', process.env.PATRA_TEST_SHOTS);

/** What is wrong with how a page looks: it scrolls sideways, or axe finds something serious. A picture is kept where somebody wants one. */
export async function look(page, name) {
  const { width, dark } = await page.evaluate(() => ({ width: innerWidth, dark: matchMedia('(prefers-color-scheme: dark)').matches }));
  if (shots) {
    mkdirSync(shots, { recursive: true });
    await page.screenshot({ path: `${shots}/${name.replace(/\W+/g, '_')}-${width}-${dark ? 'dark' : 'light'}.png`, fullPage: true });
  }
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const cdp = await page.context().newCDPSession(page); // an evaluation by the debugger is not subject to the page's policy
  await cdp.send('Runtime.evaluate', { expression: axe });
  await cdp.detach();
  const bad = await page.evaluate(async () => (await window.axe.run(document, { resultTypes: ['violations'] })).violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`));
  return [...(wide > 0 ? [`${name} scrolls sideways by ${wide} px`] : []), ...bad.map((b) => `${name}: ${b}`)];
}

/** A small source file; its provider is whatever the program is told to ask. */
export const tiny = (code, name) => `apiVersion: patra/v1
code: ${code}
name: ${JSON.stringify(name)}
recordType: item
defaults:
  http: {baseUrl: "https://${code}.example"}
  rate: {perSecond: 1000, burst: 100}
endpoints:
  items:
    role: SEARCH
    request: {method: GET, path: /items}
    pagination: {type: OFFSET, pageSize: 50, maxPageSize: 50, sizeParam: size, positionParam: offset, end: [EMPTY_PAGE]}
    response: {format: JSON, items: "$.items", id: "$.id", total: {trust: NONE}}
    window: {field: day, mode: CALENDAR, align: DAY, size: P1D, precision: DAY, upper: INCLUSIVE_DAY, earliest: 2002-01-01}
query:
  fields: {day: {type: DATE, ops: [RANGE]}}
  render: [{field: day, op: RANGE, params: {from: "{{from}}", to: "{{to}}"}}]
  params: {from: {name: from}, to: {name: to}}
mapping: {title: "$.title", link: "$.link", author: "$.author.name"}
`;

/** Every shipped page of the dashboard that has no id in its address. */
export const places = ['/', '/coverage', '/plans', '/slices', '/tasks', '/runs', '/batches', '/queue', '/cursors', '/schedules', '/gates', '/errors', '/quarantine', '/records', '/events', '/sources', '/alerts', '/replay', '/audit', '/tokens'];

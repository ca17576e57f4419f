// Who may do what, what hostile records can do, whether a keyboard is enough, and whether every page is fit to be seen.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { closeBrowser, look, places, tab, tiny, World } from './world.mjs';

const hostile = [
  '<script>window.spoilt = 1</script>', '<img src=x onerror="window.spoilt = 1">', '"><svg onload="window.spoilt=1">', 'javascript:window.spoilt=1', "'; DROP TABLE ing_record; --",
  '{{constructor.constructor("window.spoilt=1")()}}', '\u202Eevitrever\u202C', 'w'.repeat(10_000), '\u0000\u0001 control', '=HYPERLINK("http://evil.example")',
];

/** A provider whose records are not well-meant. */
function provider() {
  const items = hostile.map((title, i) => ({ id: `id ${i} <b>`, updated: '2026-05-01T10:00:00Z', title, link: 'javascript:window.spoilt=1', author: { name: title } }));
  const server = createServer((req, res) => {
    const offset = Number(new URL(req.url, 'http://x').searchParams.get('offset') ?? 0);
    res.setHeader('Content-Type', 'application/json');
    res.end(JSON.stringify({ items: items.slice(offset, offset + 50), total: items.length }));
  });
  return new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve({ server, url: `http://127.0.0.1:${server.address().port}` })));
}

describe('people and their rights', () => {
  const world = new World();
  let secrets;
  before(async () => {
    world.source('crossref');
    const sim = await world.sim('--rate', '0', '--per-day', '20');
    await world.run('harvest', 'crossref', '--base-url', sim, '--from', '2026-05-01', '--to', '2026-05-02');
    world.config('api: {listen: "127.0.0.1:0", tokens: on}');
    secrets = {};
    for (const role of ['viewer', 'operator', 'admin']) {
      const made = await world.run('token', 'create', role, '--role', role, '-o', 'json');
      assert.equal(made.code, 0, made.out);
      secrets[role] = JSON.parse(made.out).secret;
    }
    await world.serve('--role', 'api');
  });
  after(async () => {
    await world.close();
    await closeBrowser();
  });

  async function signIn(role) {
    const page = await tab();
    await page.goto(world.url + '/sources/crossref');
    await page.getByLabel('Token', { exact: true }).fill(secrets[role]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('navigation').first().waitFor();
    return page;
  }

  test('a wrong token lets nobody in', async () => {
    const page = await tab();
    await page.goto(world.url + '/');
    await page.getByLabel('Token', { exact: true }).fill('patra_NOBODYNOBODYNOBODYNOBODYNO');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText(/not in force/).waitFor();
    await page.context().close();
  });

  test('a viewer looks and does not steer', async () => {
    const page = await signIn('viewer');
    await page.goto(world.url + '/sources/crossref');
    await page.getByRole('button', { name: 'Pause' }).first().waitFor();
    assert.equal(await page.getByRole('button', { name: 'Pause' }).first().isDisabled(), true);
    const said = await page.evaluate(async () => (await fetch('/api/v1/controls/pause', { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Patra': '1' }, body: '{"target":"crossref"}' })).status);
    assert.equal(said, 403);
    assert.equal(await page.evaluate(() => document.cookie), '', 'a script can read the session');
    assert.equal(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }).includes('patra_')), false, 'the token is kept where scripts read');
    await page.context().close();
  });

  test('an operator steers and gives no tokens', async () => {
    const page = await signIn('operator');
    await page.goto(world.url + '/sources/crossref');
    await page.getByRole('button', { name: 'Pause' }).first().click();
    await page.getByRole('dialog').getByLabel('Reason').fill('by the operator');
    await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
    await page.getByText(/is paused/).first().waitFor();
    await page.goto(world.url + '/tokens');
    await page.getByText(/admin/).first().waitFor();
    assert.equal(await page.evaluate(async () => (await fetch('/api/v1/tokens')).status), 403);
    await page.context().close();
  });
});

describe('hostile records, keyboards, and every page', () => {
  const world = new World();
  let page, mean;
  before(async () => {
    mean = await provider();
    world.file('hostile', tiny('hostile', '<i>Hostile</i> provider'));
    world.source('crossref');
    const sim = await world.sim('--rate', '0', '--per-day', '40');
    world.config('api: {listen: "127.0.0.1:0"}');
    let done = await world.run('harvest', 'hostile', '--base-url', mean.url, '--from', '2026-05-01', '--to', '2026-05-02');
    assert.ok([0, 4].includes(done.code), done.out);
    done = await world.run('harvest', 'crossref', '--base-url', sim, '--from', '2026-05-01', '--to', '2026-05-03');
    assert.equal(done.code, 0, done.out);
    await world.serve('--role', 'api', '--base-url', sim);
    page = await tab();
  });
  after(async () => {
    mean.server.close();
    await world.close();
    await closeBrowser();
  });

  test('hostile texts stay texts', async () => {
    await page.goto(world.url + '/records?source=hostile');
    await page.getByText('<script>window.spoilt = 1</script>').first().waitFor();
    for (const link of await page.getByRole('main').locator('a[href^="/records/hostile/"]').evaluateAll((all) => all.map((a) => a.getAttribute('href')).slice(0, 10))) {
      await page.goto(world.url + link);
      await page.getByRole('main').getByText('title').first().waitFor();
    }
    assert.equal(await page.evaluate(() => window.spoilt), undefined);
    assert.equal(await page.locator('a[href^="javascript:"]').count(), 0);
    assert.deepEqual(page.complaints, []);
  });

  test('a keyboard is enough', async () => {
    await page.goto(world.url + '/');
    await page.getByText('crossref').first().waitFor();
    await page.keyboard.press('Tab');
    assert.match(await page.evaluate(() => document.activeElement.textContent), /Skip to the content/);
    await page.keyboard.press('Enter');
    assert.equal(await page.evaluate(() => document.activeElement.id), 'main');
    const focus = async (text) => {
      for (let i = 0; i < 80; i++) {
        await page.keyboard.press('Tab');
        if ((await page.evaluate(() => document.activeElement.textContent)).trim() === text) return;
      }
      assert.fail(`${text} cannot be reached`);
    };
    await page.goto(world.url + '/');
    await focus('Tasks');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/tasks');
    await page.getByRole('main').locator('a[href^="/tasks/"]').first().focus();
    await page.keyboard.press('Enter');
    await page.getByText('Timeline').first().waitFor();
    const outline = await page.evaluate(() => { document.querySelector('a').focus(); const s = getComputedStyle(document.activeElement); return s.outlineStyle + s.outlineWidth + s.boxShadow; });
    assert.notEqual(outline, 'none0pxnone');
  });

  const ones = ['/plans/1', '/slices/1', '/tasks/1', '/runs/1', '/batches/1', '/cursors/1', '/sources/crossref', '/gates/crossref', '/nothing/here'];
  const all = [[1280, 'light'], [390, 'dark'], [1280, 'dark'], [390, 'light']];
  for (const [width, scheme] of process.env.PATRA_TEST_SHOTS ? all : all.slice(0, 2)) {
    test(`every page at ${width} px, ${scheme}: nothing scrolls sideways, and axe finds nothing serious`, async () => {
      const found = [], left = [...places, ...ones];
      await Promise.all([1, 2].map(async () => { // two tabs share the work, as axe keeps a core busy
        const at = await tab({ width, scheme });
        for (let place = left.shift(); place; place = left.shift()) {
          await at.goto(world.url + place);
          await at.getByRole('main').waitFor();
          await at.locator('main h1').first().waitFor();
          await at.waitForFunction(() => !document.querySelector('[aria-label="Loading"]'));
          found.push(...await look(at, place));
        }
        found.push(...at.complaints);
        await at.context().close();
      }));
      assert.deepEqual(found, []);
    });
  }

  test('the policy of the pages has no holes', async () => {
    const res = await fetch(world.url + '/');
    const policy = res.headers.get('content-security-policy');
    assert.match(policy, /default-src 'none'/);
    assert.doesNotMatch(policy, /unsafe|\*/);
  });
});

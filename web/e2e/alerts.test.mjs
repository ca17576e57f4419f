// An alert from its beginning to its end: a provider locks us out, somebody is told, sees it, says so by keyboard, mends it, and
// finds it in the history; nothing is loaded again for any of that, and what the provider writes stays a text.
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { closeBrowser, look, tab, tiny, World } from './world.mjs';

const bad = '<img src=x onerror="window.spoilt = 1">';

describe('an alert', () => {
  const world = new World();
  const secrets = {}, told = [];
  let provider, url, locked = true, ada, eve;

  before(async () => {
    provider = createServer((req, res) => {
      if (req.method === 'POST') {
        let body = '';
        req.on('data', (chunk) => (body += chunk)).on('end', () => { told.push(...JSON.parse(body).alerts); res.end('{}'); });
        return;
      }
      res.statusCode = locked ? 401 : 200;
      res.setHeader('Content-Type', 'application/json');
      res.end(JSON.stringify(locked ? { message: bad } : { items: new URL(req.url, 'http://x').searchParams.get('offset') > 0 ? [] : [{ id: '1', title: bad }] }));
    });
    url = await new Promise((resolve) => provider.listen(0, '127.0.0.1', () => resolve(`http://127.0.0.1:${provider.address().port}`)));
    world.file('locked', tiny('locked', bad));
    world.config(`api: {listen: "127.0.0.1:0", tokens: on}\nalerts: {every: 5s, notify: [{name: pager, url: "${url}/hook", local: true}]}`);
    await world.run('init');
    for (const [name, role] of [['ada', 'operator'], ['eve', 'viewer']]) {
      const made = await world.run('token', 'create', name, '--role', role, '-o', 'json');
      assert.equal(made.code, 0, made.out);
      secrets[name] = JSON.parse(made.out).secret;
    }
    await world.serve('--base-url', url);
    ada = await signIn('ada');
    eve = await signIn('eve', { width: 390, scheme: 'dark' });
  });
  after(async () => {
    provider.close();
    await world.close();
    await closeBrowser();
  });

  async function signIn(name, size) {
    const page = await tab(size);
    await page.goto(world.url + '/alerts');
    await page.getByLabel('Token', { exact: true }).fill(secrets[name]);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByText('No alert: nothing stands still').waitFor();
    await page.getByText('No alert has ended yet').waitFor();
    return page;
  }
  const card = (page) => page.getByRole('region', { name: 'halted locked/items' });
  const waiting = (page, n) => page.locator('.nav-count', { hasText: `${n} waiting` }); // on a phone it is behind a button

  test('is there as soon as it fires, and says who was told', async () => {
    const planned = await world.run('plan', 'harvest', 'locked', '--base-url', url, '--from', '2026-05-01', '--to', '2026-05-02');
    assert.equal(planned.code, 0, planned.out);
    for (const page of [ada, eve]) {
      await card(page).getByText('locked/items is halted').waitFor();
      await card(page).getByText('Told: pager').waitFor({ timeout: 45_000 });
    }
    await waiting(ada, 1).waitFor(); // its task has failed, too, and that is the same thing
    assert.deepEqual(told.map((a) => `${a.kind} ${a.what}`), ['HALTED FIRED']);
  });

  test('is only looked at by a viewer', async () => {
    assert.equal(await card(eve).getByRole('button', { name: 'Acknowledge' }).isDisabled(), true);
    assert.equal(await card(eve).getByRole('button', { name: 'Resume', exact: true }).isDisabled(), true);
    const said = await eve.evaluate(async () => {
      const [a] = (await (await fetch('/api/v1/alerts')).json()).items;
      return (await fetch(`/api/v1/alerts/${a.id}/ack`, { method: 'POST', headers: { 'Content-Type': 'application/json', 'X-Patra': '1' }, body: '{"reason":"me too"}' })).status;
    });
    assert.equal(said, 403);
  });

  test('is acknowledged by keyboard, with a reason', async () => {
    await card(ada).getByRole('link', { name: 'locked/items' }).focus();
    const name = () => ada.evaluate(() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent);
    const reach = async (text) => {
      for (let i = 0; i < 12; i++) {
        await ada.keyboard.press('Tab');
        if ((await name()).trim() === text) return;
      }
      assert.fail(`${text} cannot be reached`);
    };
    await reach('Acknowledge');
    await ada.keyboard.press('Enter');
    const dialog = ada.getByRole('dialog', { name: 'Acknowledge' });
    await dialog.getByLabel('Reason').waitFor();
    assert.equal(await ada.evaluate(() => document.activeElement.tagName), 'TEXTAREA', 'the reason has no focus');
    assert.equal(await dialog.getByRole('button', { name: 'Acknowledge' }).isDisabled(), true, 'nobody needs to say why');
    await ada.keyboard.type(`${bad} I ask them`);
    assert.deepEqual(await look(ada, 'alerts_ask'), []);
    await reach('Acknowledge');
    await ada.keyboard.press('Enter');
    await ada.getByRole('dialog').getByText(/is acknowledged: nobody is told of it again until it is over/).waitFor();
    await ada.keyboard.press('Enter'); // the way out has the focus
    await ada.getByRole('dialog').waitFor({ state: 'detached' });
    for (const page of [ada, eve]) {
      await card(page).getByText(`Acknowledged by ada`).waitFor();
      await card(page).getByText(`${bad} I ask them`).waitFor();
      await waiting(page, 1).waitFor({ state: 'detached' });
    }
    assert.match(await name(), /^Acknowledge/, 'the keyboard goes on where it was');
    for (const page of [ada, eve]) assert.deepEqual(await look(page, 'alerts_firing'), []);
  });

  test('is over when its cause is mended, and in the history', async () => {
    locked = false;
    await card(ada).getByRole('button', { name: 'Resume', exact: true }).click();
    await ada.getByRole('dialog').getByRole('button', { name: 'Resume', exact: true }).click();
    await ada.getByRole('dialog').getByRole('status').waitFor();
    await ada.getByRole('dialog').getByRole('button', { name: 'Close' }).last().click();
    for (const page of [ada, eve]) {
      await page.getByText('No alert: nothing stands still').waitFor();
      const row = page.getByRole('region', { name: 'History' }).getByRole('row', { name: /halted.*locked\/items.*ada/ });
      await row.getByText(`${bad} I ask them`).waitFor();
      assert.deepEqual(await look(page, 'alerts_over'), []);
      assert.equal(await page.evaluate(() => window.spoilt), undefined);
      assert.equal(await page.getByRole('main').locator('img').count(), 0);
      assert.deepEqual(page.complaints, []);
    }
    await ada.goto(world.url + '/audit');
    await ada.getByRole('row', { name: /ada.*ack.*alert:\d+.*I ask them/i }).waitFor();
    await ada.goto(world.url + '/events?type=alert.*');
    await ada.getByText('alert.resolved').first().waitFor();
    await ada.getByRole('link', { name: /^alert\/\d+$/ }).first().click();
    await ada.getByRole('heading', { name: 'Alerts' }).waitFor();
  });
});

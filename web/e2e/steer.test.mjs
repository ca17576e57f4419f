// A failed slice is found from the overview in three clicks down to the record that spoilt it; work is paused, resumed and tried
// again; a gap is filled from the map; numbers move while a harvest runs, and a stream that was cut off catches up.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { closeBrowser, tab, World } from './world.mjs';

describe('a store with something wrong', () => {
  const world = new World();
  let page, sim;

  before(async () => {
    sim = await world.sim('--rate', '0', '--per-day', '60');
    world.source('crossref');
    world.config('api: {listen: "127.0.0.1:0"}');
    let done = await world.run('harvest', 'crossref', '--base-url', sim, '--from', '2026-05-01', '--to', '2026-05-04');
    assert.equal(done.code, 0, done.out);
    done = await world.run('harvest', 'crossref', '--base-url', sim, '--from', '2026-05-07', '--to', '2026-05-09');
    assert.equal(done.code, 4, done.out); // a hole is something missing: three days were left out
    world.source('europepmc', (text) => text.replace(/^mapping:$/m, 'mapping:\n  odd: "$.title | number"'));
    const large = await world.sim('--rate', '0', '--per-day', '3000');
    done = await world.run('harvest', 'europepmc', '--base-url', large, '--from', '2026-05-01', '--to', '2026-05-02');
    assert.notEqual(done.code, 0, done.out); // nobody can read a title as a number
    await world.serve('--base-url', sim);
    page = await tab();
  });
  after(async () => {
    await world.close();
    await closeBrowser();
  });

  test('from the overview to the record in three clicks', async () => {
    await page.goto(world.url + '/');
    const row = page.getByRole('row', { name: /europepmc/ });
    await row.getByText(/failed|stopped/).first().waitFor();
    await row.getByRole('link', { name: /^[1-9]/ }).nth(0).waitFor();
    await row.locator('a[href*="status=FAILED"]').click(); // one
    await page.getByRole('main').locator('a[href^="/tasks/"]').first().click(); // two
    await page.getByText('The failing page').waitFor();
    await page.getByRole('link', { name: /^page \d+$/ }).click(); // three
    await page.getByText('mapping.odd').first().waitFor();
    const said = await page.getByText(/the first of them is item \d+, /).first().innerText();
    const id = said.match(/is item \d+, ([^;]+);/)[1];
    await page.getByLabel('Reason').fill('what does it look like?');
    await page.getByRole('button', { name: 'Show request and answer' }).click();
    await page.getByRole('region', { name: 'Answer' }).getByText(id.split('/').at(-1)).first().waitFor();
    assert.deepEqual(page.complaints, []);
  });

  test('a failed task is tried again', async () => {
    await page.goto(world.url + '/tasks?status=FAILED');
    await page.getByRole('main').locator('a[href^="/tasks/"]').first().click();
    await page.getByRole('button', { name: 'Retry' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('the mapping was mended');
    await dialog.getByRole('button', { name: 'Retry' }).click();
    await dialog.getByRole('status').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.goto(world.url + '/audit');
    await page.getByRole('row', { name: /local.*retry.*task:6.*the mapping was mended/i }).waitFor();
  });

  test('a source is paused and resumed', async () => {
    await page.goto(world.url + '/sources/crossref');
    await page.getByRole('button', { name: 'Pause' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Reason').fill('maintenance');
    await dialog.getByRole('button', { name: 'Pause' }).click();
    await dialog.getByText(/is paused/).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.goto(world.url + '/');
    await page.getByRole('row', { name: /crossref/ }).getByText('stopped').waitFor();
    await page.goto(world.url + '/sources/crossref');
    await page.getByRole('button', { name: 'Resume' }).first().click();
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('dialog').getByText(/goes on/).waitFor();
  });

  test('a gap is filled from the map, and the map follows', async () => {
    await page.goto(world.url + '/');
    const gaps = page.getByRole('row', { name: /crossref/ }).locator('a[href^="/coverage"]', { hasText: /^1$/ }); // of the days that were left out
    await gaps.click();
    await page.getByRole('link', { name: 'crossref/works harvest' }).click();
    await page.getByRole('button', { name: '2026-05-04 ~ 2026-05-07' }).first().click();
    const chosen = page.getByRole('region', { name: 'Chosen stretch' });
    await chosen.getByRole('button', { name: 'Fill this gap' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('button', { name: 'Fill this gap' }).click();
    await dialog.getByRole('status').waitFor();
    await dialog.getByRole('button', { name: 'Close' }).last().click();
    await page.getByText('complete through 2026-05-09').first().waitFor({ timeout: 60_000 }); // without a reload
    await page.getByRole('row', { name: /2026-05-05 ~ 2026-05-06.*sealed/ }).waitFor();
    assert.deepEqual(page.complaints, []);
  });
});

describe('a harvest that is watched', () => {
  const world = new World();
  let page;
  after(async () => {
    await world.close();
    await closeBrowser();
  });

  test('numbers move by themselves, and a stream that was cut off catches up', async () => {
    const sim = await world.sim('--rate', '6', '--burst', '6', '--per-day', '120');
    world.source('crossref', (text) => text.replace('perSecond: 5000, burst: 100', 'perSecond: 5, burst: 5'));
    world.config('api: {listen: "127.0.0.1:0"}');
    await world.run('init');
    const url = await world.serve('--role', 'api', '--base-url', sim);
    page = await tab();
    await page.goto(url + '/');
    await page.getByText('Nothing was harvested yet').waitFor();
    await page.getByText('live').first().waitFor();
    const harvest = world.run('harvest', 'crossref', '--base-url', sim, '--from', '2026-05-01', '--to', '2026-05-09');
    const records = page.locator('.figures a', { hasText: 'records' });
    const number = async () => Number((await records.innerText()).replace(/\D/g, ''));
    const grows = async (than) => {
      for (let i = 0; i < 200; i++) {
        if (await records.count() && await number() > than) return number();
        await page.waitForTimeout(100);
      }
      assert.fail(`the number stays at ${than}`);
    };
    let seen = await grows(0);
    seen = await grows(seen);

    // The server goes away and comes back at the same place; the harvest does not care.
    world.config(`api: {listen: "${new URL(url).host}"}`);
    await world.stop(world.server);
    await page.getByText('reconnecting').first().waitFor();
    const done = await harvest;
    assert.equal(done.code, 0, done.out);
    await world.serve('--role', 'api', '--base-url', sim);
    await page.getByText('live').first().waitFor();
    await grows(959); // eight days of 120, without a reload
    assert.equal(await number(), 960);
    assert.deepEqual(page.complaints, []);
  });
});

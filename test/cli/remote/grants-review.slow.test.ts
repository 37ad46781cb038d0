/** `seatgate grants review`: hostile files, files of another tenant, and the store in place of a gateway. */

import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openStore } from '../../../seats-admin/index.ts'
import { writer } from '../../seats-admin/store/conformance.ts'
import { env } from '../../support/world.ts'
import { grantsOf, mark, startReview, YEAR_2099 } from './grants-support.ts'

t.test('from the store', async (t) => {
  const { world, folder, done, run } = await startReview(t)
  await done('grants', 'create', 'anna', '--seat', 'Viewer', '--until', YEAR_2099)
  const ofStore = ['--tenant', 'acme', '--config', world.config.file]
  const here = (...args: string[]) => run(['grants', ...args, ...ofStore], env)
  t.same(JSON.parse((await here('list', '--json')).out), JSON.parse(await done('grants', 'list', '--json')))
  await done('grants', 'review', '--export', 'remote.csv')
  t.equal((await here('review', '--export', 'store.csv')).code, 0)
  const read = (name: string) => readFileSync(join(folder, name), 'utf8')
  t.equal(read('store.csv'), read('remote.csv'))
  t.match(await here('review', '--apply', 'store.csv'), { code: 2 })
  t.match(await here('list', '--url', 'http://127.0.0.1:9'), { code: 2 })
  t.match(await run(['grants', 'list', '--tenant', 'none', '--config', world.config.file]), { code: 1 })
})

t.test('a file that does not fit takes nothing away', async (t) => {
  const review = await startReview(t)
  const { world, folder, run, done } = review
  for (const user of ['anna', 'bob', 'carl']) {
    const args = ['--seat', 'Viewer', '--until', YEAR_2099, '--sub']
    await done('grants', 'create', user, ...args)
  }
  const [ofAnna, ofBob] = await grantsOf(review)
  const key = (await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer', '=Editor'] })).json
  const file = join(folder, 'a.csv')
  await done('grants', 'review', '--export', 'a.csv')
  const exported = readFileSync(file, 'utf8')
  const refused = async (err: RegExp | string, change: (text: string) => string, ...marks: RegExp[]) => {
    writeFileSync(file, exported)
    mark(file, new RegExp(`${ofAnna?.id}`), ...marks)
    writeFileSync(file, change(readFileSync(file, 'utf8')))
    const ran = await run(['grants', 'review', '--apply', 'a.csv', '--yes'])
    t.match(ran, { code: 1, out: '', err }, String(err))
    t.equal((await grantsOf(review)).length, 3, String(err))
    t.notOk((await world.admin('GET', `/v1/api-keys/${key.id}`)).json.revoked_at)
  }
  const same = (text: string) => text
  await refused(/"bob" has Seat "Viewer" by a group: take it away/, same, /^bob,.*group/)
  await refused(/API key, which can only be revoked as a whole/, same, new RegExp(`Viewer.*${key.id}`))
  const without = (text: string) => text.replace(new RegExp(`^.*=Editor.*${key.id}.*\r\n`, 'm'), '')
  await refused(
    /API key \S+ has "Viewer", "=Editor", and the marked rows have "Viewer"/,
    without,
    new RegExp(key.id),
  )
  await refused(`is of "anna", not of "bob"`, (text) =>
    text.replace(`anna,anna@example.com,Viewer,main dev,grant`, 'bob,,Viewer,,grant'),
  )
  await refused(/grant \S+ has "Viewer", and the marked rows have "Other"/, (text) =>
    text.replace(/Viewer(?=.*x\r)/, 'Other'),
  )
  const tenant = { ...writer(), tenant: 'globex' }
  const store = await openStore(world.config.store)
  t.teardown(() => store.close())
  await store.createSeat(tenant, { name: 'Viewer', spaces: ['main'], permissions: ['trainings:list'] })
  const until = Date.parse(YEAR_2099)
  const foreign = await store.createGrant(tenant, {
    user: 'bob',
    seat: 'Viewer',
    from: null,
    until,
    reason: null,
  })
  if (!('value' in foreign)) throw new Error(foreign.detail)
  const swapped = (text: string) => text.replace(ofBob?.id ?? '', foreign.value.id)
  await refused(`there is no grant ${foreign.value.id}`, swapped, new RegExp(`${ofBob?.id}`))
  await refused('it is empty', () => '\ufeff')
  const { data } = (await store.listGrants('globex', {
    ...{ limit: 10, after: null, scope: writer().scope, user: null, seat: null, endingBefore: null },
  })) as { data: unknown[] }
  t.equal(data.length, 1, 'nor of another tenant')
  writeFileSync(file, Buffer.from([0xff, 0xfe, 0x75, 0x00]))
  t.match(await run(['grants', 'review', '--apply', 'a.csv', '--yes']), { code: 1, err: /it is not UTF-8/ })
  t.match(await run(['grants', 'review', '--apply', 'none.csv', '--yes']), { code: 1, err: /cannot be read/ })
  t.match(await run(['grants', 'review']), { code: 2 })
  t.match(await run(['grants', 'review', '--apply', 'a.csv', '--export', 'b.csv']), { code: 2 })
})

t.test('names that are formulas', async (t) => {
  const review = await startReview(t)
  const { folder, done } = review
  const users = ['=cmd|"/c calc"!A1', '@SUM(1)', '-1+1', '+1', 'a,"b"\r\nc', "'=1", "''", '\t=1']
  for (const user of users)
    await review.world.admin('POST', '/v1/grants', { user, seat: 'Viewer', until: YEAR_2099 })
  await done('grants', 'review', '--export', 'a.csv')
  const file = join(folder, 'a.csv')
  const text = readFileSync(file, 'utf8')
  t.notMatch(text, /(?:^|,)"?[=+\-@\t]/m)
  writeFileSync(file, text.replaceAll(/,grant(.*),(?=\r\n)/g, ',grant$1,x'))
  t.match(
    await done('grants', 'review', '--apply', 'a.csv', '--yes'),
    `took away ${users.length} grants and 0 API keys`,
  )
  t.same(await grantsOf(review), [])
})

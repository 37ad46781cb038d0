/** `seatgate grants`: through a gateway, as an administrator and an auditor run it. */

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { afar } from './from-afar.ts'
import { grantsOf, mark, startReview, YEAR_2099 } from './grants-support.ts'

t.test('create, list and delete', async (t) => {
  const review = await startReview(t)
  const { run, done, world } = review
  t.equal(await done('grants', 'list'), 'no grants\n')
  const made = await done(
    'grants',
    'create',
    'anna@example.com',
    '--seat',
    '=Editor',
    '--until',
    '2h',
    '--reason',
    'on call',
  )
  const [grant] = await grantsOf(review)
  t.match(grant, { user: 'anna', seat: '=Editor', reason: 'on call' })
  t.match(made, new RegExp(`^granted "=Editor" to anna until \\d{4}-\\S+Z: ${grant?.id}\n$`))
  const later = await run([
    'grants',
    'create',
    'zoe',
    '--seat',
    'Viewer',
    '--from',
    '1h',
    '--until',
    YEAR_2099,
    '--json',
  ])
  t.match(later, { code: 0, err: /note: no sign-in of "zoe" is known/ })
  t.match(JSON.parse(later.out), { user: 'zoe', until: '2099-01-01T00:00:00.000Z' })
  const listed = await done('grants', 'list')
  t.match(listed, /^id +user +seat +until +from\n/)
  t.match(listed, /^\S{26} +anna +=Editor +\d{4}-\S+Z$/m)
  t.match(listed, /^\S{26} +zoe +Viewer +2099-01-01T00:00:00Z +\d{4}-\S+$/m)
  t.notMatch(await done('grants', 'list', '--user', 'anna'), /zoe/)
  t.notMatch(await done('grants', 'list', '--seat', 'Viewer'), /anna/)
  t.notMatch(await done('grants', 'list', '--ending-before', '1d'), /zoe/)
  const { data } = JSON.parse(await done('grants', 'list', '--json'))
  t.same(data, await grantsOf(review))
  t.match(await run(['grants', 'create', 'anna', '--seat', 'Viewr', '--until', '1h']), {
    code: 1,
    err: /seat is not the name or the id of a Seat \(400 |Viewer/,
  })
  t.match(await run(['grants', 'create', 'ana@example.com', '--seat', 'Viewer', '--until', '1h']), {
    code: 1,
    err: /did you mean "anna@example.com"/,
  })
  for (const args of [
    ['--until', '2020-01-01T00:00:00Z'],
    ['--until', '1h', '--from', '2h'],
    ['--until', 'soon'],
    [],
  ])
    t.equal((await run(['grants', 'create', 'anna', '--seat', 'Viewer', ...args])).code, 2, args.join(' '))
  t.equal(await done('grants', 'delete', grant?.id ?? ''), `ended grant ${grant?.id}\n`)
  t.match(await run(['grants', 'delete', grant?.id ?? '']), { code: 1, err: /404 grant_not_found/ })
  t.equal((await run(['grants', 'delete', 'anna'])).code, 2)
  t.equal((await grantsOf(review)).length, 1)
  const lacking = await world.admin('POST', '/v1/api-keys', { name: 'none', seats: ['Viewer'] })
  const other = afar(t, world, lacking.json.key)
  t.match(await other.run(['grants', 'list', '--space', 'main']), { code: 1, err: /permission_denied/ })
})

t.test('a review', async (t) => {
  const review = await startReview(t)
  const { world, folder, run, done } = review
  const key = (
    await world.admin('POST', '/v1/api-keys', { name: 'ci', seats: ['Viewer', '=Editor'], owner: 'bob' })
  ).json
  await done('grants', 'create', 'anna', '--seat', '=Editor', '--until', YEAR_2099)
  await done('grants', 'create', 'bob', '--seat', '=Editor', '--until', YEAR_2099)
  const [ofAnna, ofBob] = await grantsOf(review)
  t.match(await done('grants', 'review', '--export', 'a.csv'), /^wrote \d rows to a\.csv$/m)
  const file = join(folder, 'a.csv')
  t.equal(statSync(file).mode & 0o777, 0o600)
  const text = readFileSync(file, 'utf8')
  t.match(text, /^user,email,seat,spaces,by,id,from,until,last_used,remove\r\n/)
  t.match(text, 'anna,anna@example.com,Viewer,main dev,group,,,,2026-11-01T00:00:00.000Z,\r\n')
  t.match(text, `anna,anna@example.com,'=Editor,main,grant,${ofAnna?.id},`)
  t.match(text, `bob,bob@example.com,'=Editor,main,key,${key.id},,,,\r\n`)
  t.match(await run(['grants', 'review', '--export', 'a.csv']), { code: 1, err: /a.csv is there already/ })

  t.match(await run(['grants', 'review', '--apply', 'a.csv']), { code: 0, out: 'nothing to take away\n' })
  mark(file, new RegExp(`${ofAnna?.id}|${key.id}`))
  const unasked = await run(['grants', 'review', '--apply', 'a.csv'])
  t.match(unasked, {
    code: 1,
    err: /nothing was written: 1 grant and 1 API key would be taken away, which needs --yes/,
  })
  t.match(unasked.out, /^by +user +seats +until +id\n/)
  t.match(unasked.out, new RegExp(`^key +bob +Viewer, =Editor +${key.id}$`, 'm'))
  const questions: string[] = []
  const ask = (answer: string) => ({
    ask: async (question: string) => {
      questions.push(question)
      return answer
    },
  })
  t.match(await run(['grants', 'review', '--apply', 'a.csv'], {}, ask('no')), { code: 1 })
  t.same(questions, ['Take away 1 grant and 1 API key? (yes/no) '])
  t.equal((await grantsOf(review)).length, 2, 'nothing was taken away')
  t.match(await run(['grants', 'review', '--apply', 'a.csv'], {}, ask('yes')), {
    code: 0,
    out: /took away 1 grant and 1 API key\n$/,
  })
  t.same(await grantsOf(review), [ofBob])
  t.ok((await world.admin('GET', `/v1/api-keys/${key.id}`)).json.revoked_at)
  t.match(
    await run(['grants', 'review', '--apply', 'a.csv', '--yes']),
    { code: 0, out: 'nothing to take away\n2 more marked have ended or been taken away before\n' },
    'once more',
  )
  const again = JSON.parse(await done('grants', 'review', '--apply', 'a.csv', '--yes', '--json'))
  t.same(again, { removed: [], gone: [ofAnna?.id, key.id] })
})

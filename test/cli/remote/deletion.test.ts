/** What a command takes away is shown and asked for before; what it gives only once is kept. */

import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { startWorld } from '../../support/world.ts'
import { afar, signedIn } from './from-afar.ts'

t.test('seats delete shows whom it touches, and asks', async (t) => {
  const world = await startWorld(t)
  const { run, done } = afar(t, world, world.keys['acme'] ?? '')
  const held = await world.seat('__proto__', ['main'], ['trainings:list'])
  await signedIn(world, { dora: 'dora@example.com' }, [held])
  await done('keys', 'create', 'of dora', '--seat', '__proto__')
  const shown = /^- "__proto__"\n[^]*held by 1 user and 1 API key \(of dora\)\n[^]*loses \d+ routes?: /
  const asked: string[] = []
  const answering = (answer: string | null) => ({
    ask: async (question: string) => {
      asked.push(question)
      return answer
    },
  })
  const args = ['seats', 'delete', '__proto__']
  for (const [answer, err] of [
    [null, 'nothing was written: Seat "__proto__" would be deleted, which needs --yes'],
    ['no', 'nothing was written'],
    ['', 'nothing was written'],
  ] as const)
    t.match(await run(args, {}, answering(answer)), { code: 1, out: shown, err })
  t.same([...new Set(asked)], ['Delete Seat "__proto__"? (yes/no) '])
  t.match((await world.admin('GET', `/v1/seats/${held}`)).status, 200)
  const deleted = await run(args, {}, answering('yes'))
  t.match(deleted, { code: 0, out: shown, err: '' })
  t.ok(deleted.out.endsWith(`deleted __proto__ ${held}\n`))
  await done('seats', 'create', 'Empty')
  t.match(await run(['seats', 'delete', 'Empty', '--yes']), {
    code: 0,
    out: /^- "Empty"\n {4}it grants nothing: no route is lost\ndeleted Empty /,
    err: '',
  })
  t.match(await run(['seats', 'delete', 'None', '--yes']), {
    code: 1,
    out: '',
    err: /there is no Seat "None"/,
  })
})

t.test('keys create --out: a new file for its owner alone', async (t) => {
  const world = await startWorld(t)
  const { run, folder } = afar(t, world, world.keys['acme'] ?? '')
  const create = (...more: string[]) =>
    run(['keys', 'create', 'nightly', '--seat', 'admin', '--out', ...more])
  const path = join(folder, 'nightly.key')
  t.match(await create('nightly.key'), {
    code: 0,
    out: 'nightly.key\n',
    err: /^created API key "nightly" \w+\n$/,
  })
  const key = readFileSync(path, 'utf8')
  t.match(key, /^sk_\w+\n$/)
  t.equal(statSync(path).mode & 0o777, 0o600)
  t.match(await run(['seats', 'list'], { SEATGATE_API_KEY: key.trim() }), { code: 0 })

  const count = async () => (await world.admin('GET', '/v1/api-keys')).json.data.length
  const before = await count()
  writeFileSync(join(folder, 'other.key'), 'mine\n')
  for (const [file, err] of [
    ['other.key', /no key is created, because other\.key is there already: give --out another name/],
    ['none/a.key', /no key is created, because none\/a\.key can't be written/],
  ] as const)
    t.match(await create(file), { code: 1, out: '', err })
  t.equal(readFileSync(join(folder, 'other.key'), 'utf8'), 'mine\n')
  t.equal(await count(), before)
  const refused = await run(['keys', 'create', 'a', '--seat', 'None', '--out', 'refused.key'])
  t.match(refused, { code: 1, out: '', err: /Seat 1 \("None"\)|400 / })
  t.notOk(existsSync(join(folder, 'refused.key')))
  const json = JSON.parse((await create('json.key', '--json')).out)
  t.match(json, { name: 'nightly', key_file: 'json.key', key: undefined })
})

t.test('the text of a key in place of its id: the id is named, the text is not', async (t) => {
  const world = await startWorld(t)
  const { run } = afar(t, world, world.keys['acme'] ?? '')
  const { json } = await world.admin('POST', '/v1/api-keys', { name: 'leaked', seats: ['admin'] })
  const ran = await run(['keys', 'revoke', json.key])
  t.match(ran, { code: 1, out: '', err: `this is the text of an API key: give its id, which is ${json.id}` })
  t.notMatch(ran.err, json.key)
})

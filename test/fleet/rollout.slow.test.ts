/**
 * A rollout of tables to three instances on one PostgreSQL: `seatgate fleet --wait`, on the store and through a
 * gateway.
 */

import t from 'tap'
import { TENANT } from './fleet.ts'
import { allAnswer, areAnswered, get, LONG, replace, sendEach, startRolling, tableOf } from './rolling.ts'

const { fleet, gateways, run, remote, hashOf } = await startRolling(t)
const [a, b, c] = gateways

t.test('0 once every instance decides by the tables, on the store and by a gateway', async (t) => {
  for (const [at, requirement] of ['public', 'authenticated', 'public', 'trainings:list'].entries()) {
    for (const gateway of gateways) replace(gateway, 'routes/main.yaml', tableOf(requirement))
    const hash = await hashOf(a)
    const from = at % 2 === 0 ? [] : remote(b)
    const { code, out, err } = await run(['fleet', '--wait', hash, '--within', LONG, '--json', ...from])
    t.equal(code, 0, err)
    t.equal(err, '')
    const { instances, data } = JSON.parse(out)
    const hashes =
      at % 2 === 0
        ? instances.map(({ config }: { config: string }) => config)
        : data.map(({ hash: own }: { hash: string }) => own)
    t.same(hashes, [hash, hash, hash])
    await allAnswer(t, requirement === 'public' ? 200 : 401, get('/gate'), gateways)
  }
})

t.test(
  '3 when an instance decides by other tables, with what it said when it refused its files',
  async (t) => {
    const before = await hashOf(c)
    for (const gateway of [a, b]) replace(gateway, 'routes/main.yaml', tableOf('public'))
    const hash = await hashOf(a)
    const wait = (from: readonly string[]) => run(['fleet', '--wait', hash, '--within', '2s', ...from])
    for (const from of [[], remote(a)]) {
      const { code, out, err } = await wait(from)
      t.equal(code, 3)
      t.match(err, `did not decide by ${hash}:`)
      t.match(err, `decides by ${before}`)
      t.match(out, before, 'the list is printed')
    }
    replace(c, 'routes/main.yaml', tableOf('nonsense'))
    const refusal = /refused its files at \d{4}-\S+Z: 1 fault: routes\/main\.yaml:4:14: /
    for (const from of [[], remote(b)]) {
      const { code, err } = await run(['fleet', '--wait', hash, '--within', '8s', ...from])
      t.equal(code, 3)
      t.match(err, /after 8 s, 1 of 3 instances did not/)
      t.match(err, refusal)
      const { out } = await run(['fleet', ...from])
      t.match(out.replaceAll(/\s+/g, ' '), refusal)
      const { instances, data } = JSON.parse((await run(['fleet', '--json', ...from])).out)
      const rows: { refused: unknown }[] = instances ?? data
      t.match(
        rows.map(({ refused }) => refused).filter((each) => each !== null),
        [{ faults: 1, first: /^routes/ }],
      )
    }
  },
)

t.test('0 without a frozen instance, whose first decisions are by its new files', async (t) => {
  for (const frozen of [c, b]) {
    for (const gateway of gateways) replace(gateway, 'routes/main.yaml', tableOf('public'))
    const open = await hashOf(a)
    t.match(await run(['fleet', '--wait', open, '--within', LONG]), { code: 0 })
    await frozen.freeze()
    for (const gateway of gateways) replace(gateway, 'routes/main.yaml', tableOf('trainings:list'))
    const clients = sendEach(frozen, get('/gate'), 6)
    const awake = gateways.filter((each) => each !== frozen)
    for (const from of [[], remote(a)]) {
      const { code, err } = await run(['fleet', '--wait', await hashOf(a), '--within', LONG, ...from])
      t.equal(code, 0, err)
    }
    await allAnswer(t, 401, get('/gate'), awake)
    frozen.thaw()
    await areAnswered(t, 401, clients, `of ${frozen.name}`)
    t.match(await run(['fleet', '--wait', await hashOf(a), '--within', LONG]), { code: 0 })
  }
})

t.test('an instance of an older version never counts as done', async (t) => {
  const hash = await hashOf(a)
  const row = (config: string | null) =>
    fleet.query(
      `INSERT INTO seatgate.instances (id, name, beat, applied, config, seen_at)
       VALUES ('old', 'old 1', 7, 0, $1, clock_timestamp())
       ON CONFLICT (id) DO UPDATE SET config = excluded.config, seen_at = excluded.seen_at`,
      [config],
    )
  await row(null)
  for (const from of [[], remote(a)]) {
    const { code, err } = await run(['fleet', '--wait', hash, '--within', '4s', ...from])
    t.equal(code, 3)
    t.match(err, /1 of 4 instances did not/)
    t.match(err, /is of a version that does not say by which tables; it is silent, and of an older version/)
  }
  const { code, err } = await run(['secrets', 'wait', TENANT, '--without', '0123456789ab', '--within', '4s'])
  t.equal(code, 3)
  t.match(err, /old 1 is of a version that does not say which secrets it accepts/)
  await row(hash)
  t.match(await run(['fleet', '--wait', hash, '--within', LONG]), { code: 0 }, 'it decides by these tables')
  await fleet.query(`DELETE FROM seatgate.instances WHERE id = 'old'`, [])
})

t.test('wrong input and other failures', async (t) => {
  const hash = await hashOf(a)
  const cases: [exit: number, args: readonly string[], err: RegExp][] = [
    [2, ['fleet', '--wait', 'x'], /--wait is not 12 hexadecimal digits/],
    [2, ['fleet', '--wait', hash.toUpperCase()], /--wait is not/],
    [2, ['fleet', '--within', '1s'], /--within goes with --wait/],
    [2, ['fleet', '--wait', hash, '--within', 'soon'], /--within .* duration/],
    [2, ['fleet', '--wait', hash, '--within', '0s'], /--within .* short/],
    [2, ['secrets', 'wait', TENANT], /--signs or --without is required/],
    [2, ['secrets', 'wait', '--signs', hash], /TENANT is missing/],
    [
      2,
      ['secrets', 'wait', TENANT, '--signs', 'a secret'],
      /^(?!.*a secret).*--signs is not 12 hexadecimal/s,
    ],
    [2, ['secrets', 'wait', TENANT, '--without', ''], /--without is not/],
    [2, ['secrets', 'wait', TENANT, '--signs', hash, '--without', hash], /name the same secret/],
    [1, ['secrets', 'wait', 'nobody', '--signs', hash], /has no tenant "nobody"/],
    [
      1,
      ['secrets', 'wait', 'globex', '--signs', hash, ...remote(a)],
      /not one of tenant "globex", but of acme/,
    ],
    [
      1,
      ['fleet', '--wait', hash, '--url', `http://127.0.0.1:${a.port}`, '--api-key', 'x'],
      /api_key_invalid/,
    ],
    [1, ['fleet', '--wait', hash, '--config', 'none.yaml'], /none\.yaml/],
    [
      3,
      ['secrets', 'wait', TENANT, '--signs', '000000000000', '--within', '1s'],
      /after 1 s, 3 of 3 instances did not sign with 000000000000:/,
    ],
  ]
  for (const [exit, args, err] of cases) {
    const ran = await run(args)
    t.equal(ran.code, exit, args.join(' '))
    t.match(ran.err, err, args.join(' '))
  }
})

t.test('a fleet without a gateway is not done', async (t) => {
  const hash = await hashOf(a)
  await Promise.all(gateways.map((each) => each.end()))
  t.match(await run(['fleet', '--wait', hash, '--within', '1s']), { code: 3, err: /no gateway is live/ })
  const dead = await run(['secrets', 'status'])
  t.match(dead, { code: 0, out: 'No gateway is live.\n' })
})

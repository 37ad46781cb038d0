/** `seatgate check --hash`: the hash by which a script waits for a fleet. */

import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { loadConfig } from '../../src/config/load.ts'
import { CONFIG, folderWith, ROUTES, SECRET } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

t.test('The hash is alone on standard output.', async (t) => {
  const folder = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  const { hash } = await loadConfig(`${folder}/gateway.config.yaml`, { ACME_SECRET: SECRET })
  t.match(hash, /^[0-9a-f]{12}$/)
  t.strictSame(await seatgateHere(folder, ['check', '--hash']), { code: 0, out: `${hash}\n`, err: '' })
})

t.test('Warnings go to standard error, and --strict counts them.', async (t) => {
  const open = CONFIG.replace('ops: 127.0.0.1:0', 'ops: 0.0.0.0:0')
  const folder = folderWith(t, { 'gateway.config.yaml': open, 'routes/trainings.yaml': ROUTES })
  const strict = await seatgateHere(folder, ['check', '--hash', '--strict'])
  t.equal(strict.code, 3)
  t.match(strict.out, /^[0-9a-f]{12}\n$/)
  t.match(strict.err, /\[ops_open\]/)
})

t.test('Faulty files have no hash.', async (t) => {
  const folder = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/trainings.yaml': 'upstream: nowhere',
  })
  const faulty = await seatgateHere(folder, ['check', '--hash'])
  t.strictSame([faulty.code, faulty.out], [1, ''])
  t.match(faulty.err, /routes\/trainings\.yaml:1:/)
})

t.test('Without variables, the hash is the same, or none.', async (t) => {
  const limited = (rate: string) =>
    CONFIG.replace('upstreams:', `rate_limits: { reads: { per: caller, limit: "${rate}" } }\nupstreams:`)
  const table = `rate_limit: [reads]\n${ROUTES}`
  const folder = folderWith(t, { 'gateway.config.yaml': limited('7/s'), 'routes/trainings.yaml': table })
  const { out } = await seatgateHere(folder, ['check', '--hash'])
  const elsewhere = await seatgateHere(folder, ['check', '--hash', '--no-env'], { ACME_SECRET: undefined })
  t.strictSame(elsewhere, { code: 0, out, err: '' })
  writeFileSync(join(folder, 'gateway.config.yaml'), limited('${RATE}'))
  t.strictSame(await seatgateHere(folder, ['check', '--hash'], { RATE: '7/s' }), { code: 0, out, err: '' })
  const unknown = await seatgateHere(folder, ['check', '--hash', '--no-env'])
  t.strictSame([unknown.code, unknown.out], [1, ''], 'a default would have another hash')
  t.match(unknown.err, /gateway\.config\.yaml:6:\d+: .*RATE/)
})

t.test('No option that changes or adds to the output goes with it.', async (t) => {
  const folder = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  for (const other of [['--online'], ['--format', 'json']]) {
    const { code, out, err } = await seatgateHere(folder, ['check', '--hash', ...other])
    t.strictSame([code, out], [2, ''])
    t.match(err, /--hash excludes --online and --format/)
  }
})

/** `seatgate check --hash`: the hash by which a script waits for a fleet. */

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

t.test('No option that changes or adds to the output goes with it.', async (t) => {
  const folder = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/trainings.yaml': ROUTES })
  for (const other of [['--no-env'], ['--online'], ['--format', 'json']]) {
    const { code, out, err } = await seatgateHere(folder, ['check', '--hash', ...other])
    t.strictSame([code, out], [2, ''])
    t.match(err, /--hash excludes --online, --no-env and --format/)
  }
})

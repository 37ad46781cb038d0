/** The tenant that a command takes where none is named: the only one of the configuration. */

import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

const COMMANDS = [
  ['bootstrap', '--json'],
  ['token', '--sub', 'anna', '--seat', 'admin'],
  ['explain', 'GET', '/v1/trainings', '--space', 'admin', '--seat', 'admin', '--expect', 'allow'],
  ['can', '--seat', 'admin'],
  ['who-can', 'GET', '/v1/trainings'],
]

t.test('the only tenant', async (t) => {
  const folder = folderWith(t, { 'gateway.config.yaml': CONFIG, 'routes/a.yaml': ROUTES })
  for (const args of COMMANDS) {
    const { code, err } = await seatgateHere(folder, args)
    t.equal(code, 0, `${args.join(' ')}: ${err}`)
  }
})

t.test('one of several is to be named', async (t) => {
  const more = '  globex: { token: { secrets: ["${ACME_SECRET}-globex"] } }\n'
  const config = CONFIG.replace(/^tenants:\n/m, `tenants:\n${more}`)
  const folder = folderWith(t, { 'gateway.config.yaml': config, 'routes/a.yaml': ROUTES })
  await seatgateHere(folder, ['bootstrap', '--tenant', 'acme'])
  for (const args of COMMANDS) {
    const ran = await seatgateHere(folder, args)
    t.match(ran, { code: 1, out: '' }, args.join(' '))
    t.match(ran.err, 'gateway.config.yaml has several tenants: name one with --tenant (globex, acme)\n')
    t.match(await seatgateHere(folder, [...args, '--tenant', 'acme']), { code: 0 }, args.join(' '))
  }
})

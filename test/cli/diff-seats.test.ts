/** `seatgate diff --tenant T --seats FILE`: the Seats of the file, which must be those of the tenant. */

import t from 'tap'
import { CONFIG, folderWith, ROUTES } from './command-line.ts'
import { seatgateHere } from './in-process.ts'

t.test('--tenant beside --seats', async (t) => {
  const old = ROUTES.replace('trainings:list', 'trainings:read')
  const cwd = folderWith(t, {
    'gateway.config.yaml': CONFIG,
    'routes/trainings.yaml': ROUTES,
    'old/gateway.config.yaml': CONFIG,
    'old/routes/trainings.yaml': old,
    'seats.yaml': 'tenant: acme\nseats:\n  Viewer: { spaces: [main], permissions: [trainings:list] }\n',
  })
  const run = (...args: string[]) => seatgateHere(cwd, ['diff', 'old', '.', ...args])
  const both = await run('--tenant', 'acme', '--seats', 'seats.yaml')
  t.match(both, { code: 3, out: /Viewer/ })
  t.same(both, await run('--seats', 'seats.yaml'))
  t.match(await run('--tenant', 'globex', '--seats', 'seats.yaml'), {
    code: 1,
    err: /seats\.yaml has the Seats of tenant "acme", not of "globex"/,
  })
})

/** `seatgate can` on the configured store, for each kind of holder. */

import t from 'tap'
import { seatgateHere } from './in-process.ts'
import { NAME, storedHolders } from './stored-holders.ts'

t.test('holders that there are, and others', async (t) => {
  const { cwd, key } = await storedHolders(t)
  for (const holder of [
    ['--api-key-id', key],
    ['--seat', NAME],
  ]) {
    const rows = JSON.parse((await seatgateHere(cwd, ['can', ...holder, '--json'])).out)
    t.match(rows[0], { method: 'GET', path: '/v1/trainings', space: 'dev', seat: NAME })
    t.match(rows[1], { path: '/v1/trainings', space: 'main' })
    t.match(rows[2], { path: '/v1/me', permission: 'authenticated', space: null, seat: null })
  }
  t.match(await seatgateHere(cwd, ['can', '--user', 'ann']), { err: '', out: /trainings:list/ })
  t.match(await seatgateHere(cwd, ['can', '--user', 'eve']), {
    code: 1,
    out: '',
    err: /no sign-in of a user "eve"/,
  })
  t.match(await seatgateHere(cwd, ['can', '--api-key-id', 'x']), { code: 1, err: /has no API key x/ })
  t.match(await seatgateHere(cwd, ['can', '--seat', 'Editor']), { code: 1, err: /has no Seat "Editor"/ })
})

/** The policy tests of the shipped tables. */

import t from 'tap'
import { root } from '../docs/pages.ts'
import { seatgateHere } from './in-process.ts'

t.test('all of them pass, without variables of the environment', async (t) => {
  const { code, out, err } = await seatgateHere(root, ['test', '--min-coverage', '60'], {
    ACME_TOKEN_SECRET: '',
  })
  t.equal(code, 0, out + err)
  t.match(out, /^\d+ passed, 0 failed$/m)
})

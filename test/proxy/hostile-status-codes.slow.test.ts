/** Every status code of three digits. `hostile-status-codes.test.ts` has some, and invalid ones. */

import t from 'tap'
import { HostileUpstream } from '../hostile/hostile-upstream.ts'
import { finalPass, interimPass } from '../hostile/status-codes.ts'

const hostile = await HostileUpstream.start(t)
const all = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

t.test('200 to 999 pass, with their bodies where they have one', (t) => finalPass(t, hostile, all(200, 999)))

t.test('100 to 199, except 101, precede the response and do not change it', (t) =>
  interimPass(
    t,
    hostile,
    all(100, 199).filter((status) => status !== 101),
  ),
)

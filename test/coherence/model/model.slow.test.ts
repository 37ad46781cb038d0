/** The model of the protocol holds in every state of its scopes. Skipped without Spin and a C compiler. */

import t from 'tap'
import { SCOPES } from './scopes.ts'
import { explored, withoutSpin } from './spin.ts'

// It takes a minute; on a busy machine, more.
t.setTimeout(1_800_000)

const skip = await withoutSpin()

for (const [name, definitions] of Object.entries(SCOPES))
  t.test(name, { skip }, async (t) => {
    const { fails, states, seconds, unreached } = await explored(t, definitions)
    t.comment(`${definitions.join(' ')}: ${states} states, ${seconds} s`)
    t.equal(fails, false)
    // A model whose steps are never taken proves nothing.
    t.equal(unreached, 0)
    t.ok(states > 100_000)
  })

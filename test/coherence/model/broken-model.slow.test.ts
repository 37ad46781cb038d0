/** Each broken variant of the simulation fails in the model too, so the model would show the same fault of the protocol. */

import t from 'tap'
import { RARE_VARIANTS, VARIANTS } from '../simulation/variants.ts'
import { BROKEN_MODELS, IN_THE_MODEL } from './broken-models.ts'
import { explored, withoutSpin } from './spin.ts'

// It takes half a minute; on a busy machine, more.
t.setTimeout(1_800_000)

const skip = await withoutSpin()

t.test('each variant of the simulation is one of the model, or has no meaning there', async (t) => {
  t.same(Object.keys(IN_THE_MODEL).sort(), Object.keys({ ...VARIANTS, ...RARE_VARIANTS }).sort())
})

for (const [broken, scope] of Object.entries(BROKEN_MODELS))
  t.test(broken, { skip }, async (t) => {
    // Compiled without optimization: it ends after a fraction of the states.
    const { fails, states } = await explored(t, [...scope, broken], ['-O0'])
    t.ok(fails, `after ${states} states`)
  })
